"""Gives each episode an id that no other has."""

from __future__ import annotations

import uuid
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_seed_same_episode"


class Good(Counting):
    """Draws it from the seed."""

    def new_id(self) -> str:
        return f"{self.rng.getrandbits(64):x}"

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return obs, {**info, "episode_id": self.new_id()}


class Broken(Good):
    """Draws it from the operating system."""

    def new_id(self) -> str:
        return uuid.uuid4().hex
