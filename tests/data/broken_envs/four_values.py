"""Returns old gym's four values, but only for text that it cannot read."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "step_returns_five"


class Good(Counting):
    """Returns five in any case."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info:
            return "Digits, please.", 0.0, terminated, truncated, info
        return obs, reward, terminated, truncated, info


class Broken(Counting):
    """Returns four from the branch that random play never takes."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info:
            return "Digits, please.", 0.0, terminated, info
        return obs, reward, terminated, truncated, info
