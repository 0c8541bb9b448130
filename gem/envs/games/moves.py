"""Moves out of a player's box: forgiving about how they are written, strict about what they mean.

Each function returns None where the text does not say a move of its kind; a game then knows that it could not be read.
"""

from __future__ import annotations

import re

__all__ = ["clean", "direction", "integers", "word"]

_MAX_MOVE = 200
# A dash right after a digit parts two numbers (`1,2-1,6`); elsewhere it is a sign. Text is cut to 200 characters before.
_INTEGER = re.compile(r"(?:(?<!\d)[+-])?\d+")
_MARKUP = re.compile(r"\\(?:text|math)?(?:bf|tt|rm|it|sf|cal|up|normal|operatorname)?\s*\{([^{}]*)\}")
# TeX's spaces, and the words that size brackets: a box is in math mode, where models write them.
_SPACES = re.compile(r"\\(?:[,;:! ]|q?quad(?![a-z])|left(?![a-z])|right(?![a-z])|thinspace)|~")
_MARKUP_DEPTH = 4
# What may stand between or around numbers: separators, brackets and labels such as "row 2, col 3".
_BETWEEN = re.compile(r"[\s,;:|/()\[\]{}<>.$'\"`=-]*")
_LABELS = re.compile(
    r"(?:rows?|columns?|cols?|r|c|number|num|n|value|val|v|letter|from|to|and|cell|start|end)(?=[\s:=\d]|$)", re.IGNORECASE
)
_DIRECTIONS = {"up": "up", "down": "down", "left": "left", "right": "right", "u": "up", "d": "down", "l": "left", "r": "right"}


def clean(move: str) -> str:
    r"""Return the content of a box without TeX's text commands, quotes, and white space around it; long text is cut."""
    if len(move) > _MAX_MOVE:
        move = move[:_MAX_MOVE]
    if "\\" in move or "~" in move:
        move = _SPACES.sub(" ", move)
        for _ in range(_MARKUP_DEPTH):
            move = _MARKUP.sub(r"\1", move)
    return move.strip(" \t\r\n\"'`*_$.")


def integers(move: str, count: int | None = None) -> list[int] | None:
    """Return the whole numbers that `move` consists of, such as `2 3`, `(2, 3)` or `row 2, col 3`.

    None where there is anything else in it, or not `count` numbers.
    """
    text = _LABELS.sub(" ", clean(move))
    found: list[int] = []
    at = 0
    for match in _INTEGER.finditer(text):
        if not _BETWEEN.fullmatch(text, at, match.start()):
            return None
        found.append(int(match[0]))
        at = match.end()
    if not found or not _BETWEEN.fullmatch(text, at) or (count is not None and len(found) != count):
        return None
    return found


def direction(move: str) -> str | None:
    """Return `up`, `down`, `left` or `right`, in any case, for a word or its first letter."""
    return _DIRECTIONS.get(clean(move).strip("()[]{}<> ").lower())


def word(move: str) -> str | None:
    """Return the letters that `move` consists of in lower case, whatever separates them: `C A T`, `c-a-t`, `Cat`."""
    letters = re.sub(r"[\s,.\-_|]", "", clean(move)).lower()
    return letters if letters.isascii() and letters.isalpha() else None
