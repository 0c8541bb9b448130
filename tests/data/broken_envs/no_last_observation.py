"""Has nothing to show when the last answer was right, and shows None."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "observation_in_space"


class Good(Counting):
    """Shows an empty text."""

    last: str | None = ""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return self.last if self.right == 5 else obs, reward, terminated, truncated, info


class Broken(Good):
    """Shows None."""

    last = None
