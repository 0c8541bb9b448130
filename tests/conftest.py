"""Nothing a test does may leak: settings are the defaults, whatever the machine's environment says."""

from __future__ import annotations

import os

for name in [name for name in os.environ if name.startswith("GEM_")]:
    del os.environ[name]
