"""Sudoku: fill a grid so that no row, column or box holds a number twice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import integers
from gem.envs.games.sudoku_levels import FEWEST_CLUES, make_level
from gem.envs.games.sudoku_solver import layout

__all__ = ["Sudoku"]


class Sudoku(Game):
    """A grid of `scale` rows, 4 or 9, of which `clues` cells are given; it has exactly one solution.

    A right number stays in the grid. A wrong one does not, and is told apart: it breaks a rule, or it is merely not the number
    of the solution.

    Reward: `1 / (empty cells of the start)` for each right number.
    """

    FORMAT = "Write row, column and number in \\boxed{}, such as \\boxed{1 2 3} for a 3 in row 1, column 2."
    VARIANTS = ({"clues": 8, "max_turns": 15, "scale": 4}, {"clues": 35, "max_turns": 50, "scale": 9})

    def __init__(self, clues: int = 30, max_turns: int = 100, scale: int = 9, is_random: bool = False) -> None:
        self.configure(clues, max_turns, scale)
        self.is_random = is_random
        self._set_up([0] * scale**2, [0] * scale**2)

    def configure(self, clues: int, max_turns: int, scale: int) -> None:
        """Set how many cells are given, the turn limit and the rows of the grid."""
        if scale not in FEWEST_CLUES:
            self.bad_parameter(f"scale must be 4 or 9, not {scale!r:.80}")
        cells = scale * scale
        if not FEWEST_CLUES[scale] <= clues < cells:
            self.bad_parameter(f"clues are the given cells: from {FEWEST_CLUES[scale]} to {cells - 1} of {cells}, not {clues}")
        if max_turns < cells - clues:
            self.bad_parameter(f"{clues} clues leave {cells - clues} cells to fill: raise max_turns ({max_turns}) to that, or clues")
        self.clues, self.max_turns, self.scale = clues, max_turns, scale

    def deal(self, rng: random.Random) -> None:
        """Make a grid."""
        self._set_up(*make_level(self.scale, self.clues, rng, self._fits_split))

    def _fits_split(self, grid: Sequence[int]) -> bool:
        return self.in_split("".join(map(str, grid)))

    def _set_up(self, grid: list[int], solution: list[int]) -> None:
        self.grid, self.solution = grid, solution
        self.empty = [cell for cell, number in enumerate(grid) if not number]
        self._share = 1 / len(self.empty)
        self._paid = 0.0
        self._lines = [self._line(row) for row in range(self.scale)]
        self._text = self._drawn()  # kept, since most turns of a weak player change nothing

    # -- what the player sees ------------------------------------------------------------------------------------------

    def rules(self) -> str:
        """Return the rules."""
        scale, side = self.scale, layout(self.scale).side
        return (
            f"Sudoku: fill the {scale}x{scale} grid so that each row, each column and each of the {scale} boxes of {side}x{side} "
            f"cells holds every number from 1 to {scale} once. It has exactly one solution. A dot is an empty cell; rows count from the "
            f"top and columns from the left, from 1. A turn puts one number into an empty cell: a right one stays, and a wrong one "
            f"only costs the turn. {len(self.empty)} cells are empty, and you have {self.max_turns} turns.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the grid, with a line between boxes."""
        return self._text

    def _drawn(self) -> str:
        side, lines = layout(self.scale).side, self._lines
        heading, rule = _FRAMES[self.scale]
        return f"{heading}\n" + f"\n{rule}\n".join(["\n".join(lines[at : at + side]) for at in range(0, self.scale, side)])

    def _line(self, row: int) -> str:
        start, scale, side = row * self.scale, self.scale, layout(self.scale).side
        numbers = [str(number or ".") for number in self.grid[start : start + scale]]
        return f"{row + 1} | " + " | ".join([" ".join(numbers[at : at + side]) for at in range(0, scale, side)])

    # -- play ----------------------------------------------------------------------------------------------------------

    def play(self, move: str) -> Played:
        """Put a number into a cell."""
        # Most moves are written as the rules show them; the rest is read with patience.
        found = _WRITTEN.get(move) or integers(move, 3)
        if found is None:
            raise Unreadable("the box does not hold three whole numbers: row, column and number")
        row, column, number = found
        scale = self.scale
        if not (1 <= row <= scale and 1 <= column <= scale and 1 <= number <= scale):
            raise Illegal(f"Row, column and number must each be from 1 to {scale}.")
        cell = (row - 1) * scale + column - 1
        if self.grid[cell]:
            raise Illegal(f"Row {row}, column {column} is filled already: it holds {self.grid[cell]}.")
        if number != self.solution[cell]:
            return self._refuse(cell, number)
        return self._fill(cell, number)

    def _refuse(self, cell: int, number: int) -> Played:
        clash = self._clash(cell, number)
        row, column = divmod(cell, self.scale)
        where = f"row {row + 1}, column {column + 1}"
        if clash:
            raise Illegal(f"{number} in {where} breaks a rule: there is a {number} in the same {clash}.")
        return f"{number} in {where} breaks no rule so far, but the solution has another number there.", 0.0, None

    def _clash(self, cell: int, number: int) -> str:
        grid, scale, shape = self.grid, self.scale, layout(self.scale)
        row, column, box = shape.places[cell]
        kinds = []
        if number in grid[row * scale : row * scale + scale]:
            kinds.append("row")
        if number in grid[column::scale]:
            kinds.append("column")
        if number in [grid[other] for other in shape.units[2 * scale + box]]:
            kinds.append("box")
        return " and ".join(kinds)

    def _fill(self, cell: int, number: int) -> Played:
        row, column = divmod(cell, self.scale)
        self.grid[cell] = number
        self.empty.remove(cell)
        self._lines[row] = self._line(row)
        self._text = self._drawn()
        done = f"{number} in row {row + 1}, column {column + 1} is right."
        if not self.empty:
            return f"{done} The grid is complete: you have won.", 1.0 - self._paid, True  # the sum is then exactly 1
        self._paid += self._share
        return done, self._share, None

    def gold(self) -> Any:
        """Return the rows of the solution."""
        return [self.solution[at : at + self.scale] for at in range(0, self.scale**2, self.scale)]

    def random_move(self, rng: random.Random) -> str:
        """Return any number for any empty cell."""
        row, column = divmod(self.empty[int(rng.random() * len(self.empty))], self.scale)
        return f"{row + 1} {column + 1} {1 + int(rng.random() * self.scale)}"

    def best_move(self, rng: random.Random) -> str | None:
        """Return the number of the first empty cell, where enough turns are left for all of them."""
        if len(self.empty) > self.max_turns - self.turn:
            return None
        cell = self.empty[0]
        return f"{cell // self.scale + 1} {cell % self.scale + 1} {self.solution[cell]}"


_WRITTEN = {f"{row} {column} {number}": [row, column, number] for row in range(1, 10) for column in range(1, 10) for number in range(1, 10)}


def _frame(scale: int) -> tuple[str, str]:
    side = layout(scale).side
    groups = [" ".join(str(column + 1) for column in range(at, at + side)) for at in range(0, scale, side)]
    return "    " + "   ".join(groups), "--+" + "+".join(["-" * (2 * side + 1)] * side)


_FRAMES = {scale: _frame(scale) for scale in FEWEST_CLUES}
