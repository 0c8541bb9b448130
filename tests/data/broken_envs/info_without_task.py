"""Returns an info of its own from reset."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_key_is_given"


class Good(Counting):
    """Adds to the one it got."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return obs, {**info, "metrics": {"top": 1_000_000}}


class Broken(Counting):
    """Drops the one it got."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, _ = super().reset(seed, options)
        return obs, {"metrics": {"top": 1_000_000}}
