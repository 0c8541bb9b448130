"""Puts the statistics of a vector together."""

from __future__ import annotations

from gem.vector.engine import Engine
from gem.vector.slots import Status
from gem.vector.stats import VectorStats

__all__ = ["summary"]


def summary(engine: Engine) -> VectorStats:
    """Return counts, latencies, and what the slots do."""
    meter = engine.meter
    by_status = {status: sum(slot.status is status for slot in engine.slots) for status in Status}
    ready, dead = by_status[Status.READY], by_status[Status.DEAD]
    in_flight = by_status[Status.BUSY] + by_status[Status.QUEUED]
    counts = {name: meter.counts[name] for name in ("steps", "resets", "calls", "episodes", "restarts", "timeouts", "stale")}
    return VectorStats(
        **counts,
        errors=dict(meter.errors),
        step_s=meter.percentiles(),
        ready=ready,
        in_flight=in_flight,
        idle=len(engine.slots) - ready - in_flight - dead,
        dead=dead,
        loop_lag_s=getattr(engine.executor, "loop_lag_s", 0.0),
        workers=tuple(getattr(engine.executor, "pids", ())),
        sources=dict(meter.sources),
    )
