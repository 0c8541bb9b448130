"""Begins with text, and answers unreadable text with a list of messages."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "observation_in_space"


class Good(Counting):
    """Stays with text."""


class Broken(Counting):
    """Changes the kind of observation, in a space that holds both."""

    observation_space = OneOf([Text(), Messages()])

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        if "invalid_action" in info:
            obs = [{"role": "user", "content": obs}]
        return obs, reward, terminated, truncated, info
