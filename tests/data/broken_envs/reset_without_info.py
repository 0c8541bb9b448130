"""Returns the observation alone from reset, as old gym did."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_returns_pair"


class Good(Counting):
    """Returns both."""


class Broken(Counting):
    """Returns one."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed, options)[0]
