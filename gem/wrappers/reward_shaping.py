"""`RewardShaping`: other rewards for the same play."""

from __future__ import annotations

import math
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

    Raises:
        ContractError: a number that is none or not finite, `clip` that is not (least, greatest), or a reward that comes out so.
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
        for name, value in (("scale", scale), ("per_turn", per_turn), ("invalid", invalid), ("success", success)):
            if not _finite(value):
                raise ContractError(f"{self._name}: {name} must be a finite number, not {value!r:.80}")
        if clip is not None and not _is_range(clip):
            raise ContractError(f"{self._name}: clip must be (least, greatest), not {clip!r:.80}")
        if shape is not None and not callable(shape):
            raise ContractError(f"{self._name}: shape must be a function of reward and info, not {shape!r:.80}")
        self._scale, self._per_turn, self._invalid, self._success = scale, per_turn, invalid, success
        self._clip, self._shape = clip, shape

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Replace the reward."""
        if "error" in info:
            return obs, reward, terminated, truncated, info
        shaped = self._shape(reward, info) if self._shape is not None else self._formula(reward, info)
        if not _finite(shaped):
            raise ContractError(f"{self._name}: the shaped reward must be a finite number, not {shaped!r:.80}")
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


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _is_range(value: Any) -> bool:
    numbers = isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(end, (int, float)) for end in value)
    return numbers and bool(value[0] <= value[1])
