"""Returns itself as its snapshot."""

from __future__ import annotations

import copy
from typing import Any

from gem.errors import ContractError
from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_is_a_copy"


class Good(Counting):
    """Returns a copy of itself."""

    def get_state(self) -> Any:
        return copy.deepcopy(self)

    def set_state(self, state: Any) -> None:
        if not isinstance(state, Good):
            raise ContractError("not a snapshot of this environment")
        self.__dict__.update(copy.deepcopy(state.__dict__))


class Broken(Good):
    """Returns itself."""

    def get_state(self) -> Any:
        return self
