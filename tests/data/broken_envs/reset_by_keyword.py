"""Has gymnasium's keyword-only reset."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_takes_seed_and_options"


class Good(Counting):
    """Takes both by position too, and more."""

    def reset(self, seed: int | None = None, options: Any = None, **more: Any) -> Any:
        return super().reset(seed, options)


class Broken(Counting):
    """Takes keywords only."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed, options)
