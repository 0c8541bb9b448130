"""Makes text of an action with `str`, which shows a message as Python does."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "message_plays_as_its_text"


class Good(Counting):
    """Takes the message's text."""


class Broken(Counting):
    """Takes its repr."""

    def step(self, action: Any) -> Any:
        return super().step(str(action))
