"""Clears its turn counter when an episode ends: one that was left keeps counting."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "seed_alone_picks_the_episode"


class Good(Counting):
    """Clears it in reset."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.lives = 8
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.lives -= 1
        return f"{obs} You have {self.lives} lives.", reward, terminated, truncated, info


class Broken(Counting):
    """Clears it in the step that ends."""

    lives = 8

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.lives = 8 if terminated else self.lives - 1
        return f"{obs} You have {self.lives} lives.", reward, terminated, truncated, info
