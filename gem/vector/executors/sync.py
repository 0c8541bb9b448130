"""`sync`: in the caller's thread, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from gem.errors import EnvCrashed
from gem.vector.host import Host
from gem.vector.protocol import Blueprint, Command, Lost, Report

__all__ = ["SyncExecutor"]


class SyncExecutor:
    """Runs a command when it is submitted. The cheapest, for environments that take microseconds."""

    waiting = False

    def start(
        self, blueprints: Sequence[Blueprint], slots: Sequence[int] | None = None, host: Callable[[int, Blueprint], Host] = Host
    ) -> None:
        """Take the slots on; they are numbered from 0 unless numbers are given."""
        numbers = range(len(blueprints)) if slots is None else slots
        self._hosts = {slot: host(slot, blueprint) for slot, blueprint in zip(numbers, blueprints, strict=True)}
        self._reports: list[Report] = []
        self._bell = threading.Event()

    def submit(self, commands: Sequence[Command]) -> None:
        """Run the commands."""
        hosts, done = self._hosts, 0
        try:
            self.waiting = True
            for command in commands:
                self._reports.append(hosts[command.slot].run(command))
                done += 1
            self.waiting = False
        finally:
            if done < len(commands):  # Ctrl-C
                self._drop([command.slot for command in commands[done:]], EnvCrashed("interrupted"), guilty=False)

    def poll(self, timeout_s: float | None) -> list[Report]:
        """Return what was run; where nothing was, wait for a pause to end."""
        if not self._reports and timeout_s != 0:
            self.waiting = True
            self._bell.wait(timeout_s)
            self.waiting = False
            self._bell.clear()
        reports, self._reports = self._reports, []
        return reports

    def abandon(self, slot: int, error: BaseException) -> None:
        """Close the slot's environment: the command itself has ended by now."""
        self._drop([slot], error, guilty=True)

    def began(self, slot: int, sent: float) -> float:
        """Return `sent`: a command runs when it is submitted."""
        return sent

    def wake(self) -> None:
        """Let a waiting `poll` return."""
        self._bell.set()

    def disown(self) -> None:
        """Nothing is held that a forked child could do harm to."""

    def close(self, timeout_s: float) -> None:
        """Close the environments."""
        for host in self._hosts.values():
            host.close()

    def _drop(self, slots: Sequence[int], error: BaseException, guilty: bool) -> None:
        for slot in slots:
            self._hosts[slot].close()
        self._reports.append(Lost(tuple(slots), error, frozenset(slots if guilty else ())))
