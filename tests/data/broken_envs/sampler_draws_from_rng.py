"""Samples actions from the generator that makes the numbers."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "random_action_changes_nothing"


class Good(Counting):
    """Samples from the other one."""


class Broken(Counting):
    """Moves the episode on."""

    def sample_random_action(self) -> str:
        return str(self.rng.randrange(1, 1_000_001))
