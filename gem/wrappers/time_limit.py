"""`TimeLimit`: truncates an episode after a number of turns."""

from __future__ import annotations

from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError, ResetNeeded

__all__ = ["TimeLimit"]


class TimeLimit(Wrapper[Any, Any, Any, Any]):
    """Truncates at turn `max_turns` what did not terminate there.

    Raises:
        ContractError: `max_turns` is not an integer of 1 or more.
        ResetNeeded: `step` after the limit.
    """

    def __init__(self, env: Env[Any, Any], max_turns: int) -> None:
        super().__init__(env)
        if type(max_turns) is not int or max_turns < 1:
            raise ContractError(f"{self._name}: max_turns must be an integer of 1 or more, not {max_turns!r:.80}")
        self.max_turns = max_turns
        self._limit = max_turns  # a plain attribute: reading the descriptor each turn would cost more than the rest
        self._turn = 0

    def on_reset(self, obs: Any, info: Info) -> tuple[Any, Info]:
        """Count from zero."""
        self._turn = 0
        return obs, info

    def on_action(self, action: Any) -> Any:
        """Let nothing through after the limit: the environment below does not know that the episode is over."""
        if self._turn >= self._limit:
            raise ResetNeeded(f"{self._name}: the episode is over, truncated at turn {self._limit}. Call reset before the next step")
        return action

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Count the turn, and truncate at the limit."""
        self._turn += 1
        return obs, reward, terminated, truncated or (self._turn >= self._limit and not terminated), info

    def own_state(self) -> int:
        """Return the number of turns played."""
        return self._turn

    def set_own_state(self, state: int) -> None:
        """Take the number of turns played."""
        self._turn = state
