"""Restores the numbers and forgets the generator that makes the next ones."""

from __future__ import annotations

from typing import Any

from gem.errors import ContractError
from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_goes_on"


class Good(Counting):
    """Saves the numbers and both generators."""

    def get_state(self) -> Any:
        numbers = (self.right, self.turn, self.wanted)
        return {"numbers": numbers, "rng": self.rng.getstate(), "action_rng": self.action_rng.getstate()}

    def set_state(self, state: Any) -> None:
        if not isinstance(state, dict) or state.keys() != {"numbers", "rng", "action_rng"}:
            raise ContractError("not a snapshot of this environment")
        self.restore(**state)

    def restore(self, numbers: Any, rng: Any, action_rng: Any) -> None:
        self.right, self.turn, self.wanted = numbers
        self.rng.setstate(rng)
        self.action_rng.setstate(action_rng)


class Broken(Good):
    """Restores all but that one."""

    def restore(self, numbers: Any, rng: Any, action_rng: Any) -> None:
        self.right, self.turn, self.wanted = numbers
        self.action_rng.setstate(action_rng)
