"""WordSearch: find the words that are hidden in a grid of letters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import integers
from gem.envs.games.word_search.grid import Hidden, hide, random_span
from gem.envs.games.word_search.level import MAX_WORDS, level

__all__ = ["WordSearch"]


class WordSearch(Game):
    """Each turn marks one run of letters in a grid that hides `num_words` words, each exactly once.

    Easy: common words of 4 to 7 letters, to the right and downwards; the player sees the list. Hard (`hardcore`): rarer words of 5
    to 9 letters in all eight directions of a larger grid; the player sees only how many letters each has, and no other word of
    the dictionary stands in the grid in one of these lengths, so that every such word that is found is a right one.

    Rows and columns count from 0. Reward: `1 / num_words` for each word.
    """

    FORMAT = "Write row and column of a word's two ends in \\boxed{}, such as \\boxed{1 2 1 6}."
    VARIANTS = tuple({"hardcore": hardcore, "max_turns": 20, "num_words": 5} for hardcore in (False, True))

    def __init__(self, num_words: int = 5, max_turns: int = 20, hardcore: bool = False, is_random: bool = False) -> None:
        if is_random:  # its word lists are read here, so that no reset waits for them
            for variant in self.VARIANTS:
                self.configure(**variant)
        self.configure(num_words, max_turns, hardcore)
        self.is_random = is_random
        self._hidden: tuple[Hidden, ...] = ()
        self._left: dict[tuple[int, int], Hidden] = {}
        self._rows: list[list[str]] = []
        self._lines: list[str] = []
        self._listing = ""

    def configure(self, num_words: int, max_turns: int, hardcore: bool) -> None:
        """Set the number of words, the turn limit and the level."""
        if not 1 <= num_words <= MAX_WORDS:
            self.bad_parameter(f"num_words must be 1 to {MAX_WORDS}, not {num_words}")
        if max_turns < num_words:
            self.bad_parameter(f"{num_words} words take a turn each: raise max_turns ({max_turns}) to {num_words}")
        self.num_words, self.max_turns, self.hardcore = num_words, max_turns, hardcore
        self._size = level(hardcore, num_words).size

    def deal(self, rng: random.Random) -> None:
        """Hide the words."""
        puzzle = hide(level(self.hardcore, self.num_words), self.num_words, rng, self._accepts)
        size = self._size
        self._hidden = puzzle.hidden
        self._left = {one.span: one for one in puzzle.hidden}
        self._rows = [list(puzzle.letters[k : k + size]) for k in range(0, size * size, size)]
        self._lines = [f"   {_line([str(col) for col in range(size)])}", *(self._numbered(row) for row in range(size))]
        self._listing = self._list()

    def _accepts(self, words: Sequence[str]) -> bool:
        # Split by the words: no grid of the test split hides the same ones as a grid of train.
        return self.in_split(" ".join(sorted(words)))

    def rules(self) -> str:
        """Return the rules."""
        if self.hardcore:
            how = "They run in any of the eight directions, diagonals and backwards included. I tell you only how many letters each has."
        else:
            how = "They run to the right or downwards."
        return (
            f"Find the {self.num_words} English words that are hidden in this grid, in at most {self.max_turns} turns. {how} Each turn, "
            "mark one word by its first and last letter, in either order; rows and columns are numbered from 0. Words that you have "
            f"found are in capitals. You win when all are found.\n{self.FORMAT} It marks row 1 from column 2 to column 6."
        )

    def board(self) -> str:
        """Return the turns left, the grid, and the words or their lengths."""
        grid = "\n".join(self._lines)
        return f"Turns left: {self.max_turns - self.turn}. {self._listing}\n\n{grid}"

    def play(self, move: str) -> Played:
        """Mark a run of letters."""
        row, col, end_row, end_col = _read(move)
        size = self._size
        if not (0 <= row < size and 0 <= col < size and 0 <= end_row < size and 0 <= end_col < size):
            raise Illegal(f"That is outside the grid: rows and columns are 0 to {size - 1}.")
        start, end = row * size + col, end_row * size + end_col
        span = (start, end) if start < end else (end, start)
        found = self._left.get(span)
        if found is None:
            self._check(row - end_row, col - end_col, span)
            return "No hidden word has these two ends.", 0.0, None
        del self._left[span]
        self._mark(found)
        word = found.word.upper()
        if not self._left:
            return f"{word} is right. You have found all words.", 1 / self.num_words, True
        return f"{word} is right.", 1 / self.num_words, None

    def _check(self, rows: int, cols: int, span: tuple[int, int]) -> None:
        if rows and cols and not self.hardcore:
            raise Illegal("Words run along a row or a column here.")
        if rows and cols and abs(rows) != abs(cols):
            raise Illegal("Words run along a row, a column or a diagonal.")
        for one in self._hidden:
            if one.span == span:
                raise Illegal(f"You have found {one.word.upper()} before.")

    def _mark(self, found: Hidden) -> None:
        for cell, letter in zip(found.cells(), found.word.upper(), strict=True):
            row, col = divmod(cell, self._size)
            self._rows[row][col] = letter
            self._lines[row + 1] = self._numbered(row)
        self._listing = self._list()

    def _list(self) -> str:
        left = list(self._left.values())
        if self.hardcore:
            what = f"their letters: {', '.join(str(n) for n in sorted(len(one.word) for one in left))}"
        else:
            what = ", ".join(sorted(one.word for one in left))
        return f"Words left: {len(left)} of {self.num_words} ({what})."

    def gold(self) -> Any:
        """Return the words with their first and last cells, row and column."""
        return [
            {"word": one.word, "start": [*divmod(one.start, self._size)], "end": [*divmod(one.end, self._size)]} for one in self._hidden
        ]

    def random_move(self, rng: random.Random) -> str:
        """Return any run in a direction and length that a missing word may have."""
        left = list(self._left.values())
        length = len(left[int(rng.random() * len(left))].word)
        start, step = random_span(length, level(self.hardcore, self.num_words), rng)
        return self._ends(start, start + step * (length - 1))

    def best_move(self, rng: random.Random) -> str | None:
        """Return the ends of a missing word, or None where too few turns are left for all."""
        if len(self._left) > self.max_turns - self.turn:
            return None
        return next((self._ends(one.start, one.end) for one in self._left.values()), None)

    def _ends(self, start: int, end: int) -> str:
        size = self._size
        return f"{start // size} {start % size} {end // size} {end % size}"

    def _numbered(self, row: int) -> str:
        return f"{row:>2} {_line(self._rows[row])}"


def _line(cells: Sequence[str]) -> str:
    width = len(str(len(cells) - 1))
    return " ".join(f"{cell:>{width}}" for cell in cells)


def _read(move: str) -> list[int]:
    # Most moves are bare numbers; the rest is read with patience.
    parts = move.split() if len(move) < 20 else []
    if len(parts) == 4 and all(part.isdecimal() for part in parts):
        return [int(part) for part in parts]
    ends = integers(move, 4)
    if ends is None:
        raise Unreadable("the box does not hold the row and column of two cells")
    return ends
