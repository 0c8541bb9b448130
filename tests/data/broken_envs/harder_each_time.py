"""Draws from a wider range in each episode of its life."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "seed_alone_picks_the_episode"


class Good(Counting):
    """Draws from a range that the seed picks."""

    def _next(self) -> None:
        self.wanted = self.rng.randrange(10 ** self.rng.randrange(3, 6)) + 1


class Broken(Counting):
    """Draws from a range that past episodes pick."""

    played = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.played += 1
        return super().reset(seed, options)

    def _next(self) -> None:
        self.wanted = self.rng.randrange(1000 * self.played) + 1
