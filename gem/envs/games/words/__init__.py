"""Word lists: common and rarer English words from SCOWL (sizes 10 and 20, and 35), whose licence is `COPYING` beside them.

Lower case, a to z, 3 to 10 letters, nothing offensive.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Literal

__all__ = ["words"]


@lru_cache(maxsize=2)
def _all(level: str) -> tuple[str, ...]:
    return tuple(files(__package__).joinpath(f"{level}.txt").read_text("ascii").split())


@lru_cache(maxsize=64)
def words(length: int, level: Literal["common", "rare"] = "common") -> tuple[str, ...]:
    """Return all words of `length` letters, in alphabetical order."""
    return tuple(word for word in _all(level) if len(word) == length)
