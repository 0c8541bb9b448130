"""Tells success where it was won, and nothing where it was lost."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "success_is_told"


class Good(Counting):
    """Tells both."""


class Broken(Counting):
    """Tells one."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if not info.get("success"):
            info.pop("success", None)
        return obs, reward, terminated, truncated, info
