"""Puts spaces before the oracle's answer, as many as the generator of the numbers says."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "oracle_changes_nothing"


class Good(Counting):
    """Asks the generator for actions."""

    def oracle_action(self) -> str:
        return " " * self.action_rng.randrange(3) + str(self.wanted)


class Broken(Counting):
    """Moves the episode on."""

    def oracle_action(self) -> str:
        return " " * self.rng.randrange(3) + str(self.wanted)
