"""Calls text methods on an action that may be a chat message."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "message_plays_as_its_text"


class Good(Counting):
    """Takes the text first."""

    def step(self, action: Any) -> Any:
        return super().step(message_text(action).removesuffix("."))


class Broken(Counting):
    """Takes it for text."""

    def step(self, action: Any) -> Any:
        return super().step(action.removesuffix("."))
