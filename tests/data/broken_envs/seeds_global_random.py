"""Seeds the global generator from the episode's seed, and draws from it."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Draws from its own generator."""


class Broken(Counting):
    """Seeds Python's in every reset, so that every episode repeats."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        random.seed(self._content_seed)
        return obs, info
