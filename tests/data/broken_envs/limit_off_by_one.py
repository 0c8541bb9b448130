"""Compares its turn limit with `>` after the turn."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "turn_limit_holds"


class Good(Counting):
    """Ends at its limit."""


class Broken(Counting):
    """Ends one later."""

    def step(self, action: Any) -> Any:
        self.max_turns += 1
        try:
            return super().step(action)
        finally:
            self.max_turns -= 1
