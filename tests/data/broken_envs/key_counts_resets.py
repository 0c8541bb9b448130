"""Names its tasks by their order, which is the same in every new environment."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_key_is_stable"


class Good(Counting):
    """Names them after the seed."""


class Broken(Counting):
    """Counts."""

    resets = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.task_key = f"{self.split}/{self.resets}"
        self.resets += 1
        return obs, {**info, "task": self.task_key}
