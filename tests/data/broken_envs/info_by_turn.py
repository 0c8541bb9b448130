"""Files what it tells under the number of the turn."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_dict"


class Good(Counting):
    """Files it under a name."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["last"] = {"turn": self.turn, "reward": reward}
        return obs, reward, terminated, truncated, info


class Broken(Counting):
    """Files it under a number."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info[self.turn] = {"reward": reward}
        return obs, reward, terminated, truncated, info
