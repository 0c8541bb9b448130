"""Faults: the only place where an exception becomes a result.

An infrastructure fault ends the episode as truncated with `info["error"]`. Its reward of 0.0 is a placeholder: consumers drop,
retry or mask such an episode, and count it. Called by the vector workers and by `gem.wrappers.Guarded` alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from gem.errors import GemError

__all__ = ["ErrorInfo", "Phase", "fault_reset", "fault_step"]

Phase: TypeAlias = Literal["reset", "step", "close", "agent", "worker"]
_MAX_MESSAGE = 2000


@dataclass(frozen=True)
class ErrorInfo:
    """What failed, in values that JSON can hold."""

    type: str
    message: str
    phase: Phase
    retryable: bool

    @classmethod
    def of(cls, error: BaseException, phase: Phase) -> ErrorInfo:
        """Describe `error`, without its traceback."""
        if isinstance(error, GemError):
            retryable = error.retryable
        else:
            retryable = isinstance(error, (OSError, TimeoutError))
        message = str(error).encode("utf-8", "replace").decode()
        return cls(type(error).__name__, message[:_MAX_MESSAGE], phase, retryable)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a fresh dict."""
        return asdict(self)


def fault_step(last_obs: Any, error: BaseException, phase: Phase = "step") -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Return the result of a step that failed: the last observation, 0.0, truncated, and the error."""
    return last_obs, 0.0, False, True, {"error": ErrorInfo.of(error, phase).to_json()}


def fault_reset(empty_obs: Any, error: BaseException) -> tuple[Any, dict[str, Any]]:
    """Return the result of a reset that failed: an empty observation and the error. The next command retries."""
    return empty_obs, {"error": ErrorInfo.of(error, "reset").to_json()}
