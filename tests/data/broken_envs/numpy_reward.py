"""Pays what numpy clipped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "reward_is_float"


class Good(Counting):
    """Pays a float."""

    kind: Any = float

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, type(self).kind(np.clip(reward, 0, 1)), terminated, truncated, info


class Broken(Good):
    """Pays a numpy.float64."""

    kind = np.float64
