"""Begins with text, and answers unreadable text with a list of messages."""

from __future__ import annotations

from typing import Any

from gem.spaces import Text
from tests.data.broken_envs.counting import Counting

BREAKS = "observation_in_space"


class Either(Text):
    """A space that holds both."""

    def contains(self, x: Any) -> Any:
        return isinstance(x, (str, list))


class Good(Counting):
    """Stays with text."""

    observation_space = Either()


class Broken(Good):
    """Changes the kind of observation within an episode."""

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info:
            return [{"role": "user", "content": obs}], reward, terminated, truncated, info
        return obs, reward, terminated, truncated, info
