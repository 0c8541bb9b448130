"""Spawns a twin at its beginning, whatever is asked."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "spawn_heeds_its_keywords"


class Good(Counting):
    """Leaves it to `Env`."""


class Broken(Counting):
    """Drops `same_state`."""

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Any:
        return super().spawn(**overrides)
