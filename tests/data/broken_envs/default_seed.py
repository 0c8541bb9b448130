"""Takes 42 where no seed is given: all unseeded episodes are one."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "unseeded_resets_follow_the_stream"


class Good(Counting):
    """Passes the None on."""


class Broken(Counting):
    """Puts a default in its place."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(42 if seed is None else seed, options)
