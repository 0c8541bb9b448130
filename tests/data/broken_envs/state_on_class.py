"""Keeps the number that is wanted on the class, where a second environment replaces it."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "instances_do_not_share"


class Good(Counting):
    """Keeps it on the instance."""

    def step(self, action: Any) -> Any:
        shown = self.shown
        obs, *rest = super().step(action)
        return f"{shown} is past. {obs}", *rest


class Broken(Good):
    """Keeps it on the class."""

    def _next(self) -> None:
        Broken.number = self.rng.randrange(1_000_000) + 1

    @property
    def wanted(self) -> int:
        return Broken.number

    @wanted.setter
    def wanted(self, value: int) -> None:
        Broken.number = value
