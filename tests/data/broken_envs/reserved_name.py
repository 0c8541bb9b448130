"""Tells the reward in info too, under the name that trainers use for their own."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_avoids_reserved_names"


class Good(Counting):
    """Tells it as a metric."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["metrics"] = {"reward": reward}
        return obs, reward, terminated, truncated, info


class Broken(Counting):
    """Tells it beside what the trainer adds, when the episode is won."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if self.right == 5:
            info["reward"] = reward
        return obs, reward, terminated, truncated, info
