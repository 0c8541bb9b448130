"""FifteenPuzzle: slide numbered tiles into order."""

from __future__ import annotations

import random
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import direction
from gem.envs.games.sliding import BACK, Board, after, in_order, mix, nearby, put_in_order, shortest, shuffle, slides

__all__ = ["FifteenPuzzle"]

_CONSOLATION = 0.5
_ALGORITHMS = ("monte_carlo", "pure_random")
_MAX_ROWS, _MAX_SHUFFLED_ROWS = 8, 5  # a way back from a shuffled board is soon found up to 5
_MIN_SPLIT = 16  # slides from the order within which there are over 10,000 boards, enough for train and test to share none
_MAX_MIXES, _MAX_SHUFFLES, _MAX_STEPS = 400, 12, 16  # no board of the split: a chance below 1e-11
_NO_TILE = {"up": "below", "down": "above", "left": "to the right of", "right": "to the left of"}


class FifteenPuzzle(Game):
    """Tiles 1 to `num_rows**2 - 1` and a gap; a move slides a tile into the gap, and its direction is the way the tile goes.

    `init_algo="monte_carlo"` mixes the board by a walk of four slides in five turns. `"pure_random"` shuffles the tiles;
    where the way back that is known takes too many turns, the start lies as far along that way as is needed. Boards of 2 rows
    are any of those that `max_turns` slides can order, each equally often.

    Reward: 1 for the order; at the turn limit `0.5 * (tiles in place) / (tiles)`.
    """

    FORMAT = "Write the way a tile slides into the gap in \\boxed{}: up, down, left or right, such as \\boxed{up}."
    VARIANTS = ({"num_rows": 2, "max_turns": 10}, {"num_rows": 3, "max_turns": 20}, {"num_rows": 4, "max_turns": 50})

    init_algo: str

    def __init__(self, num_rows: int = 3, max_turns: int = 20, init_algo: str = "monte_carlo", is_random: bool = False) -> None:
        self.configure(num_rows, max_turns, init_algo)
        self.is_random = is_random
        if is_random:
            self.configure(**self.VARIANTS[-1])  # no episode is longer than max_turns says before the first reset
        self._set_up(in_order(self.side), [])

    def configure(self, num_rows: int, max_turns: int, init_algo: str | None = None) -> None:
        """Set the size of the board, the turn limit, and unless it is None how boards are mixed."""
        algorithm = self.init_algo if init_algo is None else init_algo
        if algorithm not in _ALGORITHMS:
            self.bad_parameter(f"init_algo must be one of {', '.join(_ALGORITHMS)}, not {algorithm!r:.80}")
        most = _MAX_ROWS if algorithm == "monte_carlo" else _MAX_SHUFFLED_ROWS
        if not 2 <= num_rows <= most:
            self.bad_parameter(f"num_rows must be from 2 to {most} with init_algo={algorithm!r}, not {num_rows}")
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        self.side, self.max_turns, self.init_algo = num_rows, max_turns, algorithm

    # -- starts --------------------------------------------------------------------------------------------------------

    def deal(self, rng: random.Random) -> None:
        """Mix the board."""
        if self.side == 2:
            board = rng.choice(nearby(2, min(self.max_turns, 6)))  # no board of 2 rows is farther away
            self._set_up(board, shortest(board, 6) or [])
        elif self.init_algo == "monte_carlo":
            self._set_up(*self._mixed(rng))
        else:
            self._set_up(*self._shuffled(rng))

    @property
    def _room(self) -> int:
        return max(1, self.max_turns - self.max_turns // 5)  # leaves turns to come back from a few mistakes

    def _mixed(self, rng: random.Random) -> tuple[Board, list[str]]:
        for _ in range(_MAX_MIXES):
            board, way = mix(self.side, max(1, self._room - int(rng.random() * 2)), rng)
            if self._fits_split(board):
                break
        return board, way

    def _shuffled(self, rng: random.Random) -> tuple[Board, list[str]]:
        for _ in range(_MAX_SHUFFLES):
            board = shuffle(self.side, rng)
            way = put_in_order(board)
            skipped = max(0, len(way) - self._room)
            board, way = after(board, way[:skipped]), way[skipped:]
            for at in range(min(_MAX_STEPS, len(way))):
                start = after(board, way[:at])
                if self._fits_split(start):
                    return start, way[at:]
        return board, way

    def _fits_split(self, board: Board) -> bool:
        return self._room < _MIN_SPLIT or self.in_split(repr(board))

    def _set_up(self, board: Board, way: list[str]) -> None:
        width = max(2, len(str(len(board))))
        self.tiles = list(board)
        self._gap = board.index(0)
        self._cells = [(str(tile) if tile else "__").rjust(width) for tile in board]
        self._placed = sum(tile == place + 1 for place, tile in enumerate(board))
        self._answer = way
        self._way = way[::-1]  # a way to order from here, its next slide last

    # -- play ----------------------------------------------------------------------------------------------------------

    def rules(self) -> str:
        """Return the rules."""
        side, last = self.side, self.side**2 - 1
        return (
            f"Fifteen puzzle with {last} tiles: {side} rows of {side} places hold the tiles 1 to {last} and a gap, written __. Get the "
            f"tiles into rising order, row by row from the top left, with the gap at the bottom right, in at most {self.max_turns} turns. "
            "A turn slides a tile next to the gap into it, and you say which way the tile moves: up slides the tile below the gap up, "
            "down the tile above it down, left the tile to its right to the left, right the tile to its left to the right."
            f"\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the tiles, row by row."""
        cells, side = self._cells, self.side
        return "\n".join([" ".join(cells[at : at + side]) for at in range(0, side * side, side)])

    def play(self, move: str) -> Played:
        """Slide a tile."""
        way = move if move in BACK else direction(move)
        if way is None:
            raise Unreadable("the box does not hold up, down, left or right")
        gap = self._gap
        place = slides(self.side)[gap].get(way)
        if place is None:
            raise Illegal(f"No tile can slide {way}: there is none {_NO_TILE[way]} the gap.")
        tile = self.tiles[place]
        self._slide(tile, place, gap)
        if self._way and self._way[-1] == way:
            self._way.pop()
        else:
            self._way.append(BACK[way])
        if self._placed == self.side**2 - 1:
            return f"Tile {tile} slid {way}. All tiles are in order: you have won.", 1.0, True
        return f"Tile {tile} slid {way}.", 0.0, None

    def _slide(self, tile: int, place: int, gap: int) -> None:
        self.tiles[gap], self.tiles[place] = tile, 0
        cells = self._cells
        cells[gap], cells[place] = cells[place], cells[gap]
        self._placed += (tile == gap + 1) - (tile == place + 1)
        self._gap = place

    def at_limit(self) -> float:
        """Pay for the tiles in place."""
        return _CONSOLATION * self._placed / (self.side**2 - 1)

    def gold(self) -> Any:
        """Return slides that win from the start."""
        return list(self._answer)

    def random_move(self, rng: random.Random) -> str:
        """Return any direction in which a tile can slide."""
        ways = list(slides(self.side)[self._gap])
        return ways[int(rng.random() * len(ways))]

    def best_move(self, rng: random.Random) -> str | None:
        """Go the way that is known, where enough turns are left for it, else the shortest, where it is found and short enough."""
        left = self.max_turns - self.turn
        if self.side > 2 and len(self._way) <= left:
            return self._way[-1] if self._way else None
        way = shortest(tuple(self.tiles), left)
        return way[0] if way else None
