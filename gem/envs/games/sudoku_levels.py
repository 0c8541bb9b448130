"""Sudoku levels: grids with exactly one solution and exactly so many clues, made in bounded time.

A random full grid is emptied cell by cell, as long as one solution is left. Where that stops short of the clues asked for, the
cells and numbers of a grid that needs very few are exchanged at random instead, which always succeeds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

from gem.envs.games.sudoku_solver import Search, TooLong, layout

__all__ = ["FEWEST_CLUES", "make_level"]

# Found by removing clues from random grids, and putting some back, for a minute: a grid and its solution.
_SPARSE = {
    4: ("0004040010000030", "3124241313424231"),
    9: (
        "000200040058000000070009060000010007200000100060000000006005000000000001000083504",
        "639251748458367912172849365583416297294738156761592483346125879825974631917683524",
    ),
}
FEWEST_CLUES = {scale: len(clues) - clues.count("0") for scale, (clues, _) in _SPARSE.items()}

_FEWEST_DUG = {4: 5, 9: 26}  # with fewer clues, emptying a random grid is hardly ever worth its time
_FILL_STEPS, _DIG_STEPS = 1000, 1000  # filling 9 x 9 cells takes about 90; digging is bounded to about 3 ms
_MAX_LEVELS, _MAX_NAMES = 16, 24  # none of 384 is accepted: a chance below 1e-22 for the split with more starts, one in eight

Level = tuple[list[int], list[int]]  # a grid and its solution


def make_level(scale: int, clues: int, rng: random.Random, accept: Callable[[Sequence[int]], bool]) -> Level:
    """Return a grid with `clues` clues that `accept` says yes to, and its one solution."""
    level: Level = ([], [])
    for _ in range(_MAX_LEVELS):
        level = (_dig(scale, clues, rng) if clues >= _FEWEST_DUG[scale] else None) or _exchanged(scale, clues, rng)
        for _ in range(_MAX_NAMES):
            if accept(level[0]):
                return level
            level = _renamed(level, scale, rng)
    return level


def _renamed(level: Level, scale: int, rng: random.Random) -> Level:
    names = [0, *rng.sample(range(1, scale + 1), scale)]
    return [names[number] for number in level[0]], [names[number] for number in level[1]]


# -- emptying a full grid ----------------------------------------------------------------------------------------------


def _dig(scale: int, clues: int, rng: random.Random) -> Level | None:
    cells = list(range(scale * scale))
    filling = Search([0] * len(cells), scale, _FILL_STEPS)
    try:
        filling.count(cells, 1, rng)
    except TooLong:
        return None
    solution = filling.grid
    digging = _Digging(solution, scale)
    rng.shuffle(cells)
    for cell in cells:
        if len(cells) - len(digging.empty) == clues:
            return digging.grid, solution
        digging.take(cell)
    return (digging.grid, solution) if len(cells) - len(digging.empty) == clues else None


class _Digging:
    """A grid with one solution that loses clues, as long as it keeps that one."""

    def __init__(self, solution: list[int], scale: int) -> None:
        self.grid = solution.copy()
        self.empty: list[int] = []
        self._search = Search(solution, scale, _DIG_STEPS)

    def take(self, cell: int) -> None:
        """Empty a cell, unless another number could then stand in it."""
        number = self.grid[cell]
        self._search.flip(cell, number)
        if self._is_single(cell, number) or self._is_only(cell, number):
            self.empty.append(cell)
            self.grid[cell] = 0
        else:
            self._search.flip(cell, number)

    def _is_single(self, cell: int, number: int) -> bool:
        """Say whether the rules alone leave one number for the cell, or one cell of a row, column or box for the number."""
        options, grid = self._search.options, self.grid
        if options(cell) == 1 << number:
            return True
        for unit in _units_of(self._search.layout.scale)[cell]:
            for other in unit:
                if not grid[other] and options(other) >> number & 1:
                    break
            else:
                return True
        return False

    def _is_only(self, cell: int, number: int) -> bool:
        """Say whether no other number in the cell leads to a solution; False where that takes too long to know."""
        search = self._search
        if search.steps <= 0:
            return False
        before = search.rows.copy(), search.columns.copy(), search.boxes.copy()
        bits = search.options(cell) & ~(1 << number)
        try:
            for other in range(1, bits.bit_length()):
                if bits >> other & 1:
                    search.flip(cell, other)
                    found = search.count(self.empty, 1)
                    search.flip(cell, other)
                    if found:
                        return False
        except TooLong:
            search.rows, search.columns, search.boxes = before
            return False
        return True


@cache
def _units_of(scale: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return, for each cell, the other cells of its row, of its column and of its box."""
    shape = layout(scale)
    return tuple(
        tuple(tuple(other for other in shape.units[kind * scale + at] if other != cell) for kind, at in enumerate(place))
        for cell, place in enumerate(shape.places)
    )


# -- exchanging the cells and numbers of a sparse grid -----------------------------------------------------------------


def _exchanged(scale: int, clues: int, rng: random.Random) -> Level:
    """Exchange what the rules do not tell apart: numbers, rows of a band, bands, the same for columns, and rows with columns."""
    rows, columns = _lines(scale, rng), _lines(scale, rng)
    cells = [row * scale + column for row in rows for column in columns]
    if rng.random() < 0.5:
        cells = [column * scale + row for row in rows for column in columns]
    sparse, full = _SPARSE[scale]
    grid, solution = _renamed(([int(sparse[cell]) for cell in cells], [int(full[cell]) for cell in cells]), scale, rng)
    empty = [cell for cell, number in enumerate(grid) if not number]
    for cell in rng.sample(empty, clues - FEWEST_CLUES[scale]):
        grid[cell] = solution[cell]
    return grid, solution


def _lines(scale: int, rng: random.Random) -> list[int]:
    side = layout(scale).side
    return [band * side + line for band in rng.sample(range(side), side) for line in rng.sample(range(side), side)]
