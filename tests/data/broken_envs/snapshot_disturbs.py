"""Draws from its generator for the name of each snapshot."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_goes_on"


class Good(Counting):
    """Names it after the turn."""

    def get_state(self) -> Any:
        return {**super().get_state(), "name": self.name()}

    def name(self) -> str:
        return f"turn {self.turn}"


class Broken(Good):
    """Names it by lot, before it is taken and after."""

    def get_state(self) -> Any:
        self.name()
        return super().get_state()

    def name(self) -> str:
        return f"{self.rng.getrandbits(32):x}"
