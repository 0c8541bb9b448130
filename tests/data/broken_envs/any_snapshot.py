"""Takes any dict for a snapshot."""

from __future__ import annotations

import pickle
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "foreign_snapshot_is_refused"


class Good(Counting):
    """Takes its own."""


class Broken(Counting):
    """Updates itself with whatever it gets."""

    def set_state(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update(pickle.loads(state.get("data") or pickle.dumps({})))
        else:
            super().set_state(state)
