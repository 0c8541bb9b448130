"""Resets itself to show what a task holds."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "looking_changes_nothing"


class Good(Counting):
    """Asks a twin."""


class Broken(Counting):
    """Loses the episode that is played."""

    def task_content(self, key: str) -> Any:
        prompt, _ = self.reset(options={"task": key})
        return {"prompt": prompt, "gold": self.gold(), "parameters": {}}
