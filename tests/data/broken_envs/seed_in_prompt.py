"""Shows the seed in the prompt, and can't where there is none."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "never_raises"


class Good(Counting):
    """Shows the key of the task."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"Puzzle {self.task_key}. {obs}", info


class Broken(Counting):
    """Formats None as a number."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"Puzzle {seed:06d}. {obs}", info
