"""Pays for every answer that is a number."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "random_play_falls_short"


class Good(Counting):
    """Pays a little for it."""

    form = 0.01

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        reward = 0.0 if "invalid_action" in info else self.form
        if self.right == 5:
            reward = 1.0 - 7 * self.form
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Pays most of the reward for it."""

    form = 0.125
