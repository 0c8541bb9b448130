"""The board of Minesweeper: its cells, what lies next to what, and how an open area spreads.

Cells are numbered row by row; a set of cells is an integer with a bit for each. Knows nothing of turns and rewards
(`gem.envs.games.minesweeper`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

__all__ = ["Grid", "cells_of", "grid_of", "lowest"]


class Grid:
    """What all boards of one size share. Get one with `grid_of`; copies and pickles are the same object again.

    Attributes:
        near: For each cell, those around it.
        zone: For each cell, itself and those around it.
        moves: Text of a move to its cell, or to `~cell` where it is a flag.
        reveals: For each cell, the text that reveals it.
        flags: For each cell, the text that flags it.
        blank: The text of a board with all cells closed.
        places: For each cell, where it stands in that text.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.rows, self.cols, self.cells = rows, cols, rows * cols
        self._all = (1 << self.cells) - 1
        self._not_first = sum(((1 << cols) - 2) << row * cols for row in range(rows))
        self._not_last = self._not_first >> 1
        self.zone = tuple(self.spread(1 << cell) for cell in range(self.cells))
        self.near = tuple(zone & ~(1 << cell) for cell, zone in enumerate(self.zone))
        names = [f"{row} {col}" for row in range(rows) for col in range(cols)]
        self.reveals = tuple(f"reveal {name}" for name in names)
        self.flags = tuple(f"flag {name}" for name in names)
        self.moves = {text: cell for cell, text in enumerate(self.reveals)} | {text: ~cell for cell, text in enumerate(self.flags)}
        margin, width = len(str(rows - 1)), len(str(cols - 1)) + 1
        lines = [" " * margin + "".join(f"{col:>{width}}" for col in range(cols))]
        lines += [f"{row:>{margin}}" + f"{'.':>{width}}" * cols for row in range(rows)]
        self.blank = "\n".join(lines).encode()
        line = margin + width * cols + 1
        self.places = tuple(line * (row + 1) + margin + width * (col + 1) - 1 for row in range(rows) for col in range(cols))

    def __reduce__(self) -> Any:
        return grid_of, (self.rows, self.cols)

    @property
    def centre(self) -> int:
        """The cell in the middle: no other has more cells around it."""
        return self.rows // 2 * self.cols + self.cols // 2

    def spread(self, cells: int) -> int:
        """Return `cells` and all cells around them."""
        wide = cells | (cells & self._not_last) << 1 | (cells & self._not_first) >> 1
        return (wide | wide << self.cols | wide >> self.cols) & self._all

    def opened_by(self, cell: int, mines: int, barred: int) -> int:
        """Return what a reveal of `cell` opens: itself, and around each opened cell without a mine next to it all that is not `barred`."""
        opened = fresh = 1 << cell
        if self.near[cell] & mines:
            return opened
        zeros = ~self.spread(mines)
        while fresh := self.spread(fresh & zeros) & ~(opened | barred):
            opened |= fresh
        return opened

    def safe_cells(self, mines: int) -> int:
        """Return all cells without a mine."""
        return self._all & ~mines

    def lay(self, count: int, first: int, rng: random.Random) -> int:
        """Draw `count` mines, none at `first` or around it."""
        zone = self.zone[first]
        places = [cell for cell in range(self.cells) if not zone >> cell & 1]
        mines, left = 0, len(places)
        for at in range(count):
            pick = at + int(rng.random() * (left - at))
            mines |= 1 << places[pick]
            places[pick] = places[at]
        return mines

    def widest(self, mines: int, opened: int) -> int:
        """Return the cell without a mine whose reveal opens most."""
        left = self.safe_cells(mines) & ~opened
        best, most = lowest(left), 1
        zeros = left & ~self.spread(mines)
        while zeros:
            cell = lowest(zeros)
            area = self.opened_by(cell, mines, opened)
            if area.bit_count() > most:
                best, most = cell, area.bit_count()
            zeros &= ~area
        return best


def lowest(cells: int) -> int:
    """Return the first cell of a set."""
    return (cells & -cells).bit_length() - 1


def cells_of(cells: int) -> Iterator[int]:
    """Yield the cells of a set in order."""
    while cells:
        yield lowest(cells)
        cells &= cells - 1


@lru_cache(maxsize=64)
def grid_of(rows: int, cols: int) -> Grid:
    """Return the grid of a size."""
    return Grid(rows, cols)
