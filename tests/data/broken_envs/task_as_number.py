"""Tells the number of the task, not its key."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_key_is_given"


class Good(Counting):
    """Tells the key."""


class Broken(Counting):
    """Tells what stands after the slash."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return obs, {**info, "task": int(info["task"].split("/")[1])}
