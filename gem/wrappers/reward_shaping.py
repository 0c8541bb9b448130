"""`RewardShaping`: other rewards for the same play."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError

__all__ = ["RewardShaping"]


class RewardShaping(Wrapper[Any, Any, Any, Any]):
    """Pays `scale * reward + per_turn`, plus `invalid` for an invalid action and `success` at a won end, clipped to `clip`.

    The environment's own reward stays in `info["shaping.reward"]`. A faulted step is left as it is: its reward is none.

    Args:
        env: What pays the first reward.
        scale: Factor of the environment's reward.
        per_turn: Added every turn.
        invalid: Added where `info` has `invalid_action`.
        success: Added where `info["success"]` is true.
        clip: Least and greatest reward of a turn.
        shape: Instead of all these: `shape(reward, info) -> reward`.
    """

    def __init__(
        self,
        env: Env[Any, Any],
        scale: float = 1.0,
        per_turn: float = 0.0,
        invalid: float = 0.0,
        success: float = 0.0,
        clip: tuple[float, float] | None = None,
        shape: Callable[[float, Info], float] | None = None,
    ) -> None:
        super().__init__(env)
        if clip is not None and clip[0] > clip[1]:
            raise ContractError(f"{self._name}: clip must be (least, greatest), not {clip!r:.80}")
        self._scale, self._per_turn, self._invalid, self._success = scale, per_turn, invalid, success
        self._clip, self._shape = clip, shape

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Replace the reward."""
        if "error" in info:
            return obs, reward, terminated, truncated, info
        shaped = self._shape(reward, info) if self._shape is not None else self._formula(reward, info)
        return obs, float(shaped), terminated, truncated, {**info, "shaping.reward": reward}

    def _formula(self, reward: float, info: Info) -> float:
        shaped = self._scale * reward + self._per_turn
        if "invalid_action" in info:
            shaped += self._invalid
        if info.get("success"):
            shaped += self._success
        if self._clip is not None:
            shaped = min(max(shaped, self._clip[0]), self._clip[1])
        return shaped
