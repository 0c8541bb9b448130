"""Tells the answers that it takes with a list that belongs to the class."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "results_are_the_callers"


class Good(Counting):
    """Tells a tuple."""

    takes: Any = ("digits", "nothing else")

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["takes"] = self.takes
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Tells a list that anyone can change for all."""

    takes = ["digits", "nothing else"]
