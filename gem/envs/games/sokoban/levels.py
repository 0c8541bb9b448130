"""Makes levels of Sokoban by playing backwards from the end, which yields a solution with each level.

A backward game pulls the boxes away from the targets, at random but with a liking for pulls that lead away. A fixed number of games
is played, some in each of a few rooms and the rest in the room where they came out hardest, so the work is bounded whatever the chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from gem.envs.games.sokoban.rooms import Room, bits, carve, mask, matching, path, reach, shifted

__all__ = ["Level", "make_level"]

# Little ground gets few rooms to choose from, so that small levels stay easy; much ground too, since each room takes longer.
_GROUND_A_ROOM, _GROUND_IN_ALL, _FEWEST_ROOMS = 3, 432, 3
_GAMES_A_ROOM = 2
_LAST_GAMES = 12
_MOST_PULLS = 50
_MOST_DRAWS = 400  # of a room: about one in eight fits the test split
_DRAWS_A_FLOOR = 4
_AWAY, _BACK, _LAZINESS = 8.0, 0.7, 0.6  # weights of a pull that leads away from its box's target, of another, and of the walk to it
_CHANGE, _IDLE, _UNUSABLE = 0.5, 3.0, -100.0  # scores of a change of box, of a box on a target, and of no level at all


@dataclass(frozen=True)
class Level:
    """A start and a way to win it.

    Attributes:
        room: Walls and targets.
        boxes: Cells.
        player: Cell.
        solution: Shifts of the moves that win.
    """

    room: Room
    boxes: tuple[int, ...]
    player: int
    solution: tuple[int, ...]


class _Position(NamedTuple):
    """A moment of a backward game.

    Attributes:
        boxes: Board of the boxes.
        cells: The same as cells, that of the box pulled from target `k` at `k`.
        player: Cell of the player.
        way: Shift of the pull that led here; 0 at the beginning.
        left: Moves that may still be spent.
    """

    boxes: int
    cells: tuple[int, ...]
    player: int
    way: int
    left: int


class _Pull(NamedTuple):
    walk: int
    way: int
    place: int  # where the player stands before the pull, and the box after it


def make_level(rng: random.Random, height: int, width: int, num_boxes: int, longest: int, fits: Callable[[str], bool]) -> Level:
    """Return a level whose solution takes at most `longest` moves.

    Args:
        rng: All chance comes from here.
        height: Rows, at least 5.
        width: Columns, at least 5.
        num_boxes: Boxes, at most `(height - 4) * (width - 2)`.
        longest: Most moves of the solution, at least 1.
        fits: Says whether a room, by its canonical text, may be used.
    """
    best = _Draft(_packed_room(height, width, num_boxes), longest)
    best.begin_packed()
    for _ in range(_rooms((height - 2) * (width - 2))):
        room = _draw_room(rng, height, width, num_boxes, fits)
        if room is not None:
            draft = _Draft(room, longest)
            draft.improve(rng, _GAMES_A_ROOM)
            best = draft if draft.score > best.score else best
    best.improve(rng, _LAST_GAMES)
    return best.level(rng)


def _rooms(ground: int) -> int:
    return max(min(ground // _GROUND_A_ROOM, _GROUND_IN_ALL // ground), _FEWEST_ROOMS)


def _draw_room(rng: random.Random, height: int, width: int, num_boxes: int, fits: Callable[[str], bool]) -> Room | None:
    for _ in range(_MOST_DRAWS // _DRAWS_A_FLOOR):
        floor = carve(rng, height, width)
        spots = _spots(floor, width - 1)
        if len(spots) < num_boxes:
            continue
        for _ in range(_DRAWS_A_FLOOR):
            room = Room(height, width, floor, tuple(sorted(rng.sample(spots, num_boxes))))
            if fits(room.canonical()):
                return room
    return None


def _spots(floor: int, stride: int) -> list[int]:
    """Return the cells that a box can be pulled from."""
    found = 0
    for way in (1, -1, stride, -stride):
        found |= floor & shifted(floor & shifted(floor, -way), -way)
    return list(bits(found))


def _packed_room(height: int, width: int, num_boxes: int) -> Room:
    """Return a room without inner walls, targets packed at its top: dull, but the last box can always be pulled down."""
    ground = [row * (width - 1) + column for row in range(1, height - 1) for column in range(1, width - 1)]
    return Room(height, width, mask(ground), tuple(ground[:num_boxes]))


class _Draft:
    """The hardest level so far in one room, as a backward game.

    Attributes:
        score: How hard it is.
    """

    def __init__(self, room: Room, longest: int) -> None:
        self._room, self._distances = room, room.distances()
        self._targets = mask(room.targets)
        self._game = [_Position(self._targets, room.targets, 0, 0, longest)]
        self.score = _UNUSABLE

    def begin_packed(self) -> None:
        """Pull the last box down."""
        start, stride = self._game[0], self._room.width - 1
        self._game.append(_after(start, _Pull(0, stride, start.cells[-1] + stride)))
        self.score = _UNUSABLE + 1

    def improve(self, rng: random.Random, times: int) -> None:
        """Time and again, go on from somewhere in the game in another way, and keep what is no easier."""
        for _ in range(times):
            game = self._game[: rng.randrange(max(len(self._game) - 1, 1)) + 1]
            self._play_on(rng, game)
            score = self._score_of(game)
            if score >= self.score:
                self.score, self._game = score, game

    def _play_on(self, rng: random.Random, game: list[_Position]) -> None:
        for _ in range(_MOST_PULLS - len(game)):
            pulls = self._pulls(game[-1])
            if not pulls:
                return
            weights = [self._weight(game[-1].cells, pull) for pull in pulls]
            game.append(_after(game[-1], rng.choices(pulls, weights)[0]))

    def _pulls(self, now: _Position) -> list[_Pull]:
        free = self._room.floor & ~now.boxes
        # The player may begin anywhere, for there is no walk after the last push.
        layers = reach(1 << now.player, free, self._room.width - 1) if now.way else [free]
        in_time = list(islice(layers, now.left))
        found: list[_Pull] = []
        for way in self._room.ways:
            places = shifted(now.boxes, way) & shifted(free, -way)
            if places:
                for walk, layer in enumerate(in_time):
                    found += [_Pull(walk, way, place) for place in bits(layer & places)]
        return found

    def _weight(self, cells: tuple[int, ...], pull: _Pull) -> float:
        box = pull.place - pull.way
        distances = self._distances[cells.index(box)]
        return (_AWAY if distances[pull.place] > distances[box] else _BACK) / (1 + _LAZINESS * pull.walk)

    def _score_of(self, game: list[_Position]) -> float:
        end = game[-1]
        if end.boxes == self._targets:
            return _UNUSABLE
        changes = sum(now.player - 2 * now.way != last.player - last.way for last, now in pairwise(game[1:]))
        return matching(self._distances, end.cells) + _CHANGE * changes - _IDLE * (end.boxes & self._targets).bit_count()

    def level(self, rng: random.Random) -> Level:
        """Return the level; where moves are left, the player begins anywhere within them."""
        end, floor, ways = self._game[-1], self._room.floor, self._room.ways
        layers = islice(reach(1 << end.player, floor & ~end.boxes, ways[1]), end.left + 1)
        start = at = rng.choice([cell for layer in layers for cell in bits(layer)])
        moves: list[int] = []
        for now in self._game[:0:-1]:
            moves += [*path(floor & ~now.boxes, at, now.player, ways), -now.way]
            at = now.player - now.way
        return Level(self._room, tuple(bits(end.boxes)), start, tuple(moves))


def _after(now: _Position, pull: _Pull) -> _Position:
    walk, way, place = pull
    box = place - way
    cells = tuple(place if cell == box else cell for cell in now.cells)
    return _Position(now.boxes ^ 1 << box ^ 1 << place, cells, place + way, way, now.left - walk - 1)
