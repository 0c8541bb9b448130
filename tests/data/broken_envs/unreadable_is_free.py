"""Gives the turn back for an answer that it can't read: nothing ends such an episode."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "turn_limit_holds"


class Good(Counting):
    """Counts every answer."""


class Broken(Counting):
    """Counts what it can read."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info and not terminated:
            self.turn -= 1
        return obs, reward, terminated, truncated, info
