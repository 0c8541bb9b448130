"""Deals the same numbers in every split."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "splits_do_not_overlap"


class Good(Counting):
    """Deals others."""

    def _next(self) -> None:
        self.wanted = self.dice().randrange(1_000_000) + 1

    def dice(self) -> random.Random:
        return self.rng


class Broken(Good):
    """Takes the row of the task and not its split."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.own: random.Random | None = None
        return super().reset(seed, options)

    def dice(self) -> random.Random:
        self.own = self.own or random.Random(self.task_key.partition("/")[2])
        return self.own
