"""Plans all answers at reset and hands out the next one each time it is asked."""

from __future__ import annotations

import copy
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "oracle_changes_nothing"


class Good(Counting):
    """Hands out the one for this turn."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        result = super().reset(seed, options)
        later = copy.deepcopy(self.rng)
        self.plan = [self.wanted, *(later.randrange(1_000_000) + 1 for _ in range(7))]
        return result

    def oracle_action(self) -> str | None:
        return str(self.plan[self.turn])


class Broken(Good):
    """Hands out the next, played or not."""

    def oracle_action(self) -> str | None:
        return str(self.plan.pop(0)) if self.plan else None
