"""Leaves the number of right answers out of its snapshot."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_goes_on"


class Good(Counting):
    """Snapshots all."""


class Broken(Counting):
    """A restored winner loses."""

    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.right = 0
