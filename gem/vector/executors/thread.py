"""`thread`: a thread per environment, for environments whose steps wait for something."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter

from gem.errors import EnvCrashed
from gem.vector.host import Host
from gem.vector.protocol import Blueprint, Command, Lost, Report

__all__ = ["ThreadExecutor"]


class ThreadExecutor:
    """Runs each environment on a thread of its own, from its constructor to its close.

    A step that hangs keeps its thread, which can't be killed: the slot goes on with a new thread and a new environment.

    Attributes:
        quarantined: Threads that were left behind.
    """

    def start(
        self, blueprints: Sequence[Blueprint], slots: Sequence[int] | None = None, host: Callable[[int, Blueprint], Host] = Host
    ) -> None:
        """Take the slots on; a thread starts with the first command of its slot."""
        self._blueprints = dict(zip(range(len(blueprints)) if slots is None else slots, blueprints, strict=True))
        self._host = host
        self._reports = Mailbox()
        self._lanes: dict[int, _Lane] = {}
        self.quarantined: list[threading.Thread] = []

    def submit(self, commands: Sequence[Command]) -> None:
        """Hand the commands to the threads."""
        for command in commands:
            slot = command.slot
            lane = self._lanes.get(slot)
            if lane is None:
                try:
                    lane = self._lanes[slot] = _Lane(slot, self._host(slot, self._blueprints[slot]), self._reports)
                except RuntimeError as why:
                    self._reports.put(Lost((slot,), EnvCrashed(f"slot {slot}: no thread could be started: {why}"), frozenset({slot})))
                    continue
            lane.commands.put(command)

    def poll(self, timeout_s: float | None) -> list[Report]:
        """Return what the threads have done; wait for the first."""
        return self._reports.drain(timeout_s)

    @property
    def waiting(self) -> bool:
        """Whether it does nothing but wait."""
        return self._reports.waiting

    @waiting.setter
    def waiting(self, value: bool) -> None:
        self._reports.waiting = value

    def abandon(self, slot: int, error: BaseException) -> None:
        """Leave the slot's thread behind."""
        lane = self._lanes.pop(slot, None)
        if lane is not None:
            lane.commands.put(None)  # should it ever come back
            self.quarantined = [thread for thread in self.quarantined if thread.is_alive()] + [lane.thread]
        self._reports.put(Lost((slot,), error, frozenset({slot})))

    def began(self, slot: int, sent: float) -> float:
        """Return `sent`: no command waits for another slot's."""
        return sent

    def wake(self) -> None:
        """Let a waiting `poll` return."""
        self._reports.put(None)

    def disown(self) -> None:
        """Nothing is held that a forked child could do harm to."""

    def close(self, timeout_s: float) -> None:
        """Close the environments on their threads, and wait for those."""
        end = monotonic() + timeout_s
        for lane in self._lanes.values():
            lane.commands.put(None)
        for lane in self._lanes.values():
            lane.thread.join(max(end - monotonic(), 0))
        self._lanes.clear()


class _Lane:
    """A slot's thread and the commands that wait for it."""

    def __init__(self, slot: int, host: Host, reports: Mailbox) -> None:
        self.commands: SimpleQueue[Command | None] = SimpleQueue()
        # A daemon: a hung step must not keep the interpreter from exiting.
        self.thread = threading.Thread(target=_work, args=(host, self.commands, reports), name=f"gem-slot-{slot}", daemon=True)
        self.thread.start()


def _work(host: Host, commands: SimpleQueue[Command | None], reports: Mailbox) -> None:
    while (command := commands.get()) is not None:
        start = perf_counter()
        try:
            report = host.run(command)
        except BaseException as error:  # nobody presses Ctrl-C on this thread: the environment raised it
            report = host.failed(command, error, start)
        reports.put(report)
        del command, report  # a waiting thread must not keep the last observation
    host.close()


class Mailbox:
    """Reports that come from other threads.

    Attributes:
        waiting: The reader waits for one. Nothing is taken out meanwhile, so that Ctrl-C loses none.
    """

    def __init__(self) -> None:
        self._items: deque[Report | None] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self.waiting = False

    def put(self, report: Report | None) -> None:
        """Put a report in; None only wakes who waits."""
        self._items.append(report)
        if self.waiting:
            self._bell.put(None)

    def drain(self, timeout_s: float | None) -> list[Report]:
        """Return all that is there; wait for the first up to `timeout_s` seconds."""
        items = self._items
        if not items and timeout_s != 0:
            self._wait(timeout_s)
        found = [items.popleft() for _ in range(len(items))]
        return [report for report in found if report is not None]

    def _wait(self, timeout_s: float | None) -> None:
        self.waiting = True
        with contextlib.suppress(Empty):
            if not self._items:  # what is put in from here on rings the bell
                self._bell.get(timeout=timeout_s)
        self.waiting = False
        while not self._bell.empty():
            self._bell.get()
