"""`async`: coroutines on the home loop, thousands at a time."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Callable, Sequence

from gem import aio
from gem.errors import EnvCrashed
from gem.vector.executors.thread import Mailbox
from gem.vector.host import Host
from gem.vector.protocol import Blueprint, Command, Lost, Report

__all__ = ["AsyncExecutor"]

_log = logging.getLogger("gem.vector")
_BEAT_S = 0.1
_LAG_WARNING_S = 0.1


class AsyncExecutor:
    """Awaits each environment's async side; an environment without one runs on its own thread.

    Attributes:
        loop_lag_s: How late the loop last was: what blocks it shows here.
    """

    loop_lag_s = 0.0

    def start(
        self, blueprints: Sequence[Blueprint], slots: Sequence[int] | None = None, host: Callable[[int, Blueprint], Host] = Host
    ) -> None:
        """Take the slots on."""
        self._blueprints = dict(zip(range(len(blueprints)) if slots is None else slots, blueprints, strict=True))
        self._host = host
        self._hosts = {slot: host(slot, blueprint) for slot, blueprint in self._blueprints.items()}
        self._reports = Mailbox()
        self._tasks: dict[Host, asyncio.Task[None]] = {}
        self._loop = aio.home_loop()
        self._gauge = asyncio.run_coroutine_threadsafe(self._measure_lag(), self._loop)

    def submit(self, commands: Sequence[Command]) -> None:
        """Start a task for each command: one hop to the loop for all of them."""
        # The hosts of now: a command that the loop has not begun yet must not meet one that took a host's place.
        self._loop.call_soon_threadsafe(self._begin, [(self._hosts[command.slot], command) for command in commands])

    def _begin(self, commands: Sequence[tuple[Host, Command]]) -> None:
        for host, command in commands:
            self._tasks[host] = self._loop.create_task(self._run(host, command))

    async def _run(self, host: Host, command: Command) -> None:
        report: Report | None = None
        try:
            report = await host.arun(command)
        finally:
            if report is None and self._hosts[command.slot] is host:
                report = Lost((command.slot,), EnvCrashed(f"slot {command.slot}: its task was cancelled"), frozenset({command.slot}))
            self._reports.put(report)

    def poll(self, timeout_s: float | None) -> list[Report]:
        """Return what the tasks have done; wait for the first."""
        return self._reports.drain(timeout_s)

    @property
    def waiting(self) -> bool:
        """Whether it does nothing but wait."""
        return self._reports.waiting

    @waiting.setter
    def waiting(self, value: bool) -> None:
        self._reports.waiting = value

    def abandon(self, slot: int, error: BaseException) -> None:
        """Cancel the slot's task, and close its environment when it is out of the way."""
        host = self._hosts[slot]
        self._hosts[slot] = self._host(slot, self._blueprints[slot])
        self._reports.put(Lost((slot,), error, frozenset({slot})))  # the loop may be blocked
        self._loop.call_soon_threadsafe(self._bury, host)

    def _bury(self, host: Host) -> asyncio.Task[None]:
        return self._loop.create_task(_bury(self._tasks.pop(host, None), host))

    def began(self, slot: int, sent: float) -> float:
        """Return `sent`: no command waits for another slot's, unless one blocks the loop."""
        return sent

    def wake(self) -> None:
        """Let a waiting `poll` return."""
        self._reports.put(None)

    def disown(self) -> None:
        """Nothing is held that a forked child could do harm to."""

    def close(self, timeout_s: float) -> None:
        """Cancel what runs and close the environments, all at once."""
        if self._loop.is_closed():  # the interpreter exits
            return
        self._gauge.cancel()
        closing = asyncio.run_coroutine_threadsafe(self._close(timeout_s), self._loop)
        if not aio.on_home_loop():
            with contextlib.suppress(concurrent.futures.TimeoutError):  # something blocks the loop
                closing.result(timeout_s + 0.5)

    async def _close(self, timeout_s: float) -> None:
        burials = [self._bury(host) for host in self._hosts.values()]
        if burials:
            await asyncio.wait(burials, timeout=timeout_s)

    async def _measure_lag(self) -> None:
        while True:
            due = self._loop.time() + _BEAT_S
            await asyncio.sleep(_BEAT_S)
            self.loop_lag_s = max(self._loop.time() - due, 0.0)
            if self.loop_lag_s > _LAG_WARNING_S:
                _log.warning(
                    "an environment blocked the event loop for %.0f ms: its steps should await, or use backend='thread'",
                    self.loop_lag_s * 1e3,
                )


async def _bury(task: asyncio.Task[None] | None, host: Host) -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
    await host.aclose()
