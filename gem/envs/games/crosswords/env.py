"""Crosswords: fill a small crossword letter by letter."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.crosswords.clues import entries
from gem.envs.games.crosswords.layout import MAX_WORDS, Placed, lay_out, least_letters
from gem.envs.games.moves import clean, integers

__all__ = ["Crosswords"]

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# A letter that stands alone at the end, after the row and the column.
_LETTER = re.compile(r"(?s)(.*(?<![A-Za-z]))([A-Za-z])[\s)\]}>'\"`.,;:!]*")


class Crosswords(Game):
    """Each turn puts one letter into a crossword of `num_words` words; `hardcore` takes rarer and longer words.

    Rows and columns count from 0. A crossword never has more letters than there are turns.

    Reward: `1 / letters` for each right letter; a wrong one costs the turn.
    """

    FORMAT = "Write row, column and letter in \\boxed{}, such as \\boxed{2 0 E}."
    VARIANTS = tuple({"hardcore": hardcore, "max_turns": 20, "num_words": 3} for hardcore in (False, True))

    def __init__(self, hardcore: bool = False, max_turns: int = 100, num_words: int = 5, is_random: bool = False) -> None:
        self.configure(hardcore, max_turns, num_words)
        self.is_random = is_random
        self._words: tuple[Placed, ...] = ()
        self._open: dict[tuple[int, int], str] = {}
        self._marks: list[list[str]] = []
        self._lines: list[str] = []
        self._clues = ""
        self._share = 0.0

    def configure(self, hardcore: bool, max_turns: int, num_words: int) -> None:
        """Set the word list, the turn limit and the number of words."""
        if not 1 <= num_words <= MAX_WORDS:
            self.bad_parameter(f"num_words must be 1 to {MAX_WORDS}, not {num_words}")
        least = least_letters(entries(hardcore), num_words)
        if max_turns < least:
            self.bad_parameter(f"{num_words} words have {least} letters at least, one per turn: raise max_turns ({max_turns}) to {least}")
        self.hardcore, self.max_turns, self.num_words = hardcore, max_turns, num_words

    def deal(self, rng: random.Random) -> None:
        """Cross the words."""
        self._words = lay_out(entries(self.hardcore), self.num_words, self.max_turns, rng, self._accepts)
        letters = {(row, col): letter.upper() for word in self._words for row, col, letter in word.cells()}
        self._open = dict(sorted(letters.items()))
        self._share = 1 / len(letters)
        rows, cols = (1 + max(axis) for axis in zip(*letters, strict=True))
        self._marks = [["_" if (row, col) in letters else "." for col in range(cols)] for row in range(rows)]
        head = " " * len(str(rows - 1)) + " " + self._line([str(col) for col in range(cols)])
        self._lines = [head, *(self._numbered(row) for row in range(rows))]
        self._clues = _clue_text(self._words)

    def _accepts(self, words: Sequence[str]) -> bool:
        # Split by the words, not by the grid: a crossword of the test split shares no set of words with one of train.
        return self.in_split(" ".join(sorted(words)))

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"Solve this crossword of {self.num_words} words: one letter per turn, at most {self.max_turns} turns. In the grid _ is a cell "
            "to fill and . is no cell; rows and columns are numbered from 0. Each clue names the cell of the first letter. Words "
            "across run to the right, words down run downwards. A right letter stays in the grid, a wrong one costs the turn. "
            f"You win when all cells are filled.\n{self.FORMAT} It puts E into row 2, column 0."
        )

    def board(self) -> str:
        """Return the turns left, the grid and the clues."""
        grid = "\n".join(self._lines)
        return f"Turns left: {self.max_turns - self.turn}. Letters left: {len(self._open)}.\n\n{grid}\n\n{self._clues}"

    def play(self, move: str) -> Played:
        """Put a letter into a cell."""
        row, col, letter = _read(move)
        wanted = self._open.get((row, col))
        if wanted is None:
            raise Illegal(self._why_not(row, col))
        if letter != wanted:
            return f"{letter} is wrong in row {row}, column {col}.", 0.0, None
        del self._open[row, col]
        self._marks[row][col] = letter
        self._lines[row + 1] = self._numbered(row)
        if not self._open:
            return f"{letter} is right. You have solved the crossword.", self._share, True
        return f"{letter} is right in row {row}, column {col}.", self._share, None

    def _why_not(self, row: int, col: int) -> str:
        rows, cols = len(self._marks), len(self._marks[0])
        if not (0 <= row < rows and 0 <= col < cols):
            return f"Row {row}, column {col} is outside the grid: rows are 0 to {rows - 1}, columns 0 to {cols - 1}."
        if self._marks[row][col] == ".":
            return f"Row {row}, column {col} is no cell to fill."
        return f"Row {row}, column {col} is filled already."

    def gold(self) -> Any:
        """Return the words with their first cells."""
        return [{"word": w.entry.word, "row": w.row, "col": w.col, "direction": "down" if w.down else "across"} for w in self._words]

    def random_move(self, rng: random.Random) -> str:
        """Return any letter for any cell that is not filled."""
        cells = list(self._open)
        row, col = cells[int(rng.random() * len(cells))]
        return f"{row} {col} {_ALPHABET[int(rng.random() * 26)]}"

    def best_move(self, rng: random.Random) -> str | None:
        """Return the first missing letter, or None where too few turns are left for all."""
        if len(self._open) > self.max_turns - self.turn:
            return None
        return next((f"{row} {col} {letter}" for (row, col), letter in self._open.items()), None)

    def _numbered(self, row: int) -> str:
        return f"{row:>{len(str(len(self._marks) - 1))}} {self._line(self._marks[row])}"

    def _line(self, cells: Sequence[str]) -> str:
        width = len(str(len(cells) - 1))
        return " ".join(f"{cell:>{width}}" for cell in cells)


def _read(move: str) -> tuple[int, int, str]:
    # Most moves are bare; the rest is read with patience.
    parts = move.split() if len(move) < 12 else []
    if len(parts) == 3 and parts[0].isdecimal() and parts[1].isdecimal() and len(parts[2]) == 1:
        row, col, letter = int(parts[0]), int(parts[1]), parts[2]
    else:
        match = _LETTER.fullmatch(clean(move))
        cell = integers(match[1], 2) if match else None
        if match is None or cell is None:
            raise Unreadable("the box does not hold a row, a column and one letter")
        row, col, letter = *cell, match[2]
    if not (letter.isascii() and letter.isalpha()):
        raise Unreadable("the box does not hold a letter from A to Z after the row and the column")
    return row, col, letter.upper()


def _clue_text(words: Sequence[Placed]) -> str:
    lines = []
    for name, down in (("Across", False), ("Down", True)):
        listed = [f"  row {w.row}, column {w.col}, {len(w.entry.word)} letters: {w.entry.clue}" for w in words if w.down == down]
        lines += [f"{name}:", *listed] if listed else []
    return "\n".join(lines)
