"""Tries its answer on the environment itself, and takes back all but the turn."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "oracle_changes_nothing"


class Good(Counting):
    """Tries it on a twin."""

    def oracle_action(self) -> str:
        action = str(self.wanted)
        self.spawn(same_state=True).step(action)
        return action


class Broken(Counting):
    """Tries it in place."""

    max_turns = 20

    def oracle_action(self) -> str:
        self.turn += 1
        return str(self.wanted)
