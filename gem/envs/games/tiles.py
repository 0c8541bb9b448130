"""The board of 2048: how tiles slide, where new ones come, and how to look ahead.

A board is 16 bytes, row by row; a byte holds the exponent of its tile, 0 for none. What a row becomes is found once and kept.
Knows nothing of turns and rewards (`gem.envs.games.game2048`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

__all__ = ["EMPTY", "HORIZON", "LINES", "WAYS", "Board", "is_stuck", "plan", "slide", "spawn"]

Board: TypeAlias = bytes

WAYS = ("left", "right", "up", "down")
EMPTY: Board = bytes(16)
HORIZON = 20  # moves that `plan` looks ahead
_COMMIT = HORIZON // 2  # moves of a line that are worth following before the next plan
_WIDTH = 32  # lines that it follows at once; half of them where the goal is far, since there is slack to make up for it
_FAR = 8
_FOUR_SHARE = 0.1
_TWO, _FOUR = b"\1", b"\2"

# What the board is worth, the board, the move that led there, and the node before.
_Node: TypeAlias = "tuple[int, Board, int, _Node | None]"


class _Left(dict[bytes, bytes]):
    """Row to the row slid left."""

    def __missing__(self, row: bytes) -> bytes:
        tiles = [tile for tile in row if tile]
        slid: list[int] = []
        at = 0
        while at < len(tiles):
            twins = at + 1 < len(tiles) and tiles[at] == tiles[at + 1]
            slid.append(tiles[at] + twins)
            at += 1 + twins
        self[row] = done = bytes(slid).ljust(4, b"\0")
        return done


class _Right(dict[bytes, bytes]):
    """Row to the row slid right."""

    def __missing__(self, row: bytes) -> bytes:
        self[row] = done = _LEFT[row[::-1]][::-1]
        return done


class _Lines(dict[bytes, str]):
    """Row to its text."""

    def __missing__(self, row: bytes) -> str:
        self[row] = line = " ".join(f"{1 << tile if tile else '.':>5}" for tile in row)
        return line


class _Worth(dict[bytes, int]):
    """Row to what its tiles are worth: more than their sum, so that a merge counts for something."""

    def __missing__(self, row: bytes) -> int:
        # The power is the one that wins in the fewest moves, found by trial.
        self[row] = worth = sum(round(64 * 2 ** (1.2 * tile)) for tile in row if tile)
        return worth


_LEFT = _Left()
_RIGHT = _Right()
_WORTH = _Worth()
LINES = _Lines()


def slide(board: Board, way: int) -> Board:
    """Return `board` with all tiles slid and merged towards `WAYS[way]`."""
    table = _RIGHT if way & 1 else _LEFT
    if way < 2:
        return table[board[0:4]] + table[board[4:8]] + table[board[8:12]] + table[board[12:16]]
    columns = table[board[0::4]] + table[board[1::4]] + table[board[2::4]] + table[board[3::4]]
    return columns[0::4] + columns[1::4] + columns[2::4] + columns[3::4]


def spawn(board: Board, draw: float) -> Board:
    """Put a new tile on an empty cell of `board`; `draw`, in [0, 1), decides which and whether it is a 4."""
    place = draw * board.count(0)
    nth = int(place)
    tile = _FOUR if place - nth < _FOUR_SHARE else _TWO
    at = board.find(0)
    while nth:
        at = board.find(0, at + 1)
        nth -= 1
    return board[:at] + tile + board[at + 1 :]


def is_stuck(board: Board) -> bool:
    """Say whether no move changes the board."""
    return _slides(board) == (board,) * 4


def plan(board: Board, draws: Sequence[float], goal: int) -> list[tuple[Board, int]]:
    """Return a good line as its boards and the move on each; it is empty where no move is left.

    A beam search over what is certain to come, since `draws` are those of the next spawns. It stops at the exponent `goal`; a
    line that does not get there is cut where the end of sight begins to mislead.
    """
    beam: list[_Node] = [(0, board, -1, None)]
    width = _WIDTH if goal < _FAR else _WIDTH // 2
    for draw in draws:
        reached: dict[Board, _Node] = {}
        for node, way, slid in _steps(beam):
            if goal in slid:
                return _line_to((0, slid, way, node))
            child = spawn(slid, draw)
            if child not in reached:
                reached[child] = (_worth(child), child, way, node)
        if not reached:
            break
        beam = sorted(reached.values(), key=_worth_of, reverse=True)[:width]
    return _line_to(beam[0])[:_COMMIT]


def _steps(beam: Sequence[_Node]) -> Iterator[tuple[_Node, int, Board]]:
    for node in beam:
        board = node[1]
        for way, slid in enumerate(_slides(board)):
            if slid != board:
                yield node, way, slid


def _slides(board: Board) -> tuple[Board, Board, Board, Board]:
    # `slide` in all four directions at once.
    left, right = _LEFT, _RIGHT
    a, b, c, d = board[0:4], board[4:8], board[8:12], board[12:16]
    e, f, g, h = board[0::4], board[1::4], board[2::4], board[3::4]
    up = left[e] + left[f] + left[g] + left[h]
    down = right[e] + right[f] + right[g] + right[h]
    return (
        left[a] + left[b] + left[c] + left[d],
        right[a] + right[b] + right[c] + right[d],
        up[0::4] + up[1::4] + up[2::4] + up[3::4],
        down[0::4] + down[1::4] + down[2::4] + down[3::4],
    )


def _worth(board: Board) -> int:
    return _WORTH[board[0:4]] + _WORTH[board[4:8]] + _WORTH[board[8:12]] + _WORTH[board[12:16]]


def _worth_of(node: _Node) -> int:
    return node[0]


def _line_to(node: _Node) -> list[tuple[Board, int]]:
    line: list[tuple[Board, int]] = []
    _, _, way, before = node
    while before is not None:
        line.append((before[1], way))
        _, _, way, before = before
    return line[::-1]
