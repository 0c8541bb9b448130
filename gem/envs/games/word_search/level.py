"""What the levels of the word search are made of: words, size, directions, and what no other word may be in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gem.envs.games.words import words

__all__ = ["MAX_WORDS", "Level", "level"]

MAX_WORDS = 10


@dataclass(frozen=True)
class Level:
    """A level.

    Attributes:
        pools: The words to hide, by length.
        size: Rows and columns of the grid; at least two per word and as many as the longest word has letters.
        steps: Row and column steps of the directions that words run in.
        listed: Whether the player sees the words. Where not, no other word of the dictionary may stand in the grid in a length that
            is asked for: the player could not know that it is not meant.
    """

    pools: dict[int, tuple[str, ...]]
    size: int
    steps: tuple[tuple[int, int], ...]
    listed: bool

    def decoys(self, hidden: Sequence[str]) -> frozenset[str]:
        """Return what may stand in the grid only where it is hidden, as it reads in either direction."""
        return _both_ways(hidden) if self.listed else dictionary()


@lru_cache(maxsize=1)
def dictionary() -> frozenset[str]:
    """Return all words of the lengths that a hard grid hides, as they read in either direction."""
    return _both_ways([word for length in range(5, 10) for kind in ("common", "rare") for word in words(length, kind)])


def _both_ways(found: Sequence[str]) -> frozenset[str]:
    return frozenset([*found, *(word[::-1] for word in found)])


@lru_cache(maxsize=64)
def level(hardcore: bool, num_words: int) -> Level:
    """Return the level of a grid with so many words."""
    if not hardcore:
        return Level(_pools(range(4, 8), "common"), max(8, 2 * num_words), ((0, 1), (1, 0)), listed=True)
    dictionary()  # built here, so that no reset waits for it
    steps = tuple((dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc)
    return Level(_pools(range(5, 10), "rare"), max(12, 2 * num_words + 4), steps, listed=False)


def _pools(lengths: range, kind: Literal["common", "rare"]) -> dict[int, tuple[str, ...]]:
    # A palindrome would read as itself twice.
    return {length: tuple(word for word in words(length, kind) if word != word[::-1]) for length in lengths}
