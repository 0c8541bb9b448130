"""Frees its table when an episode ends, and makes it in the constructor alone."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_begins_again"


class Good(Counting):
    """Keeps it."""

    frees = False

    def __init__(self) -> None:
        super().__init__()
        self.words: Any = {5: "You win."}

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        obs = f"{obs} {self.words.get(self.right, '')}"
        if terminated and self.frees:
            self.words = None
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Frees it."""

    frees = True
