"""Returns one info dict for the whole episode, and changes it."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "info_is_fresh"


class Good(Counting):
    """Returns a fresh dict each time."""


class Broken(Counting):
    """Keeps one dict."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, self.info = super().reset(seed, options)
        return obs, self.info

    def step(self, action: str) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.info.update(info)
        return obs, reward, terminated, truncated, self.info
