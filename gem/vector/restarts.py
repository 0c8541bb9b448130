"""Restarts after a fault.

Decides when a slot may start again, and gives up after `max_restarts` faults in a row. Knows nothing of environments or
processes: the vector asks it (`gem.vector.env`).
"""

from __future__ import annotations

__all__ = ["Restarts"]


class Restarts:
    """Counts the faults of each slot since its last sound reset.

    Args:
        num_envs: How many slots there are.
        max_restarts: How often in a row a slot may fail and start again.
        first_s: Seconds before the first restart; each further one takes twice as long.
        longest_s: Never longer than this.
    """

    def __init__(self, num_envs: int, max_restarts: int, first_s: float = 0.1, longest_s: float = 10.0) -> None:
        self._used = [0] * num_envs
        self._max_restarts, self._first_s, self._longest_s = max_restarts, first_s, longest_s

    def next_delay(self, slot: int) -> float | None:
        """Seconds until `slot` may restart, or None when its restarts are used up. The first one does not wait."""
        used = self._used[slot]
        if used >= self._max_restarts:
            return None
        self._used[slot] = used + 1
        return 0.0 if used == 0 else min(self._first_s * 2 ** (used - 1), self._longest_s)

    def sound(self, slot: int) -> None:
        """Note an episode of `slot` that ended without a fault."""
        self._used[slot] = 0
