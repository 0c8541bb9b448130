"""Adds one to the last digit alone in its oracle: one seed in ten is lost."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "oracle_wins"


class Good(Counting):
    """Shows numbers that end as the task's row does."""

    def _next(self) -> None:
        split, row = self.task_key.split("/")
        self.wanted = int(row) % 1000 + 10 * self.turn + (5000 if split == "test" else 0) + 1


class Broken(Good):
    """Answers 20 after 29."""

    def oracle_action(self) -> str:
        shown = str(self.wanted - 1)
        return shown[:-1] + str((int(shown[-1]) + 1) % 10)
