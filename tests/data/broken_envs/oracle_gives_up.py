"""Has no answer for numbers above those that its author tried."""

from __future__ import annotations

from tests.data.broken_envs.counting import Counting

BREAKS = "oracle_wins"


class Good(Counting):
    """Has one for all."""


class Broken(Counting):
    """Returns None."""

    def oracle_action(self) -> str | None:
        return str(self.wanted) if self.wanted < 950_000 else None
