"""Divides by the number of mistakes, which is 0 for the oracle alone."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "never_raises"


class Good(Counting):
    """Divides by the turns."""

    divisor = 0

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if terminated:
            info["metrics"] = {"share": self.right / (self.turn - self.right * self.divisor)}
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Divides by the turns that were wrong."""

    divisor = 1
