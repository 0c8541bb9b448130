"""Pays 1 for the last answer, and floats for the others."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reward_is_float"


class Good(Counting):
    """Pays 1.0."""

    win: float = 1.0

    def step(self, action: Any) -> Any:
        obs, _, *rest = super().step(action)
        return obs, self.win if self.right == 5 else 0.0, *rest


class Broken(Good):
    """Pays an int, which random play never earns."""

    win = 1
