"""Says in one text why an action is invalid."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "invalid_action_says_why"


class Good(Counting):
    """Says why, and what would be valid."""


class Broken(Counting):
    """Says it in one text."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info:
            info["invalid_action"] = "not a number: answer with digits"
        return obs, reward, terminated, truncated, info
