"""Rooms of Sokoban as bitboards: walls, targets, who can reach what, and how far a box is from a target.

Bit `i` of a board is cell `i`. A row's last cell, which is always wall, is the next row's first cell too, so a row takes `width - 1`
cells. A step is a shift of the board by an entry of `ways`, and walls all around keep it from wrapping into another row.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["FAR", "Room", "bits", "carve", "mask", "matching", "path", "reach", "shifted"]

FAR = 1_000  # pushes to a target that no pushes bring a box to
_PIECES = (((0, 0),), ((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 0), (0, 1), (1, 0)), ((0, 0), (0, 1), (1, 1)), ((0, 0), (0, 1), (0, 2)))
_MOST_PIECES = 40
_FEWEST_FLOOR, _MOST_FLOOR = 0.65, 0.9  # share of the ground inside the outer walls


@dataclass(frozen=True)
class Room:
    """What of a level never moves.

    Attributes:
        height: Rows, outer walls included.
        width: Columns, outer walls included.
        floor: Board of the cells that are no wall.
        targets: Cells, ascending.
    """

    height: int
    width: int
    floor: int
    targets: tuple[int, ...]

    @property
    def ways(self) -> tuple[int, int, int, int]:
        """Shifts of a step up, down, left and right."""
        return 1 - self.width, self.width - 1, -1, 1

    def canonical(self) -> str:
        """Return walls and targets as text that is the same for a room and its mirror images."""
        at = mask(self.targets)
        stride = self.width - 1
        cells = ["#_O"[(self.floor >> i & 1) + (at >> i & 1)] for i in range(self.height * stride)]
        rows = ["".join(cells[i : i + stride]) + "#" for i in range(0, len(cells), stride)]
        turned = ["".join(column) for column in zip(*rows, strict=True)]
        return min("/".join(seen) for grid in (rows, turned) for seen in _mirrored(grid))

    def distances(self) -> tuple[list[int], ...]:
        """For each target, the fewest pushes that bring a lone box from each cell to it, or `FAR`."""
        return tuple(self._distances_to(target) for target in self.targets)

    def _distances_to(self, target: int) -> list[int]:
        floor, ways = self.floor, self.ways
        found = [FAR] * (self.height * (self.width - 1) + 1)
        layer, seen, distance = 1 << target, 0, 0
        while layer:
            for cell in bits(layer):
                found[cell] = distance
            seen |= layer
            pulled = 0
            for way in ways:
                pulled |= shifted(layer, way) & floor & shifted(floor, -way)
            layer = pulled & ~seen
            distance += 1
        return found


def _mirrored(rows: Sequence[str]) -> Iterator[Sequence[str]]:
    flipped = [row[::-1] for row in rows]
    yield from (rows, rows[::-1], flipped, flipped[::-1])


def shifted(board: int, way: int) -> int:
    """Move all of a board one step."""
    return board << way if way > 0 else board >> -way


def mask(cells: Iterable[int]) -> int:
    """Return the board of some cells."""
    board = 0
    for cell in cells:
        board |= 1 << cell
    return board


def bits(board: int) -> Iterator[int]:
    """Return the cells of a board, ascending."""
    while board:
        low = board & -board
        yield low.bit_length() - 1
        board ^= low


def reach(layer: int, free: int, stride: int) -> Iterator[int]:
    """Yield the free cells that a walk from a board reaches: the board itself, then the cells one step away, two steps, and so on."""
    while layer:
        yield layer
        free &= ~layer
        layer = (layer << 1 | layer >> 1 | layer << stride | layer >> stride) & free


def path(free: int, start: int, end: int, ways: Sequence[int]) -> list[int]:
    """Return the shifts of a shortest walk over free cells; there must be one."""
    here, layers = 1 << end, []
    for layer in reach(1 << start, free, ways[1]):
        if layer & here:
            break
        layers.append(layer)
    walk: list[int] = []
    for layer in reversed(layers):
        way = next(way for way in ways if shifted(here, -way) & layer)
        here = shifted(here, -way)
        walk.append(way)
    return walk[::-1]


def matching(distances: Sequence[Sequence[int]], boxes: Iterable[int]) -> int:
    """Return the fewest pushes that bring each box to a target of its own, as if boxes did not meet: never too many."""
    costs = {0: 0}  # targets taken, as a board of their numbers: the fewest pushes
    for box in boxes:
        grown: dict[int, int] = {}
        for taken, cost in costs.items():
            for number, table in enumerate(distances):
                if not taken >> number & 1:
                    both = taken | 1 << number
                    total = cost + table[box]
                    if total < grown.get(both, total + 1):
                        grown[both] = total
        costs = grown
    return min(costs.values())


def carve(rng: random.Random, height: int, width: int) -> int:
    """Return a floor without islands: the ground inside the outer walls, less some pieces of wall."""
    stride = width - 1
    floor = mask(row * stride + column for row in range(1, height - 1) for column in range(1, width - 1))
    ground = (height - 2) * (width - 2)
    to_fill = ground - int(ground * rng.uniform(_FEWEST_FLOOR, _MOST_FLOOR))
    for _ in range(_MOST_PIECES):
        if to_fill <= 0:
            break
        corner = rng.randrange(1, height - 1) * stride + rng.randrange(1, width - 1)
        across, down = rng.choice(((1, stride), (stride, 1), (-1, stride), (1, -stride)))
        piece = mask(max(corner + x * across + y * down, 0) for x, y in rng.choice(_PIECES)) & floor
        if _is_connected(floor & ~piece, stride):
            floor &= ~piece
            to_fill -= piece.bit_count()
    return floor


def _is_connected(floor: int, stride: int) -> bool:
    return sum(reach(floor & -floor, floor, stride)) == floor  # layers share no cell
