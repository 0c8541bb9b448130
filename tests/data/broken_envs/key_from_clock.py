"""Names its tasks after the time."""

from __future__ import annotations

import time
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_key_is_stable"


class Good(Counting):
    """Names them after the seed."""


class Broken(Counting):
    """Gives each episode a new name."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.task_key = f"{self.split}/{time.time_ns()}"
        return obs, {**info, "task": self.task_key}
