"""Has a reset that knows no options."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_takes_seed_and_options"


class Good(Counting):
    """Hands on whatever it gets."""

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        return super().reset(*args, **kwargs)


class Broken(Counting):
    """Takes the seed alone."""

    def reset(self, seed: int | None = None) -> Any:
        return super().reset(seed)
