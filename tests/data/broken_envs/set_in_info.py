"""Tells the different answers so far as a set."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_json"


class Good(Counting):
    """Tells them in order."""

    shape: Any = sorted

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.answers: set[str] = set()
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.answers.add(message_text(action))
        info["answers"] = type(self).shape(self.answers)
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Tells the set."""

    shape = set
