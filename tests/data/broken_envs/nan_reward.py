"""Pays the share of readable answers that were right, as numpy divides it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "reward_is_finite"


class Good(Counting):
    """Pays nothing where nothing was readable."""

    least = 1

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.readable = 0
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, _, terminated, truncated, info = super().step(action)
        self.readable += "invalid_action" not in info
        with np.errstate(invalid="ignore"):
            share = float(np.divide(self.right, max(self.readable, self.least)))
        return obs, share if terminated else 0.0, terminated, truncated, info


class Broken(Good):
    """Pays 0/0."""

    least = 0
