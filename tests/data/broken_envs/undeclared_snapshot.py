"""Takes snapshots and does not declare them."""

from __future__ import annotations

from gem.specs import EnvInfo
from tests.data.broken_envs.counting import Counting

BREAKS = "undeclared_snapshot_is_refused"


class Good(Counting):
    """Declares them."""


class Broken(Counting):
    """Keeps the default of `EnvInfo`."""

    info = EnvInfo(oracle="actions", split="content")
