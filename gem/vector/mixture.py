"""`Mixture`: several environments in one vector, in fixed shares."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gem.errors import RegistrationError
from gem.specs import EnvSpec

__all__ = ["Mixture", "Shares"]


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
    """Picks the environment of a slot's next episode: the one that is furthest behind its share.

    Source: the smooth weighted round robin; after n episodes no environment is more than one away from its share.
    """

    def __init__(self, weights: list[float], by: str, seed: int) -> None:
        total = sum(weights)
        self._weights = [weight / total for weight in weights]
        self._by = by
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Begin the round anew."""
        # Every slot begins elsewhere in it, or all would play the same environment at the same time.
        order = random.Random(seed)
        self._had = [-order.random() * weight for weight in self._weights]
        self._current = 0

    def next(self) -> int:
        """Return the position of the next environment."""
        if len(self._weights) == 1:
            return 0
        self._current = min(
            range(len(self._weights)), key=lambda k: (self._had[k] + (1 if self._by == "episodes" else 0)) / self._weights[k]
        )
        if self._by == "episodes":
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
