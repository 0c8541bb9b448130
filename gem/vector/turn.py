"""`Turn`: one thread at a time at a vector's engine, and none after its end.

Whoever waits for reports holds the turn while it waits. `cancel`, `close` and, with an `arecv` under way, `send` come from other
threads: they wake it, and it makes way.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from gem.errors import ContractError

__all__ = ["Turn"]


class Turn:
    """A lock that one who waits with it gives away on request.

    Args:
        wake: Lets the waiting thread return to `pause`.

    Attributes:
        closed: The vector is.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        # Reentrant: a signal's handler may close the vector that its thread waits for.
        self._lock = threading.RLock()
        self._door = threading.Lock()
        self._pid = os.getpid()
        self.closed = False

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that made the vector."""
        return self._pid != os.getpid()

    def check_open(self) -> None:
        """Raise `ContractError` where the vector can't be used."""
        if self.closed:
            raise ContractError("the vector is closed")
        if self.forked:
            raise ContractError("this vector was made before the process forked: make one in the child")

    def __enter__(self) -> None:
        self.take(-1)

    def __exit__(self, *why: object) -> None:
        self.give()

    def take(self, timeout_s: float) -> bool:
        """Take the turn, and say whether that was possible within `timeout_s` seconds; -1 waits for ever."""
        if self._lock.acquire(blocking=False):
            return True
        with self._door:
            self._wake()
            return self._lock.acquire(timeout=timeout_s)

    def give(self) -> None:
        """Give the turn back."""
        self._lock.release()

    def pause(self) -> None:
        """Let those who ask for the turn have it first."""
        if self._door.locked():
            self._lock.release()
            with self._door:
                pass
            self._lock.acquire()
