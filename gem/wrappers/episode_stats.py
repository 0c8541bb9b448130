"""`EpisodeStats`: turns and return of each episode."""

from __future__ import annotations

from collections import deque
from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError

__all__ = ["EpisodeStats"]


class EpisodeStats(Wrapper[Any, Any, Any, Any]):
    """Adds `info["stats.turns"]` and `info["stats.return"]` (the sum of rewards so far) to every step.

    Attributes:
        returns: Returns of the last `window` episodes that ended without a fault.
        lengths: Their turns.

    Raises:
        ContractError: `window` is not an integer of 1 or more.
    """

    def __init__(self, env: Env[Any, Any], window: int = 100) -> None:
        super().__init__(env)
        if type(window) is not int or window < 1:
            raise ContractError(f"{self._name}: window must be an integer of 1 or more, not {window!r:.80}")
        self.returns: deque[float] = deque(maxlen=window)
        self.lengths: deque[int] = deque(maxlen=window)
        self._turns, self._return = 0, 0.0

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Count from zero."""
        self._turns, self._return = 0, 0.0
        return obs, info

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Count the turn."""
        self._turns += 1
        self._return += reward
        if (terminated or truncated) and "error" not in info:
            self.returns.append(self._return)
            self.lengths.append(self._turns)
        return obs, reward, terminated, truncated, {**info, "stats.turns": self._turns, "stats.return": self._return}

    def own_state(self) -> Any:
        """Return the counts of the current episode."""
        return self._turns, self._return

    def set_own_state(self, state: Any) -> None:
        """Take what `own_state` returned."""
        self._turns, self._return = state
