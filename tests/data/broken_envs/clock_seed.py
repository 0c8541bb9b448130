"""Takes the clock where no seed is given: the seed of `make` is lost."""

from __future__ import annotations

import time
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "unseeded_resets_follow_the_stream"


class Good(Counting):
    """Passes the None on."""


class Broken(Counting):
    """Asks the clock."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(time.time_ns() if seed is None else seed, options)
