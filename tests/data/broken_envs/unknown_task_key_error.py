"""Looks up the number of a task in a table, and raises KeyError."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "unknown_task_is_refused"


class Good(Counting):
    """Leaves keys to `Env`."""


class Broken(Counting):
    """Looks up what stands after the slash."""

    def _task_of(self, options: Any) -> Any:
        if options.get("task") is None:
            return super()._task_of(options)
        split, _, row = str(options["task"]).partition("/")
        return {"train": "train", "test": "test"}[split], int(row)
