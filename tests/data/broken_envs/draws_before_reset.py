"""Draws from `rng` before `super().reset` has begun it anew."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "seed_alone_picks_the_episode"


class Good(Counting):
    """Draws after."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"{obs} ({self.rng.randrange(100)} birds are watching.)", info


class Broken(Counting):
    """Draws from what the last episode left."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        birds = self.rng.randrange(100)
        obs, info = super().reset(seed, options)
        return f"{obs} ({birds} birds are watching.)", info
