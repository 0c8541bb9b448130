"""Sokoban: push boxes onto targets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import direction
from gem.envs.games.sokoban.levels import Level, make_level
from gem.envs.games.sokoban.rooms import Room, mask
from gem.envs.games.sokoban.solver import solve

__all__ = ["Sokoban"]

_SMALLEST, _LARGEST, _MOST_BOXES = 5, 16, 8
_CONSOLATION = 0.5
_SPARE = 5  # one turn in so many is not needed for the level's own solution
_DIRECTIONS = ("up", "down", "left", "right")  # in the order of `Room.ways`
# What a cell becomes when the player comes, when the player leaves, when a box comes, when the player pushes a box away.
_ENTERED = {"_": "P", "O": "S", "X": "P", "√": "S"}
_LEFT = {"P": "_", "S": "O"}
_FILLED = {"_": "X", "O": "√"}


class Sokoban(Game):
    """Boxes are pushed, never pulled, until each stands on a target.

    Reward: 1 for all boxes on targets; at the turn limit `0.5 * boxes on targets / boxes`.
    """

    FORMAT = "Write up, down, left or right in \\boxed{}, such as \\boxed{up}."
    VARIANTS = (
        {"dim_room": (6, 6), "max_turns": 20, "num_boxes": 2},
        {"dim_room": (8, 8), "max_turns": 50, "num_boxes": 5},
    )

    def __init__(self, dim_room: Sequence[int] = (6, 6), max_turns: int = 100, num_boxes: int = 3, is_random: bool = False) -> None:
        self.configure(dim_room, max_turns, num_boxes)
        self.is_random = is_random
        self.room = Room(0, 0, 0, ())
        self._cells: list[str] = []  # symbols by cell; a row ends in the cell that the next one begins with
        self._player = self._on_targets = 0
        self._solution: list[str] = []
        self._plan: list[int] = []  # moves from here to a win, the last one first; empty where none is known

    def configure(self, dim_room: Sequence[int], max_turns: int, num_boxes: int) -> None:
        """Set the size of the room, outer walls included, the turn limit and the number of boxes."""
        sides = dim_room if isinstance(dim_room, (list, tuple)) else ()
        if len(sides) != 2 or not all(type(side) is int and _SMALLEST <= side <= _LARGEST for side in sides):
            self.bad_parameter(f"dim_room must be two whole numbers between {_SMALLEST} and {_LARGEST}, not {dim_room!r:.80}")
        height, width = sides
        most = min(_MOST_BOXES, (height - 4) * (width - 2))
        if not 1 <= num_boxes <= most:
            self.bad_parameter(f"num_boxes must be between 1 and {most} in a room of {height} by {width}, not {num_boxes}")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        self.height, self.width, self.num_boxes, self.max_turns = height, width, num_boxes, max_turns
        self._steps = dict(zip(_DIRECTIONS, Room(height, width, 0, ()).ways, strict=True))

    def deal(self, rng: random.Random) -> None:
        """Make a level whose solution leaves a part of the turns to spare."""
        longest = max(self.max_turns - self.max_turns // _SPARE, 1)
        level = make_level(rng, self.height, self.width, self.num_boxes, longest, self.in_split)
        self._place(level)
        self._solution = [self._name_of(way) for way in level.solution]
        self._plan = list(reversed(level.solution))

    def _place(self, level: Level) -> None:
        self.room, self._player = level.room, level.player
        stride = self.width - 1
        cells = ["_" if self.room.floor >> cell & 1 else "#" for cell in range(self.height * stride + 1)]
        cells[stride:-1:stride] = ["#\n#"] * (self.height - 1)
        for target in self.room.targets:
            cells[target] = "O"
        for box in level.boxes:
            cells[box] = _FILLED[cells[box]]
        cells[self._player] = _ENTERED[cells[self._player]]
        self._cells, self._on_targets = cells, cells.count("√")

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"This is Sokoban. Push every box onto a target in at most {self.max_turns} turns. Each turn you go one cell up, down, left "
            "or right. Going where a box stands pushes it one cell further, if no wall and no other box is there. You can push one box "
            "at a time, and never pull. A blocked move changes nothing, but it costs the turn. Without a win, each box on a target "
            "at the end counts a little.\n"
            "Symbols: # wall, _ floor, O target, X box, √ box on a target, P you, S you on a target.\n"
            f"{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the room."""
        return " ".join(self._cells)

    def play(self, move: str) -> Played:
        """Go one cell, pushing a box if one is there."""
        name = move if move in self._steps else direction(move)
        if name is None:
            raise Unreadable("the box does not hold one of up, down, left and right")
        step, cells, here = self._steps[name], self._cells, self._player
        there = here + step
        at = cells[there]
        if at not in _ENTERED:
            raise Illegal(f"You cannot go {name}: a wall is there.")
        pushes = at == "X" or at == "√"
        if pushes:
            self._push(at, there + step, name)
        cells[there] = _ENTERED[at]
        cells[here] = _LEFT[cells[here]]
        self._player = there
        self._follow(step, pushes)
        if not pushes:
            return f"You went {name}.", 0.0, None
        if self._on_targets == self.num_boxes:
            return f"You pushed a box {name}. All boxes are on targets: you have won.", 1.0, True
        return f"You pushed a box {name}. Boxes on targets: {self._on_targets} of {self.num_boxes}.", 0.0, None

    def _push(self, box: str, beyond: int, name: str) -> None:
        filled = _FILLED.get(self._cells[beyond])
        if filled is None:
            what = "another box" if self._cells[beyond] in ("X", "√") else "a wall"
            raise Illegal(f"You cannot push the box {name}: {what} is behind it.")
        self._cells[beyond] = filled
        self._on_targets += (filled == "√") - (box == "√")

    def _follow(self, step: int, pushes: bool) -> None:
        """Keep the plan while the player keeps to it, or can walk back to it."""
        plan = self._plan
        if not plan:
            return
        if plan[-1] == step:
            plan.pop()
        elif pushes:
            plan.clear()
        else:
            plan.append(-step)

    def at_limit(self) -> float:
        """Pay for the boxes on targets."""
        return _CONSOLATION * self._on_targets / self.num_boxes

    def gold(self) -> Any:
        """Return a solution."""
        return {"solution": self._solution}

    def random_move(self, rng: random.Random) -> str:
        """Return any direction."""
        return _DIRECTIONS[int(rng.random() * 4)]

    def best_move(self, rng: random.Random) -> str | None:
        """Follow the level's solution, or plan anew; None where no plan for the turns that are left is found."""
        left = self.max_turns - self.turn
        if not 0 < len(self._plan) <= left:
            boxes = mask(cell for cell, symbol in enumerate(self._cells) if symbol in ("X", "√"))
            plan = solve(self.room, boxes, self._player, left)
            if not plan:
                return None
            self._plan = plan[::-1]
        return self._name_of(self._plan[-1])

    def _name_of(self, way: int) -> str:
        return _DIRECTIONS[self.room.ways.index(way)]
