"""Pays whether the last answer won."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reward_is_float"


class Good(Counting):
    """Pays 1.0 or 0.0."""

    kind: Any = float

    def step(self, action: Any) -> Any:
        obs, _, *rest = super().step(action)
        return obs, type(self).kind(self.right == 5), *rest


class Broken(Good):
    """Pays True or False."""

    kind = bool
