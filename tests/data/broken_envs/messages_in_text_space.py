"""Observes in messages, and keeps the default space, which is of text."""

from __future__ import annotations

from typing import Any

from gem.spaces import Messages
from tests.data.broken_envs.counting import Counting

BREAKS = "observation_in_space"


class Broken(Counting):
    """Does not say that it observes in messages."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return [{"role": "user", "content": obs}], info

    def step(self, action: Any) -> Any:
        obs, *rest = super().step(action)
        return [{"role": "user", "content": obs}], *rest


class Good(Broken):
    """Says so."""

    observation_space = Messages()
