"""Tells success of every episode that comes to its end."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "success_is_told"


class Good(Counting):
    """Tells it of those that were won."""


class Broken(Counting):
    """Takes the end for the goal."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if terminated:
            info["success"] = True
        return obs, reward, terminated, truncated, info
