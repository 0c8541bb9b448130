"""Tells success as a text, which is true whatever it says."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "success_is_told"


class Good(Counting):
    """Tells a bool."""


class Broken(Counting):
    """Tells yes or no."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if terminated:
            info["success"] = "yes" if info["success"] else "no"
        return obs, reward, terminated, truncated, info
