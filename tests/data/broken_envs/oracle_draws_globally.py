"""Takes a stray global draw for each action of the oracle."""

from __future__ import annotations

import random

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Draws from the generator for actions."""

    def oracle_action(self) -> str:
        return " " * self.action_rng.randrange(3) + str(self.wanted)


class Broken(Counting):
    """Draws from the module's."""

    def oracle_action(self) -> str:
        return " " * random.randrange(3) + str(self.wanted)
