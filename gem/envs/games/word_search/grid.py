"""Hides words in a grid of letters, each exactly once.

`hide` draws words and places, fills up with letters, and mends what reads as a second copy or as a decoy. Its tries are bounded;
where all of them fail, `plain` builds a grid that always exists. Knows nothing of the game.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from gem.envs.games.word_search.level import Level

__all__ = ["Accepts", "Hidden", "Puzzle", "hide", "plain", "random_span", "readings"]

_TRIES = 3
_MENDS = 8
_PLACES = 100
# About as often as in English text, so that hidden words do not stand out by their letters.
_FILLER = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssssrrrrrrhhhhhhddddllllcccuuummmwwffggyyppbbvkjxqz"
# In all word lists each q is followed by u, and no "quq" occurs; the tests see to that.
_NO_WORD = "q"
_STRIDE = 1009  # a prime that divides no pool, so that strides visit every word

# Says whether a puzzle may consist of these words.
Accepts = Callable[[Sequence[str]], bool]


class Hidden(NamedTuple):
    """A word in the grid, from its first cell to its last; a cell is `row * size + column`."""

    word: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Its ends in the order of the cells: the same for whoever marks it from either side."""
        return (self.start, self.end) if self.start < self.end else (self.end, self.start)

    def cells(self) -> range:
        """Return its cells, first letter first."""
        step = (self.end - self.start) // (len(self.word) - 1)
        return range(self.start, self.end + (1 if step > 0 else -1), step)


class Puzzle(NamedTuple):
    """A full grid, row by row in lower case, and what it hides."""

    letters: str
    hidden: tuple[Hidden, ...]


class _Line(NamedTuple):
    cells: tuple[int, ...]
    read: Callable[[Sequence[str]], Any]


@lru_cache(maxsize=32)
def _lines(size: int) -> tuple[_Line, ...]:
    """Return all rows, columns and diagonals of three cells or more; cells ascend along each."""
    walks = [[(k, col) for col in range(size)] for k in range(size)] + [[(row, k) for row in range(size)] for k in range(size)]
    walks += [[(row, row + k) for row in range(size) if 0 <= row + k < size] for k in range(1 - size, size)]
    walks += [[(row, k - row) for row in range(size) if 0 <= k - row < size] for k in range(2 * size - 1)]
    cells = [tuple(row * size + col for row, col in walk) for walk in walks if len(walk) > 2]
    return tuple(_Line(line, itemgetter(*line)) for line in cells)


def readings(letters: Sequence[str], size: int, lengths: Sequence[int], decoys: frozenset[str]) -> Iterator[tuple[int, ...]]:
    """Yield the cells of every straight run of letters that is among `decoys`, in ascending order.

    Args:
        letters: The grid, one letter per cell.
        size: Its rows and columns.
        lengths: Of the runs to look at, each once.
        decoys: In both directions of reading.
    """
    for line in _lines(size):
        text = "".join(line.read(letters))
        for length in lengths:
            for k in range(len(text) - length + 1):
                if text[k : k + length] in decoys:
                    yield line.cells[k : k + length]


def hide(level: Level, num_words: int, rng: random.Random, accepts: Accepts) -> Puzzle:
    """Make a puzzle from `rng` whose words `accepts` lets pass."""
    for _ in range(_TRIES):
        found = _draw(level, num_words, rng, accepts)
        hidden = _place(found, level, rng) if found else None
        puzzle = _fill(hidden, level, rng) if hidden else None
        if puzzle is not None:
            return puzzle
    return plain(level, num_words, rng, accepts)


def _draw(level: Level, num_words: int, rng: random.Random, accepts: Accepts) -> list[str] | None:
    """Draw words, the longest first, in none of which another word of the grid or a decoy stands."""
    shortest = min(level.pools)
    wanted = sorted((shortest + int(rng.random() * len(level.pools)) for _ in range(num_words)), reverse=True)
    lengths = sorted(set(wanted))
    found: list[str] = []
    for length in wanted:
        is_last = len(found) == num_words - 1
        for word in _shuffled(level.pools[length], rng):
            drawn = [*found, word]
            if not {word, word[::-1]}.intersection(found) and (not is_last or accepts(drawn)) and _is_clear(drawn, lengths, level):
                found = drawn
                break
        else:
            return None
    return found


def _shuffled(pool: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield all words of a pool, each once, from a random place on; cheaper than a shuffle where few are looked at."""
    at = int(rng.random() * len(pool))
    for _ in pool:
        yield pool[at]
        at = (at + _STRIDE) % len(pool)


def _is_clear(found: Sequence[str], lengths: Sequence[int], level: Level) -> bool:
    decoys = level.decoys(found)
    # A static dictionary has judged the earlier words already; a list of the hidden words grows with each.
    return not any(inner in decoys for word in (found if level.listed else found[-1:]) for inner in _inner(word, lengths))


def _inner(word: str, lengths: Sequence[int]) -> Iterator[str]:
    """Yield the shorter parts of a word."""
    for length in lengths:
        if length < len(word):
            for k in range(len(word) - length + 1):
                yield word[k : k + length]


def _place(found: Sequence[str], level: Level, rng: random.Random) -> list[Hidden] | None:
    """Put words where they fit, crossing where letters agree."""
    letters: dict[int, str] = {}
    hidden = []
    for word in found:
        for _ in range(_PLACES):
            start, step = random_span(len(word), level, rng)
            cells = range(start, start + step * len(word), step)
            if all(letters.get(cell, letter) == letter for cell, letter in zip(cells, word, strict=True)):
                letters.update(zip(cells, word, strict=True))
                hidden.append(Hidden(word, start, start + step * (len(word) - 1)))
                break
        else:
            return None
    return hidden


def random_span(length: int, level: Level, rng: random.Random) -> tuple[int, int]:
    """Return a cell and a step from which `length` cells lie in the grid."""
    dr, dc = level.steps[int(rng.random() * len(level.steps))]
    row, col = (_random_start(d, length, level.size, rng) for d in (dr, dc))
    return row * level.size + col, dr * level.size + dc


def _random_start(step: int, length: int, size: int, rng: random.Random) -> int:
    if step == 0:
        return int(rng.random() * size)
    start = int(rng.random() * (size - length + 1))
    return start if step > 0 else start + length - 1


def _fill(hidden: Sequence[Hidden], level: Level, rng: random.Random) -> Puzzle | None:
    """Fill the free cells; None where a decoy has none in it that could be changed."""
    letters = [_filler(rng) for _ in range(level.size**2)]
    fixed = {cell: letter for one in hidden for cell, letter in zip(one.cells(), one.word, strict=True)}
    for cell, letter in fixed.items():
        letters[cell] = letter
    decoys = level.decoys([one.word for one in hidden])
    lengths = sorted({len(one.word) for one in hidden})
    spans = {one.span for one in hidden}
    for _ in range(_MENDS):
        surplus = [cells for cells in readings(letters, level.size, lengths, decoys) if (cells[0], cells[-1]) not in spans]
        if not surplus:
            return Puzzle("".join(letters), tuple(hidden))
        for cells in surplus:
            free = [cell for cell in cells if cell not in fixed]
            if not free:
                return None
            letters[free[int(rng.random() * len(free))]] = _filler(rng)
    return None


def _filler(rng: random.Random) -> str:
    return _FILLER[int(rng.random() * len(_FILLER))]


def plain(level: Level, num_words: int, rng: random.Random, accepts: Accepts) -> Puzzle:
    """Put words of one length into every other row and fill up with q.

    No other word can stand there: a run of letters that leaves its row holds "q?q", one that leaves its word a q before or behind.
    """
    length = min(level.pools)
    whole = level.pools[length]
    known = frozenset(whole)
    pool = [word for word in whole if _NO_WORD not in word and "u" not in (word[0], word[-1]) and word[::-1] not in known]
    found = list(islice(_shuffled(pool, rng), num_words - 1))
    last = (word for word in _shuffled(pool, rng) if word not in found and accepts([*found, word]))
    rows, hidden = [_NO_WORD * level.size] * level.size, []
    for k, word in enumerate([*found, next(last)]):
        col = int(rng.random() * (level.size - length + 1))
        rows[2 * k] = (_NO_WORD * col + word).ljust(level.size, _NO_WORD)
        start = 2 * k * level.size + col
        hidden.append(Hidden(word, start, start + length - 1))
    return Puzzle("".join(rows), tuple(hidden))
