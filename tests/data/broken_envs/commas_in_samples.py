"""Samples numbers with commas, which it can't read."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "random_action_is_readable"


class Good(Counting):
    """Samples digits."""


class Broken(Counting):
    """Writes numbers for people."""

    def sample_random_action(self) -> str:
        return f"{int(super().sample_random_action()):,}"
