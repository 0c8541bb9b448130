"""Raises the level after a win, so that a seed gives another task."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "seed_alone_picks_the_episode"


class Good(Counting):
    """Plays what the seed says."""


class Broken(Counting):
    """Gets harder."""

    level = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"{obs} Level {self.level}.", info

    def step(self, action: Any) -> Any:
        result = super().step(action)
        self.level += self.right == 5
        return result
