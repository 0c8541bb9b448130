"""Does not clear its turn counter."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_begins_again"


class Good(Counting):
    """Clears it in every reset."""

    keeps = False

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.lived = self.lived if self.keeps and self.task_key else 0
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.lived += 1
        if self.lived >= self.max_turns and not terminated:
            return obs, reward, True, False, {**info, "success": False}
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Clears it in the first."""

    keeps = True
