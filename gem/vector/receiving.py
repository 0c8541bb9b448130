"""`Receiver`: waits for rows, and hands them out."""

from __future__ import annotations

import threading
from time import monotonic

from gem.errors import ContractError
from gem.vector.batch import Batch, Row
from gem.vector.engine import Engine
from gem.vector.lockstep import gathered, is_fault, raise_fault
from gem.vector.turn import Turn

__all__ = ["NothingInFlight", "Receiver"]


class NothingInFlight(ContractError):
    """`recv` was asked to wait for rows, and none can come: send an action or a reset first."""


class Receiver:
    """Takes rows out of an engine.

    To wait and to take are apart: who is interrupted or cancelled in a wait finds all rows with the next call.

    Args:
        engine: What rows come from.
        turn: Taken for as long as something is waited for.
        raise_errors: Raise a fault instead of handing its row out.
    """

    def __init__(self, engine: Engine, turn: Turn, raise_errors: bool) -> None:
        self._engine, self._turn, self._raise_errors = engine, turn, raise_errors

    def wait(self, min_size: int, timeout_s: float | None, stop: threading.Event | None = None) -> None:
        """Wait for rows: `min_size`, or as many as can come, or till the time is up or `stop` is set.

        Raises:
            NothingInFlight: no row waits and none is under way.
            ContractError: the vector is closed.
        """
        engine = self._engine
        end = None if timeout_s is None else monotonic() + timeout_s
        with self._turn:
            self._turn.check_open()
            engine.pump(0)
            if not engine.rows and not engine.in_flight:
                raise NothingInFlight("recv, but nothing is under way: send actions or resets first")
            while len(engine.rows) < min_size and engine.in_flight and not _is_set(stop):
                left = None if end is None else end - monotonic()
                if left is not None and left <= 0:
                    return
                engine.pump(left)
                self._turn.pause()
                self._turn.check_open()

    def wait_for_all(self, stop: threading.Event | None = None) -> None:
        """Wait until nothing is under way."""
        with self._turn:
            while self._engine.in_flight and not _is_set(stop):
                self._turn.check_open()
                self._engine.pump(None)
                self._turn.pause()

    def take(self, max_size: int | None) -> Batch:
        """Return the rows that are there, first come first; those before a fault that is to be raised come first too."""
        with self._turn:
            rows = self._engine.rows
            count = len(rows) if max_size is None else min(len(rows), max_size)
            if self._raise_errors:
                faulty = next((k for k in range(count) if is_fault(rows[k])), count)
                if faulty == 0 and count:
                    raise_fault(rows.popleft())
                count = faulty
            return Batch.of([rows.popleft() for _ in range(count)])

    def take_by_slot(self) -> dict[int, Row]:
        """Return all rows, one per slot."""
        with self._turn:
            rows = list(self._engine.rows)
            self._engine.rows.clear()
        if self._raise_errors:
            for row in filter(is_fault, rows):
                raise_fault(row)
        return gathered(rows)


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()
