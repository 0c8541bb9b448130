"""Names the character that is no digit: control characters have no name."""

from __future__ import annotations

import unicodedata
from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "survives_any_text"


class Good(Counting):
    """Has a word for those that have no name."""

    default: tuple[str, ...] = ("a character without a name",)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        odd = [char for char in message_text(action) if not char.isdigit()]
        if odd:
            obs = f"There is {unicodedata.name(odd[0], *self.default)} in your answer. {obs}"
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Has none."""

    default = ()
