"""Titles and prose: when two titles are the same, where a sentence ends, and the beginning of a text."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

from gem.envs.games.moves import clean

__all__ = ["UNITS", "Unit", "key", "lead", "shorten", "title_in"]

Unit: TypeAlias = Literal["characters", "words", "sentences"]
UNITS: tuple[Unit, ...] = ("characters", "words", "sentences")

_LEAD = 60
_TYPED = str.maketrans({"_": " ", "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-"})
_AROUND = " \"'`*$.-•"
_ESCAPED = re.compile(r"\\([_&%#$ ])")
_WIKILINK = re.compile(r"\[\[(.*?)(?:\|.*)?\]\]", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?]['\"’”)\]]*\s+(?=['\"‘“(\[]*[A-Z0-9])")
# What stands before a full stop that ends no sentence.
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Rev|Capt|Col|Gen|No|vs|etc|approx|ca|c|e\.g|i\.e)|\b[A-Z])$")


def title_in(move: str) -> str:
    """Return the title that a player wrote: without TeX, quotes and `[[...|shown]]` around it."""
    text = clean(_ESCAPED.sub(r"\1", move))
    linked = _WIKILINK.fullmatch(text)
    return (linked[1] if linked else text).strip()


def key(title: str) -> str:
    """Return what equal titles have in common, however they were typed: case, spaces, underscores, quotes and dashes."""
    text = unicodedata.normalize("NFKC", title).translate(_TYPED)
    return " ".join(text.split()).strip(_AROUND).casefold()


def lead(text: str) -> str:
    """Return the first sentence of `text`, and those after it as long as they are short."""
    for end in _ends(text):
        if end >= _LEAD:
            return " ".join(text[:end].split())
    return " ".join(text.split())


def shorten(text: str, count: int, unit: Unit) -> str:
    """Return the first `count` characters, words or sentences of `text`; dots follow where there is more."""
    end = len(text)
    if unit == "characters":
        end = count
    elif unit == "words":
        end = _nth([match.end() for match in re.finditer(r"\S+", text)], count, end)
    else:
        end = _nth(_ends(text), count, end)
    return text if end >= len(text) else f"{text[:end].rstrip()} ...".lstrip()


def _nth(ends: list[int], count: int, otherwise: int) -> int:
    if count == 0:
        return 0
    return ends[count - 1] if count <= len(ends) else otherwise


def _ends(text: str) -> list[int]:
    found = []
    for match in _SENTENCE_END.finditer(text):
        if not _ABBREVIATED.search(text, max(0, match.start() - 8), match.start()):
            found.append(match.end())
    return [*found, len(text)]
