"""Takes seed 0 for no seed."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_seed_same_episode"


class Good(Counting):
    """Asks whether it is None."""


class Broken(Counting):
    """Asks whether it is true."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed or None, options)
