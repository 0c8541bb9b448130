"""Minesweeper: open every cell that hides no mine."""

from __future__ import annotations

import random
import re
from copy import copy
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.minefield import cells_of, grid_of, lowest
from gem.envs.games.moves import clean, integers

__all__ = ["Minesweeper"]

_MAX_SIDE = 50
_MAX_DRAWS = 400  # one in eight belongs to the test split: all of them miss it once in 10**23 levels
_CLOSED, _FLAG, _ZERO = b".F0"
_MOVE = re.compile(r"[\s(\[{<]*(reveal|flag)(.*)", re.IGNORECASE | re.DOTALL)


class Minesweeper(Game):
    """`num_mines` mines hide in a grid; an open cell tells how many are next to it.

    Mines are laid at the first reveal, away from it, by the chance of the level alone: the same first reveal always finds the
    same mines. Reward: each cell opened pays 1 / (cells without a mine); a mine pays nothing and ends the game.
    """

    FORMAT = "Write reveal or flag, the row and the column in \\boxed{}, such as \\boxed{reveal 1 4} or \\boxed{flag 0 2}."
    VARIANTS = tuple({"rows": n, "cols": n, "num_mines": n * n // 5, "max_turns": n * n} for n in range(5, 9))

    def __init__(self, rows: int = 8, cols: int = 8, num_mines: int = 10, max_turns: int = 100, is_random: bool = False) -> None:
        self.configure(rows, cols, num_mines, max_turns)
        self.is_random = is_random
        self._clear(random.Random(0))

    def configure(self, rows: int, cols: int, num_mines: int, max_turns: int) -> None:
        """Set the size, the number of mines and the turn limit."""
        for name, side in (("rows", rows), ("cols", cols)):
            if type(side) is not int or not 1 <= side <= _MAX_SIDE:
                self.bad_parameter(f"{name} must be a whole number from 1 to {_MAX_SIDE}, not {side!r:.80}")
        most = rows * cols - min(rows, 3) * min(cols, 3)
        if not 1 <= num_mines <= most:
            self.bad_parameter(
                f"num_mines must be 1 to {most} on {rows}x{cols} cells, not {num_mines}: the first reveal and its neighbours hide none"
            )
        enough = most - num_mines + 1
        if max_turns < enough:
            self.bad_parameter(f"max_turns must be {enough} or more, not {max_turns}: so many reveals may be needed. Or lay more mines")
        self.grid, self.num_mines, self.max_turns = grid_of(rows, cols), num_mines, max_turns
        self._share = 1 / (rows * cols - num_mines)

    def deal(self, rng: random.Random) -> None:
        """Close all cells; `rng` lays the mines at the first reveal."""
        self._clear(rng)

    def _clear(self, rng: random.Random) -> None:
        self._chance = rng
        self.mines = self.flags = self.opened = 0  # sets of cells; there are no mines before the first reveal
        self._closed = list(range(self.grid.cells))  # flagged cells too
        self._view = bytearray(self.grid.blank)

    def rules(self) -> str:
        """Return the rules."""
        grid = self.grid
        return (
            f"This is Minesweeper on {grid.rows} rows and {grid.cols} columns, both numbered from 0, with {self.num_mines} mines. Reveal "
            f"all cells without a mine in at most {self.max_turns} turns; mines need not be flagged. A mine that you reveal ends the game. "
            f"The first cell that you reveal and the cells around it hide no mine. A revealed cell shows how many of the up to 8 cells "
            f"around it are mines; with a 0, all cells around it that have no flag are revealed too. A closed cell is shown as a dot, a "
            f"flagged one as F. A flagged cell can't be revealed; flag it again to remove the flag.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the board with numbered rows and columns."""
        return self._view.decode()

    def play(self, move: str) -> Played:
        """Reveal a cell, or set or remove a flag."""
        code = self.grid.moves.get(move)
        if code is None:
            code = self._read(move)
        return self._reveal(code) if code >= 0 else self._flag(~code)

    def _read(self, move: str) -> int:
        match = _MOVE.fullmatch(clean(move))
        place = integers(match[2], 2) if match else None
        if match is None or place is None:
            raise Unreadable("the box does not hold reveal or flag and two whole numbers")
        (row, col), grid = place, self.grid
        if not (0 <= row < grid.rows and 0 <= col < grid.cols):
            raise Illegal(f"There is no row {row}, column {col}: rows are 0 to {grid.rows - 1}, columns 0 to {grid.cols - 1}.")
        cell = row * grid.cols + col
        return cell if match[1].lower() == "reveal" else ~cell

    def _flag(self, cell: int) -> Played:
        place, mark = self.grid.places[cell], self._view[self.grid.places[cell]]
        if mark != _CLOSED and mark != _FLAG:
            raise Illegal(f"{self._at(cell)} is revealed and needs no flag.")
        self.flags ^= 1 << cell
        self._view[place] = _FLAG if mark == _CLOSED else _CLOSED
        return f"{self._at(cell)} is {'flagged' if mark == _CLOSED else 'no longer flagged'}.", 0.0, None

    def _reveal(self, cell: int) -> Played:
        mark = self._view[self.grid.places[cell]]
        if mark == _FLAG:
            raise Illegal(f"{self._at(cell)} is flagged. Flag it again to remove the flag first.")
        if mark != _CLOSED:
            raise Illegal(f"{self._at(cell)} is revealed already.")
        if not self.mines:
            self.mines = self._layout(cell, self._chance)
        if self.mines >> cell & 1:
            return f"{self._at(cell)} is a mine.", 0.0, False
        opened = self._open(cell)
        left = len(self._closed) - self.num_mines
        if not left:
            return "All cells without a mine are revealed.", opened * self._share, True
        return f"{self._at(cell)} is revealed. Cells without a mine to go: {left}.", opened * self._share, None

    def _open(self, cell: int) -> int:
        # Returns how many cells it opened.
        grid, near, mines, closed = self.grid, self.grid.near, self.mines, self._closed
        fresh = grid.opened_by(cell, mines, self.opened | self.flags)
        self.opened |= fresh
        if fresh == 1 << cell:
            closed.remove(cell)
            self._view[grid.places[cell]] = _ZERO + (near[cell] & mines).bit_count()
            return 1
        self._closed = still = []
        for other in closed:
            if fresh >> other & 1:
                self._view[grid.places[other]] = _ZERO + (near[other] & mines).bit_count()
            else:
                still.append(other)
        return len(closed) - len(still)

    def _layout(self, first: int, rng: random.Random) -> int:
        mines = 0
        for _ in range(_MAX_DRAWS):  # a board with few layouts may have none in one of the splits
            mines = self.grid.lay(self.num_mines, first, rng)
            if self.in_split(f"{self.grid.rows}x{self.grid.cols} {mines:x}"):
                break
        return mines

    def _at(self, cell: int) -> str:
        return f"Row {cell // self.grid.cols}, column {cell % self.grid.cols}"

    def gold(self) -> Any:
        """Return row and column of each mine: those laid, or those that a first reveal in the centre would find."""
        return [list(divmod(cell, self.grid.cols)) for cell in cells_of(self._likely_mines())]

    def _likely_mines(self) -> int:
        return self.mines or self._layout(self.grid.centre, copy(self._chance))

    def random_move(self, rng: random.Random) -> str:
        """Return a reveal or a flag of any closed cell."""
        pick = int(rng.random() * 2 * len(self._closed))
        cell = self._closed[pick >> 1]
        return self.grid.flags[cell] if pick & 1 or self.flags >> cell & 1 else self.grid.reveals[cell]

    def best_move(self, rng: random.Random) -> str | None:
        """Begin in the centre, then open the largest area without a mine."""
        grid, mines = self.grid, self._likely_mines()
        in_the_way = self.flags & ~mines  # they would stop an area from opening
        if in_the_way:
            return grid.flags[lowest(in_the_way)]
        return grid.reveals[grid.widest(mines, self.opened) if self.mines else grid.centre]
