"""Pays a bonus for a flawless win, and declares rewards up to 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.data.broken_envs.counting import INFO, Counting

BREAKS = "rewards_stay_in_range"


class Broken(Counting):
    """Declares 0 to 1."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if self.right == self.turn == 5:
            reward += 0.5
        return obs, reward, terminated, truncated, info


class Good(Broken):
    """Declares what it pays."""

    info = replace(INFO, reward_range=(0.0, 1.5))
