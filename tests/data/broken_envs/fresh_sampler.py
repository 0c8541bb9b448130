"""Makes a new generator for each random action, seeded by the operating system."""

from __future__ import annotations

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "random_action_is_repeatable"


class Good(Counting):
    """Uses the generator that is there for it."""


class Broken(Counting):
    """Uses a new one."""

    def sample_random_action(self) -> str:
        return str(np.random.default_rng().integers(1, 1_000_001))
