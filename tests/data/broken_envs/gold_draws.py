"""Draws a right answer from the generator of the numbers when it is asked for the gold."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "looking_changes_nothing"


class Good(Counting):
    """Tells one without a draw."""

    def gold(self) -> Any:
        return str(self.wanted)


class Broken(Counting):
    """Draws how it is written."""

    def gold(self) -> Any:
        return self.rng.choice((str(self.wanted), f"{self.wanted:d}"))
