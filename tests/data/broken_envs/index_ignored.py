"""Knows the option `task`, and not `index`."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_option_plays_that_task"


class Good(Counting):
    """Leaves both to `Env`."""


class Broken(Counting):
    """Hands one on."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        key = (options or {}).get("task")
        return super().reset(seed, {"task": key} if key is not None else None)
