"""Tells the seconds since the reset, under a name of its own."""

from __future__ import annotations

import time
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_seed_same_episode"


class Good(Counting):
    """Tells the turns."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["metrics"] = {"elapsed_turns": self.turn}
        return obs, reward, terminated, truncated, info


class Broken(Counting):
    """Tells what differs in each run."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.began = time.perf_counter()
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["metrics"] = {"elapsed_s": time.perf_counter() - self.began}
        return obs, reward, terminated, truncated, info
