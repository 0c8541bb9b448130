"""The words of the crosswords and their clues: `easy.tsv` and `hard.tsv`, a word and its clue per line."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Entry", "entries"]


class Entry(NamedTuple):
    """A word in lower case and its clue."""

    word: str
    clue: str


@lru_cache(maxsize=2)
def entries(hardcore: bool) -> tuple[Entry, ...]:
    """Return the words of a level with their clues, short words first."""
    text = files(__package__).joinpath("hard.tsv" if hardcore else "easy.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return tuple(sorted((Entry(word, clue) for word, clue in rows), key=lambda entry: (len(entry.word), entry.word)))
