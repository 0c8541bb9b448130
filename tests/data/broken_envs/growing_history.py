"""Keeps a list in every info and appends to it."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_fresh"


class Good(Counting):
    """Returns a copy."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.history: list[float] = []
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.history.append(reward)
        info["history"] = self.told()
        return obs, reward, terminated, truncated, info

    def told(self) -> list[float]:
        return list(self.history)


class Broken(Good):
    """Returns the list itself."""

    def told(self) -> list[float]:
        return self.history
