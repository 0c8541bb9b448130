"""Counts and latencies of a vector."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Meter", "VectorStats", "told"]

_WINDOW = 4096


@dataclass(frozen=True)
class VectorStats:
    """What a vector has done so far.

    Attributes:
        steps, resets, calls: Results that came back, faults included.
        episodes: Episodes that ended without a fault.
        errors: Faults by type of error.
        restarts: Environments that were built anew after a fault.
        timeouts: Commands that outlasted their deadline.
        stale: Results that came too late and were dropped.
        step_s: 50th, 95th and 99th percentile of the seconds in a step, over the last 4096.
        ready, in_flight, idle, dead: Slots by what they do now.
        loop_lag_s: How late the home loop last was (backend `async`).
        workers: Process ids (backend `process`).
        sources: Episodes begun, by environment.
    """

    steps: int
    resets: int
    calls: int
    episodes: int
    errors: Mapping[str, int]
    restarts: int
    timeouts: int
    stale: int
    step_s: tuple[float, float, float] | None
    ready: int
    in_flight: int
    idle: int
    dead: int
    loop_lag_s: float
    workers: tuple[int, ...]
    sources: Mapping[str, int]


def told(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the type, message and phase of `info["error"]`, which an environment may have written in a form of its own."""
    error = info["error"]
    return {"type": "error", "message": f"{error!s:.2000}", "phase": "step", **(error if isinstance(error, Mapping) else {})}


@dataclass
class Meter:
    """The counters behind `VectorStats`."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))

    def fault(self, info: Mapping[str, Any]) -> None:
        """Count a fault by its type."""
        self.errors[told(info)["type"]] += 1

    def percentiles(self) -> tuple[float, float, float] | None:
        """Return the 50th, 95th and 99th percentile of the step times, or None before the first."""
        if not self.times:
            return None
        ordered = sorted(self.times)
        last = len(ordered) - 1
        return ordered[last // 2], ordered[int(last * 0.95)], ordered[int(last * 0.99)]
