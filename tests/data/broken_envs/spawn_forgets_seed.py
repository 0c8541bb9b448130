"""Spawns by itself, and leaves out the seed of the twin's resets."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "spawn_heeds_its_keywords"


class Good(Counting):
    """Leaves it to `Env`."""


class Broken(Counting):
    """Builds the twin and forgets one keyword."""

    def spawn(self, *, same_state: bool = False, seed: int | None = None, **overrides: Any) -> Any:
        return super().spawn(same_state=same_state, **overrides)
