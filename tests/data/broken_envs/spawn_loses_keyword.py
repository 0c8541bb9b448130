"""Spawns its twin without the keyword that it was built with."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "spawn_gives_an_equal_twin"


class Good(Counting):
    """Has a range, and spawns with it."""

    def __init__(self, top: int = 999) -> None:
        super().__init__()
        self.top = top

    def _next(self) -> None:
        self.wanted = self.rng.randrange(self.top) + 1


class Broken(Good):
    """Spawns with the default range."""

    def __init__(self) -> None:
        super().__init__(top=500_000)

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Any:
        twin = Good()
        if overrides.get("seed") is not None:
            twin.seed_resets(overrides["seed"])
        if same_state:
            twin.__dict__.update(self.__getstate__())
        return twin
