"""Asks `isdigit` and then reads with `int`, which takes fewer: not superscripts, not 5,000 digits."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "survives_any_text"


class Good(Counting):
    """Reads what `int` takes."""

    def step(self, action: Any) -> Any:
        text = message_text(action).strip()
        fits = text.isascii() and text.isdigit() and len(text) < 12
        return super().step(str(int(text)) if fits else text)


class Broken(Counting):
    """Reads what `isdigit` takes."""

    def step(self, action: Any) -> Any:
        text = message_text(action).strip()
        return super().step(str(int(text)) if text.isdigit() else text)
