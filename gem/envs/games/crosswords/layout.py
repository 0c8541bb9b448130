"""Crosses words: each word meets another, and no two letters touch that are not of one word.

`lay_out` adds words at random where they fit. Its tries are bounded; where all of them fail, `staircase` builds a crossword that
always exists. Knows nothing of the game.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gem.envs.games.crosswords.clues import Entry

__all__ = ["MAX_WORDS", "Accepts", "Placed", "lay_out", "least_letters", "staircase"]

MAX_WORDS = 10  # the tests build every staircase up to here
_TRIES = 3
_DRAWS = 40  # words that are tried for one place

# A cell is one number, so that a step in either direction is one addition.
_STRIDE = 1024
_ACROSS, _DOWN = 1, _STRIDE
_ORIGIN = 512 * _STRIDE + 512

# Says whether a crossword may consist of these words.
Accepts = Callable[[Sequence[str]], bool]


class Placed(NamedTuple):
    """A word in the grid; row and column of its first letter count from 0."""

    entry: Entry
    row: int
    col: int
    down: bool

    def cells(self) -> Iterator[tuple[int, int, str]]:
        """Yield row, column and letter of each of its cells."""
        for k, letter in enumerate(self.entry.word):
            yield (self.row + k, self.col, letter) if self.down else (self.row, self.col + k, letter)


class _Layout:
    """A crossword that grows."""

    def __init__(self) -> None:
        self.letters: dict[int, str] = {}
        self.taken: dict[int, set[int]] = {_ACROSS: set(), _DOWN: set()}
        self.words: list[tuple[Entry, int, int]] = []

    def fits(self, word: str, start: int, step: int) -> bool:
        """Say whether a word can stand here without touching letters that it does not share."""
        letters, own, side = self.letters, self.taken[step], _ACROSS + _DOWN - step
        if start - step in letters or start + len(word) * step in letters:
            return False
        cell = start
        for letter in word:
            there = letters.get(cell)
            if there is None:
                if cell - side in letters or cell + side in letters:
                    return False
            elif there != letter or cell in own:
                return False
            cell += step
        return True

    def places(self, word: str) -> list[tuple[int, int]]:
        """Return start and step of all places where a word crosses the others."""
        across, down = self.taken[_ACROSS], self.taken[_DOWN]
        found = []
        for cell, there in self.letters.items():
            if there not in word or (cell in across and cell in down):
                continue
            step = _DOWN if cell in across else _ACROSS
            for k, letter in enumerate(word):
                if letter == there and self.fits(word, cell - k * step, step):
                    found.append((cell - k * step, step))
        return found

    def put(self, entry: Entry, start: int, step: int) -> None:
        """Write a word where it fits."""
        cells = range(start, start + len(entry.word) * step, step)
        self.letters.update(zip(cells, entry.word, strict=True))
        self.taken[step].update(cells)
        self.words.append((entry, start, step))

    def placed(self) -> tuple[Placed, ...]:
        """Return the words in a grid without empty margins: across first, each from the top left."""
        top = min(self.letters) // _STRIDE
        left = min(cell % _STRIDE for cell in self.letters)
        found = (Placed(entry, start // _STRIDE - top, start % _STRIDE - left, step == _DOWN) for entry, start, step in self.words)
        return tuple(sorted(found, key=lambda word: (word.down, word.row, word.col)))


def least_letters(words: Sequence[Entry], num_words: int) -> int:
    """Return how few letters a staircase of so many words has."""
    return (len(words[0].word) - 1) * num_words + 1


def lay_out(words: Sequence[Entry], num_words: int, max_letters: int, rng: random.Random, accepts: Accepts) -> tuple[Placed, ...]:
    """Cross `num_words` words drawn from `rng`.

    Args:
        words: To draw from, short words first.
        num_words: At most `MAX_WORDS`.
        max_letters: The most cells to fill; `least_letters` or more.
        rng: The only source of chance.
        accepts: What it refuses is not dealt.
    """
    for _ in range(_TRIES):
        layout = _Layout()
        if all(_add(layout, words, num_words, max_letters, rng, accepts) for _ in range(num_words)):
            return layout.placed()
    return staircase(words, num_words, rng, accepts)


def _add(layout: _Layout, words: Sequence[Entry], num_words: int, max_letters: int, rng: random.Random, accepts: Accepts) -> bool:
    """Add one word and leave letters enough for the rest; False where none of the drawn words will do."""
    rest = num_words - len(layout.words) - 1
    room = max_letters - len(layout.letters) - rest * (len(words[0].word) - 1)
    longest = room + bool(layout.words)  # a crossing saves a letter
    fitting = bisect_right(words, longest, key=lambda entry: len(entry.word))
    used = [entry.word for entry, _, _ in layout.words]
    for _ in range(_DRAWS):
        entry = words[int(rng.random() * fitting)]
        if entry.word in used or (rest == 0 and not accepts([*used, entry.word])):
            continue
        places = layout.places(entry.word) if used else [(_ORIGIN, _ACROSS), (_ORIGIN, _DOWN)]
        if places:
            layout.put(entry, *places[int(rng.random() * len(places))])
            return True
    return False


def staircase(words: Sequence[Entry], num_words: int, rng: random.Random, accepts: Accepts) -> tuple[Placed, ...]:
    """Cross the shortest words so that each begins with the last letter of the one before, across and down in turn.

    No two stairs touch, since the words have three letters or more; so this needs only a chain of words, and there is one.
    """
    short = [entry for entry in words if len(entry.word) == len(words[0].word)]
    first = int(rng.random() * len(short))
    chains = (chain for entry in short[first:] + short[:first] for chain in _chains([entry], short, num_words))
    chain = next(chain for chain in chains if accepts([entry.word for entry in chain]))
    layout, cell = _Layout(), _ORIGIN
    for k, entry in enumerate(chain):
        step = _DOWN if k % 2 else _ACROSS
        layout.put(entry, cell, step)
        cell += (len(entry.word) - 1) * step
    return layout.placed()


def _chains(chain: list[Entry], short: Sequence[Entry], num_words: int) -> Iterator[list[Entry]]:
    if len(chain) == num_words:
        yield chain
        return
    for entry in short:
        if entry.word[0] == chain[-1].word[-1] and entry not in chain:
            yield from _chains([*chain, entry], short, num_words)
