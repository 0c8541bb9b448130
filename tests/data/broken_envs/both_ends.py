"""Truncates at its turn limit what it terminates there too."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "ends_in_one_way"


class Good(Counting):
    """Truncates what did not terminate."""

    def step(self, action: Any) -> Any:
        obs, reward, _, _, info = super().step(action)
        won = self.right == 5
        return obs, reward, won, self.turn == self.max_turns and not won, info


class Broken(Counting):
    """Truncates in any case."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, self.turn == self.max_turns, info
