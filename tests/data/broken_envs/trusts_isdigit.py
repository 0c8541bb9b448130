"""Takes what `str.isdigit` accepts for a number, which `int` does not read."""

from __future__ import annotations

from typing import Any

from gem.parsing import last_boxed, message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "survives_any_text"


class Good(Counting):
    """Reads decimals alone."""


class Broken(Counting):
    """Stumbles over a superscript in a box."""

    def step(self, action: Any) -> Any:
        box = last_boxed(message_text(action))
        if box is not None and box.isdigit():
            int(box)
        return super().step(action)
