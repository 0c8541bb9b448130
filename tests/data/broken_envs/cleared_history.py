"""Tells its list at the end of the episode, and clears it in the next reset."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_fresh"


class Good(Counting):
    """Makes a new list."""

    def __init__(self) -> None:
        super().__init__()
        self.history: list[float] = []

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.forget()
        return super().reset(seed, options)

    def forget(self) -> None:
        self.history = []

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.history.append(reward)
        if terminated:
            info["history"] = self.history
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Clears the list that a caller holds."""

    def forget(self) -> None:
        self.history.clear()
