"""Spawns itself."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "spawn_gives_an_equal_twin"


class Good(Counting):
    """Spawns another."""


class Broken(Counting):
    """Saves the making of a second one."""

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Any:
        return self
