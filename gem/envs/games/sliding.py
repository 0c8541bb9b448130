"""Sliding-tile boards: how tiles slide, how a board is mixed, and how it is put in order.

A board is a tuple of tiles, row by row, with 0 for the gap; in order, the gap is last. A direction is the way the tile slides.
Knows nothing of turns and rewards: `gem.envs.games.fifteen_puzzle` does.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from typing import TypeAlias

__all__ = ["BACK", "Board", "after", "in_order", "mix", "nearby", "put_in_order", "shortest", "shuffle", "slides"]

Board: TypeAlias = tuple[int, ...]

BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}
_GREED = 2  # times the least number of slides: a little longer way, found much sooner


def in_order(side: int) -> Board:
    """Return the board that is to be reached."""
    return (*range(1, side * side), 0)


@cache
def slides(side: int) -> tuple[Mapping[str, int], ...]:
    """Return, for each place of the gap, the directions a tile can slide in and the place it comes from."""
    places = []
    for gap in range(side * side):
        row, column = divmod(gap, side)
        ways = {}
        if row < side - 1:
            ways["up"] = gap + side
        if row > 0:
            ways["down"] = gap - side
        if column < side - 1:
            ways["left"] = gap + 1
        if column > 0:
            ways["right"] = gap - 1
        places.append(ways)
    return tuple(places)


def after(board: Board, ways: Sequence[str]) -> Board:
    """Return the board that slides lead to."""
    tiles = list(board)
    table = slides(int(len(tiles) ** 0.5))
    gap = tiles.index(0)
    for way in ways:
        place = table[gap][way]
        tiles[gap], tiles[place] = tiles[place], 0
        gap = place
    return tuple(tiles)


# -- starts ------------------------------------------------------------------------------------------------------------


@cache
def nearby(side: int, most: int) -> tuple[Board, ...]:
    """Return every board that 1 to `most` slides lead to. With a `side` of 2 there are at most 11; with more, very many."""
    found = [in_order(side)]
    rim = found
    for _ in range(most):
        reached = dict.fromkeys(after(board, (way,)) for board in rim for way in slides(side)[board.index(0)])
        rim = [board for board in reached if board not in found]
        if not rim:
            break
        found = found + rim
    return tuple(found[1:])


def mix(side: int, length: int, rng: random.Random) -> tuple[Board, list[str]]:
    """Walk `length` slides away from the order, never straight back; return the board and the slides that lead back.

    Where the walk comes to a board again, that loop is left out. `side` is 3 or more.
    """
    table = slides(side)
    tiles = list(in_order(side))
    gap, came = len(tiles) - 1, ""
    ways: list[str] = []
    key, met = 0, {0: 0}  # each slide adds to key what it changes, so that no board has to be hashed
    for _ in range(4 * length):
        choices = [way for way in table[gap] if way != came]
        way = choices[int(rng.random() * len(choices))]
        place = table[gap][way]
        tile = tiles[place]
        tiles[gap], tiles[place] = tile, 0
        key += (tile << 8 * gap) - (tile << 8 * place)
        gap, came = place, BACK[way]
        ways.append(way)
        if key in met:
            del ways[met[key] :]
            met = {known: at for known, at in met.items() if at <= len(ways)}
        met[key] = len(ways)
        if len(ways) == length:
            break
    if not ways:
        return after(in_order(side), ("down",)), ["up"]
    return tuple(tiles), [BACK[way] for way in reversed(ways)]


def shuffle(side: int, rng: random.Random) -> Board:
    """Return any board that slides can put in order, and that is not in order yet. `side` is 3 or more."""
    tiles = list(in_order(side))
    rng.shuffle(tiles)
    if not _can_be_ordered(tiles, side):
        one, other = tiles.index(1), tiles.index(2)
        tiles[one], tiles[other] = 2, 1
    if tuple(tiles) == in_order(side):
        tiles[:3] = 2, 3, 1  # a cycle of three tiles can always be undone
    return tuple(tiles)


def _can_be_ordered(tiles: Sequence[int], side: int) -> bool:
    # Every slide is a swap of the gap with a tile, and moves the gap by one: both parities change together.
    swaps, left = 0, list(tiles)
    for place, wanted in enumerate(in_order(side)):
        if left[place] != wanted:
            left[left.index(wanted)], left[place] = left[place], wanted
            swaps += 1
    row, column = divmod(tiles.index(0), side)
    return (swaps + row + column) % 2 == 0


# -- ways back ---------------------------------------------------------------------------------------------------------


def shortest(board: Board, most: int, max_boards: int = 3000) -> list[str] | None:
    """Return the fewest slides that put `board` in order.

    None where they are more than `most`, or where `max_boards` boards were looked at without finding them.
    """
    return _bring(range(1, len(board)), board, frozenset(), 1, most, max_boards)


def put_in_order(board: Board) -> list[str]:
    """Return slides that put `board` in order: not the fewest, but found soon. `side` is 3 or more.

    The rows from the top, then the columns of the last two rows from the left, two tiles at a time, which then stay; the last
    six places at once. Any two tiles can be brought home in the region that this leaves, so it never fails.
    """
    ways: list[str] = []
    placed: frozenset[int] = frozenset()
    for group in _groups(int(len(board) ** 0.5)):
        ways += _bring(group, after(board, ways), placed, _GREED) or ()
        placed |= {tile - 1 for tile in group}
    return ways


def _groups(side: int) -> list[Sequence[int]]:
    groups: list[Sequence[int]] = []
    for first in range(1, side * (side - 2), side):
        starts = range(first - side % 2, first + side - 1, 2)
        groups += [range(max(start, first), start + 2) for start in starts]
    groups += [(tile, tile + side) for tile in range(side * (side - 2) + 1, side * (side - 1) - 2)]
    placed = {tile for group in groups for tile in group}
    return [*groups, [tile for tile in range(1, side * side) if tile not in placed]]


def _bring(
    group: Sequence[int], board: Board, placed: frozenset[int], greed: int, most: int = 10**6, max_boards: int = 10**6
) -> list[str] | None:
    """Return slides that bring the tiles of `group` home without touching the places `placed`: A*, where other tiles are alike."""
    table = slides(int(len(board) ** 0.5))
    homes = _distances(len(board))
    start = (board.index(0), *(board.index(tile) for tile in group))
    rest = sum(homes[tile - 1][place] for tile, place in zip(group, start[1:], strict=True))
    came: dict[tuple[int, ...], tuple[tuple[int, ...], str]] = {}
    cost = {start: 0}
    rim = [(greed * rest, rest, start)]
    while rim and len(cost) <= max_boards:
        _, rest, state = heappop(rim)
        if rest == 0:
            return _trace(came, state, start)
        made, gap = cost[state] + 1, state[0]
        for way, place in table[gap].items():
            if place in placed:
                continue
            left, after_it = rest, list(state)
            after_it[0] = place
            if place in state:
                at = state.index(place)
                after_it[at] = gap
                home = homes[group[at - 1] - 1]
                left += home[gap] - home[place]
            new = tuple(after_it)
            if made + left <= most and made < cost.get(new, 10**6):
                cost[new], came[new] = made, (state, way)
                heappush(rim, (made + greed * left, left, new))
    return None


def _trace(came: Mapping[tuple[int, ...], tuple[tuple[int, ...], str]], state: tuple[int, ...], start: tuple[int, ...]) -> list[str]:
    ways: list[str] = []
    while state != start:
        state, way = came[state]
        ways.append(way)
    return ways[::-1]


@cache
def _distances(places: int) -> list[list[int]]:
    side = int(places**0.5)
    return [[abs(a // side - b // side) + abs(a % side - b % side) for b in range(places)] for a in range(places)]
