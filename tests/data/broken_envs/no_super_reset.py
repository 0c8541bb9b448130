"""Makes a generator of its own and leaves out `super().reset`."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "calls_super_reset"


class Good(Counting):
    """Calls it first."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.dice = random.Random(self.rng.random())
        return f"{obs} ({self.dice.randrange(100)} birds are watching.)", info


class Broken(Counting):
    """Does not call it."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self._rng = random.Random(seed)
        self.right = self.turn = 0
        self._next()
        return f"Add one to each number. {self.shown}", {"task": f"train/{seed}"}
