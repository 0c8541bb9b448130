"""The state of one slot, as the vector sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gem.errors import ContractError
from gem.vector.feed import Episode
from gem.vector.protocol import Op

__all__ = ["Slot", "Status"]


class Status(Enum):
    """What a slot waits for."""

    IDLE = "idle"  # a reset by the caller
    READY = "ready"  # an action
    BUSY = "busy"  # its command, which is under way
    QUEUED = "queued"  # a place among the resets, or the end of a pause after a fault
    ENDED = "ended"  # with autoreset next_step: an action, which begins the next episode
    LOST = "lost"  # a command, which will be told that the episode is gone
    EXHAUSTED = "exhausted"  # nothing: the tasks are used up
    DEAD = "dead"  # nothing: it failed too often


_WHAT_TO_DO = {
    Status.IDLE: ". Reset it first",
    Status.BUSY: ". Receive its row first",
    Status.QUEUED: ". Receive the row of its reset first",
    Status.DEAD: ": it failed too often",
    Status.EXHAUSTED: ": its tasks are used up",
}
_CAN: dict[Op, tuple[str, tuple[Status, ...]]] = {
    "step": ("take an action", (Status.READY, Status.ENDED, Status.LOST)),
    "reset": ("be reset", (Status.IDLE, Status.READY, Status.ENDED, Status.LOST, Status.EXHAUSTED)),
    "call": ("be called", (Status.IDLE, Status.READY, Status.ENDED)),
}


@dataclass
class Slot:
    """One environment's place in a vector.

    Attributes:
        ticket: Of the current command.
        op: What that is.
        before: Where a call returns the slot to.
        sent: When the command was sent, by the monotonic clock, where it has a limit.
        limit_s: Seconds that it may take.
        deadline: When it is late.
        episode: The episode that is played or begun.
        turns: Of it.
        due: When a queued reset may begin.
        error: What took the environment away, or why it is being given up.
    """

    number: int
    status: Status = Status.IDLE
    ticket: int = 0
    op: Op = "reset"
    before: Status = Status.IDLE
    sent: float = 0.0
    limit_s: float = 0.0
    deadline: float | None = None
    episode: Episode | None = None
    turns: int = 0
    due: float = 0.0
    last_obs: Any = ""
    error: BaseException | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a row of this slot will come without the caller doing anything."""
        return self.status in (Status.BUSY, Status.QUEUED)

    def check(self, op: Op) -> None:
        """Raise `ContractError` where the slot can't take a command now."""
        what, able = _CAN[op]
        if self.status not in able or (op == "call" and self.episode is None):
            raise ContractError(f"slot {self.number} can't {what}: it is {self.status.value}{_WHAT_TO_DO.get(self.status, '')}")
