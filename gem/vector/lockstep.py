"""What a slot says of one lock-step: its rows, made one."""

from __future__ import annotations

from collections.abc import Iterable

from gem.errors import EnvCrashed
from gem.faults import fault_step
from gem.vector.batch import Row
from gem.vector.slots import Slot, Status
from gem.vector.stats import told

__all__ = ["STILL", "gathered", "is_fault", "raise_fault", "still_row"]

# Nothing is played here any more.
STILL = (Status.EXHAUSTED, Status.DEAD)


def gathered(rows: Iterable[Row]) -> dict[int, Row]:
    """Return a row per slot: that of a reset which follows an end is merged into it."""
    found: dict[int, Row] = {}
    for row in rows:
        ended = found.get(row.slot)
        found[row.slot] = row if ended is None else _merged(ended, row)
    return found


def _merged(ended: Row, begun: Row) -> Row:
    """Return the row of a lock-step: the end of one episode and the beginning of the next."""
    if ended.kind != "step":  # a reset that failed, and another try
        return begun
    final = {"final_obs": ended.info.get("final_obs", ended.obs), "final_info": ended.info.get("final_info", ended.info)}
    if "error" in begun.info:  # the next episode can't begin: no fault of the one that has ended
        return ended._replace(info={**ended.info, **final})
    info = {**begun.info, **final}
    if "error" in ended.info:
        info["error"] = ended.info["error"]
    return ended._replace(obs=begun.obs, info=info, actionable=begun.actionable, episode_id=ended.episode_id)


def still_row(slot: Slot) -> Row:
    """Return the row of a slot in which nothing is played any more."""
    if slot.status is Status.DEAD:
        error = EnvCrashed(f"slot {slot.number} failed too often and is given up")
        return Row(slot.number, -1, *fault_step(slot.last_obs, error), "step", False)
    return Row(slot.number, -1, slot.last_obs, 0.0, False, False, {"exhausted": True}, "reset", False)


def is_fault(row: Row) -> bool:
    """Say whether a row tells of a fault; what a call raised is none."""
    return "error" in row.info and row.kind != "call"


def raise_fault(row: Row) -> None:
    """Raise what a row tells."""
    error = told(row.info)
    raise EnvCrashed(f"slot {row.slot}: {error['type']} in {error['phase']}: {error['message']}")
