"""Tells a digest of the answer's bytes, which half a surrogate pair does not have."""

from __future__ import annotations

import zlib
from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "survives_any_text"


class Good(Counting):
    """Replaces what has none."""

    errors = "replace"

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        info["digest"] = zlib.crc32(message_text(action).encode(errors=self.errors))
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Takes it for granted."""

    errors = "strict"
