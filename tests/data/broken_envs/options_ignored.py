"""Does not hand its options on."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_option_plays_that_task"


class Good(Counting):
    """Hands them on."""


class Broken(Counting):
    """Hands on the seed."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed)
