"""Tells a key of its own in info, and leaves `task_key` as it was."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_key_is_given"


class Good(Counting):
    """Sets both."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.task_key = info["task"]
        return obs, info


class Broken(Counting):
    """Sets one, after a data set of 1,000 rows."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        split, row = info["task"].split("/")
        return obs, {**info, "task": f"{split}/{int(row) % 1000 + 1}"}
