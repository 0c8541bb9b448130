"""Guesses made of letters, as a player writes them: bare, spaced, in brackets, or after a label."""

from __future__ import annotations

import re

from gem.envs.games.moves import clean, word

__all__ = ["spelled"]

_LABEL = re.compile(r"\A(?:guess|letter|word)(?:\s*[:=]\s*|\s+)(?=\S)", re.IGNORECASE)
_BRACKETS = str.maketrans("", "", "[](){}<>\"'")


def spelled(move: str) -> str | None:
    """Return the letters that `move` spells in lower case: `crane`, `[C] [R] [A] [N] [E]`, `word: crane`; None for anything else."""
    if move.isalpha() and move.isascii():
        return move.lower()
    return word(_LABEL.sub("", clean(move).lstrip("[({<")).translate(_BRACKETS))
