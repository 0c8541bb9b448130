"""What a slot may take, and what happens to it when the caller has had enough."""

from __future__ import annotations

from dataclasses import dataclass

from gem.errors import EnvError, RegistrationError

__all__ = ["Cancelled", "Limits"]


class Cancelled(EnvError):
    """The caller gave a command up."""

    retryable = True


@dataclass(frozen=True)
class Limits:
    """Seconds for a step and a reset (None: no limit), resets at a time, and restarts in a row."""

    step_timeout: float | None = None
    reset_timeout: float | None = None
    max_resets: int = 64
    max_restarts: int = 3

    def __post_init__(self) -> None:
        for name, seconds in (("step_timeout", self.step_timeout), ("reset_timeout", self.reset_timeout)):
            if seconds is not None and not seconds > 0:
                raise RegistrationError(f"{name} must be above 0 seconds, or None, not {seconds!r:.80}")
        if self.max_resets < 1 or self.max_restarts < 0:
            raise RegistrationError(
                f"max_concurrent_resets must be 1 or more and max_restarts 0 or more, not {self.max_resets} and {self.max_restarts}"
            )
