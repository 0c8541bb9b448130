"""Tells numpy's mean of the rewards, which json takes for a float and the checks of `make` do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_json"


class Good(Counting):
    """Tells a float."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rewards: list[float] = []
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.rewards.append(reward)
        info["metrics"] = {"mean": self.mean()}
        return obs, reward, terminated, truncated, info

    def mean(self) -> Any:
        return float(np.mean(self.rewards))


class Broken(Good):
    """Tells a numpy.float64."""

    def mean(self) -> Any:
        return np.mean(self.rewards)
