"""Tells the share of right answers among the readable ones, which is NaN where none was."""

from __future__ import annotations

import math
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_json"


class Good(Counting):
    """Tells nothing where there is nothing to divide."""

    nothing: float | None = None

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.readable = 0
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.readable += "invalid_action" not in info
        info["metrics"] = {"accuracy": self.right / self.readable if self.readable else self.nothing}
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Tells NaN."""

    nothing = math.nan
