"""Takes the task out of the options that its caller will use again."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "options_are_left_alone"


class Good(Counting):
    """Takes it out of a copy."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        options = dict(options or {})
        key = options.pop("task", None)
        return super().reset(seed, {**options, "task": key})


class Broken(Counting):
    """Takes it out of the caller's."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        options = options if options is not None else {}
        key = options.pop("task", None)
        return super().reset(seed, {**options, "task": key})
