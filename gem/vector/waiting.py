"""`Waiter`: lets a coroutine wait for a vector, whose own waits block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from gem import aio

__all__ = ["Waiter"]


class Waiter:
    """Runs waits one after the other on a thread of its own.

    Args:
        wake: Ends the poll that a wait is in.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lane: aio.Lane | None = None

    async def run(self, wait: Callable[[threading.Event], None]) -> None:
        """Await `wait(stop)`. Cancelling this sets `stop`, so that the next wait need not stand behind one that nobody awaits."""
        if self._lane is None or not self._lane.alive:
            self._lane = aio.Lane("gem-vector")
        stop = threading.Event()
        try:
            await self._lane.call(wait, stop)
        except asyncio.CancelledError:
            stop.set()
            self._wake()
            raise

    def close(self) -> None:
        """End the thread."""
        if self._lane is not None:
            self._lane.stop()
