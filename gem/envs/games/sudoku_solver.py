"""Sudoku: the grid and a solver that counts solutions.

A grid is a list of numbers, row by row, with 0 for an empty cell. The solver keeps which numbers each row, column and box may
still take as bits (bit n for the number n), and always goes on in the cell with the fewest. Knows nothing of levels or turns:
`gem.envs.games.sudoku_levels` makes the levels.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

__all__ = ["Layout", "Search", "TooLong", "count_solutions", "layout"]


class TooLong(Exception):
    """The search was given up: it took more steps than it was allowed."""


@dataclass(frozen=True)
class Layout:
    """Where the cells of a grid lie.

    Attributes:
        scale: Rows, columns, boxes and numbers.
        side: Rows of a box.
        places: Row, column and box of each cell.
        units: All rows, columns and boxes, as tuples of cells: box b is `units[2 * scale + b]`.
    """

    scale: int
    side: int
    places: tuple[tuple[int, int, int], ...]
    units: tuple[tuple[int, ...], ...]


@cache
def layout(scale: int) -> Layout:
    """Return the layout of a grid of `scale` rows, which is a square number."""
    side = int(scale**0.5)
    places = tuple((cell // scale, cell % scale, cell // scale // side * side + cell % scale // side) for cell in range(scale * scale))
    units = tuple(tuple(cell for cell, place in enumerate(places) if place[kind] == at) for kind in range(3) for at in range(scale))
    return Layout(scale, side, places, units)


class Search:
    """What a grid's rows, columns and boxes may still take, and the search through it.

    Attributes:
        steps: How many more steps the search may take; `TooLong` is raised where it would take one more.
    """

    def __init__(self, grid: Sequence[int], scale: int, steps: int) -> None:
        full = (2 << scale) - 2
        self.grid = list(grid)
        self.layout = layout(scale)
        self.rows, self.columns, self.boxes = [full] * scale, [full] * scale, [full] * scale
        self.steps = steps
        for cell, number in enumerate(grid):
            if number:
                self.flip(cell, number)

    def flip(self, cell: int, number: int) -> None:
        """Take a number from the cell's row, column and box, or give it back."""
        row, column, box = self.layout.places[cell]
        bit = 1 << number
        self.rows[row] ^= bit
        self.columns[column] ^= bit
        self.boxes[box] ^= bit

    def options(self, cell: int) -> int:
        """Return the bits of the numbers that an empty cell may take."""
        row, column, box = self.layout.places[cell]
        return self.rows[row] & self.columns[column] & self.boxes[box]

    def count(self, empty: list[int], most: int, rng: random.Random | None = None) -> int:
        """Count the ways to fill the cells `empty`, up to `most`.

        The last one stays in `grid` where `most` is reached. What rows, columns and boxes may take is afterwards as before.

        Raises:
            TooLong: the search took all its steps.
        """
        if not empty:
            return 1
        self.steps -= 1
        if self.steps < 0:
            raise TooLong
        at, bits = self._tightest(empty)
        if not bits:
            return 0
        cell = empty[at]
        rest = empty[:at] + empty[at + 1 :]
        found = 0
        for number in _numbers(bits, rng):
            self.flip(cell, number)
            self.grid[cell] = number
            found += self.count(rest, most - found, rng)
            self.flip(cell, number)
            if found >= most:
                return found
        self.grid[cell] = 0
        return found

    def _tightest(self, empty: list[int]) -> tuple[int, int]:
        rows, columns, boxes, places = self.rows, self.columns, self.boxes, self.layout.places
        best, least, bits = 0, 99, 0
        for at, cell in enumerate(empty):
            row, column, box = places[cell]
            options = rows[row] & columns[column] & boxes[box]
            if not options & (options - 1):
                return at, options
            number = options.bit_count()
            if number < least:
                best, least, bits = at, number, options
        return best, bits


def _numbers(bits: int, rng: random.Random | None) -> list[int]:
    numbers = [number for number in range(1, bits.bit_length()) if bits >> number & 1]
    if rng is not None and len(numbers) > 1:
        rng.shuffle(numbers)
    return numbers


def count_solutions(grid: Sequence[int], most: int = 2, max_steps: int = 1_000_000) -> int:
    """Count the solutions of a grid, up to `most`.

    Raises:
        TooLong: they are not known after `max_steps` steps.
    """
    scale = int(len(grid) ** 0.5)
    return Search(grid, scale, max_steps).count([cell for cell, number in enumerate(grid) if not number], most)
