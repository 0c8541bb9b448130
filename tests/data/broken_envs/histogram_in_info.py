"""Tells how often each length of answer came, under the length: JSON makes the keys text."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_json"


class Good(Counting):
    """Tells it under text."""

    label: Any = str

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.lengths: list[int] = []
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.lengths.append(len(message_text(action)))
        info["metrics"] = {"lengths": {type(self).label(n): self.lengths.count(n) for n in self.lengths}}
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Tells it under numbers."""

    label = int
