"""What runs and what is open: processes, threads, descriptors."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any


def until(what: Callable[[], Any], seconds: float = 30.0) -> bool:
    """Wait for something that is bound to happen, and say whether it has."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.01)
    return bool(what())


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def zombies() -> list[int]:
    """Return the children of this process that ended and were not waited for."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
                if state == "Z" and int(parent) == os.getpid():
                    found.append(int(entry))
    return found


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def slot_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(("gem-slot", "gem-vector", "gem-env"))]
