"""Draws from the global generator."""

from __future__ import annotations

import random

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Draws from its own."""


class Broken(Counting):
    """Calls a function of the module."""

    def _next(self) -> None:
        self.wanted = random.randrange(1_000_000) + 1
