"""`Board`: memory that a vector shares with a worker, where the worker notes what it runs.

It costs no message, and it is still there when the worker is not: a deadline counts from when a command began and not from when
it was sent, and a crash is put down to the slot that ran.
"""

from __future__ import annotations

import mmap
import os
import tempfile

__all__ = ["Board"]

_CELL = 8


class Board:
    """A cell per environment of a worker.

    Args:
        size: How many environments.
        fd: Of the memory; None: new memory.

    Attributes:
        cells: The monotonic time at which an environment began its command; 0 where it runs none.
    """

    def __init__(self, size: int, fd: int | None = None) -> None:
        self.fd = _memory(size * _CELL) if fd is None else fd
        self._map = mmap.mmap(self.fd, size * _CELL)
        self.cells = memoryview(self._map).cast("d")

    def running(self) -> list[int]:
        """Return the environments that run a command."""
        return [k for k, began in enumerate(self.cells) if began]

    def close(self) -> None:
        """Free the memory on this side."""
        self.cells.release()
        self._map.close()
        os.close(self.fd)


def _memory(size: int) -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("gem-board")
    else:
        fd, path = tempfile.mkstemp()
        os.unlink(path)
    os.ftruncate(fd, size)
    return fd
