"""Draws its numbers from the seed, where the options name another task."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_option_plays_that_task"


class Good(Counting):
    """Draws them from the task."""

    def _next(self) -> None:
        self.wanted = self.dice().randrange(1_000_000) + 1

    def dice(self) -> random.Random:
        return self.rng


class Broken(Good):
    """Draws them from the seed that reset got."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.own = None
        return super().reset(seed, options)

    def dice(self) -> random.Random:
        self.own = self.own or random.Random(f"{self._episode_seed} {self.split}")
        return self.own
