"""Looks at the first word of a text that may have none."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "survives_any_text"


class Good(Counting):
    """Looks at what there is."""

    def step(self, action: Any) -> Any:
        words = message_text(action).split()
        return super().step("".join(words[:1]))


class Broken(Counting):
    """Takes it for granted."""

    def step(self, action: Any) -> Any:
        return super().step(message_text(action).split()[0])
