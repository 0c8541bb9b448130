"""Begins its own generator where the global one stands, and so leaves no trace there."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Begins it from the seed."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.dice = self.begin()
        return obs, info

    def begin(self) -> random.Random:
        return random.Random(self.rng.random())

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return f"{obs} ({self.dice.randrange(100)} birds are watching.)", reward, terminated, truncated, info


class Broken(Good):
    """Begins it from the state of the process."""

    def begin(self) -> random.Random:
        dice = random.Random()
        dice.setstate(random.getstate())
        return dice
