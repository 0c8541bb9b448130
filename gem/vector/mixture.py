"""`Mixture`: several environments in one vector, in fixed shares."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gem.errors import RegistrationError
from gem.specs import EnvSpec

__all__ = ["Mixture", "Shares"]

_ROUND = 64  # how far from the beginning a slot may begin
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Mixture:
    """Environments with weights, wherever an id is taken: `Mixture({"game:Wordle-v0-easy": 3, "game:Sudoku-v0-easy": 1})`.

    Each slot follows the weights by itself, so the shares hold whatever the lengths of the episodes, and are the same from the
    same seed. `info["source"]` names the environment of an episode.

    Attributes:
        weights: Id or spec to weight, above 0.
        by: `episodes`, or `turns`: what the shares are of.

    Raises:
        RegistrationError: no environment, or a weight that is not above 0.
    """

    weights: Mapping[str | EnvSpec, float]
    by: Literal["episodes", "turns"] = "episodes"

    def __post_init__(self) -> None:
        if not self.weights:
            raise RegistrationError(
                "a mixture needs at least one environment, such as Mixture({'game:Wordle-v0-easy': 3, 'game:Sudoku-v0-easy': 1})"
            )
        for id, weight in self.weights.items():
            if not (isinstance(weight, (int, float)) and 0 < weight < float("inf")):
                raise RegistrationError(f"the weight of {id} in a mixture must be above 0, not {weight!r:.80}")
        if self.by not in ("episodes", "turns"):
            raise RegistrationError(f"a mixture goes by 'episodes' or 'turns', not {self.by!r:.80}")


class Shares:
    """Picks the environment of a slot's next episode.

    By episodes, no environment is ever two away from its share, over any stretch of episodes; by turns, the one that is
    furthest behind comes next.

    Source: earliest deadline first among those that are not ahead of their share; Baruah et al., Proportionate Progress, 1996.
    """

    def __init__(self, weights: list[float], by: str, seed: int) -> None:
        total = sum(weights)
        self._weights = [weight / total for weight in weights]
        self._by = by
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Begin anew. Every slot begins elsewhere in the round, or all would play the same environment at the same time."""
        order = random.Random(seed)
        self._current = 0
        if self._by == "turns":
            self._had = [-order.random() for _ in self._weights]
            return
        self._had = [0.0] * len(self._weights)
        for _ in range(order.randrange(_ROUND)):
            self.next()

    def next(self) -> int:
        """Return the position of the next environment."""
        if len(self._weights) == 1:
            return 0
        total, ranked = sum(self._had), range(len(self._weights))
        if self._by == "turns":
            self._current = max(ranked, key=lambda k: self._weights[k] * total - self._had[k])
            return self._current
        not_ahead = [k for k in ranked if self._had[k] <= self._weights[k] * total + _ROUNDING]
        self._current = min(not_ahead, key=lambda k: (self._had[k] + 1) / self._weights[k])
        self._had[self._current] += 1
        return self._current

    def played(self, turns: int) -> None:
        """Note the turns of an episode that has ended."""
        if self._by == "turns":
            self._had[self._current] += turns

    def state(self) -> dict[str, Any]:
        """Return what `load` goes on from."""
        return {"had": list(self._had), "current": self._current}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self._had, self._current = list(state["had"]), state["current"]
