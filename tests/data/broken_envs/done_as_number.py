"""Says with 0 and 1 whether it is over."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "flags_are_bools"


class Good(Counting):
    """Says it with a bool."""


class Broken(Counting):
    """Says it with an int."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, int(terminated), truncated, info
