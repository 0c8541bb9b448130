"""Says with `and` whether it is over: 0 as long as nothing was right."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "flags_are_bools"


class Good(Counting):
    """Says it with a bool."""

    kind: Any = bool

    def step(self, action: Any) -> Any:
        obs, reward, terminated, _, info = super().step(action)
        late = self.right and self.turn > self.max_turns
        return obs, reward, terminated, type(self).kind(late), info


class Broken(Good):
    """Says what `and` leaves."""

    kind = staticmethod(lambda value: value)
