"""Samples numbers, though its actions are text."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "actions_are_text"


class Good(Counting):
    """Reads numbers too, and samples text."""

    def step(self, action: Any) -> Any:
        return super().step(str(action) if isinstance(action, int) else action)


class Broken(Good):
    """Samples what only a bare environment takes."""

    def sample_random_action(self) -> Any:
        return int(super().sample_random_action())
