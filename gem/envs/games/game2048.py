"""Game2048: slide and merge tiles up to a target."""

from __future__ import annotations

import random
from copy import copy
from typing import Any

from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.moves import direction
from gem.envs.games.tiles import EMPTY, HORIZON, LINES, WAYS, Board, is_stuck, plan, slide, spawn

__all__ = ["Game2048"]

_WAY_OF = {word: way for way, word in enumerate(WAYS)}
_LEAST_TARGET, _GREATEST_TARGET = 8, 1 << 17


class Game2048(Game):
    """Tiles slide and equal ones merge on a board of 4x4; the aim is one tile of `target_tile`.

    Reward: each doubling of the best tile pays the same share; the way from the first board to the target pays 1.
    """

    FORMAT = "Write up, down, left or right in \\boxed{}, such as \\boxed{left}."
    VARIANTS = tuple({"target_tile": tile, "max_turns": turns} for tile, turns in ((16, 11), (32, 22), (64, 39)))

    def __init__(self, target_tile: int = 64, max_turns: int = 50, is_random: bool = False) -> None:
        self.configure(target_tile, max_turns)
        self.is_random = is_random
        self._chance = random.Random(0)
        self.tiles: Board = EMPTY
        self._best = self._moves = 0
        self._share = 0.0
        self._line: dict[tuple[int, Board], int] = {}

    def configure(self, target_tile: int, max_turns: int) -> None:
        """Set the target and the turn limit."""
        if type(target_tile) is not int or not _LEAST_TARGET <= target_tile <= _GREATEST_TARGET or target_tile.bit_count() != 1:
            self.bad_parameter(f"target_tile must be a power of 2 from {_LEAST_TARGET} to {_GREATEST_TARGET}, not {target_tile!r:.80}")
        enough = turns_enough(target_tile)
        if max_turns < enough:
            self.bad_parameter(
                f"max_turns must be {enough} or more for target_tile={target_tile}, not {max_turns}: a turn brings one tile, mostly a 2"
            )
        self.target, self.max_turns = target_tile, max_turns
        self._goal = target_tile.bit_length() - 1

    def deal(self, rng: random.Random) -> None:
        """Put two tiles on the board; `rng` places the later ones too."""
        self._chance = rng
        self.tiles = spawn(spawn(EMPTY, rng.random()), rng.random())
        self._best, self._moves = max(self.tiles), 0
        self._share = 1 / (self._goal - self._best)
        self._line = {}

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"This is 2048 on a board of 4x4. A move slides all tiles as far as they go in one direction; two equal tiles that meet "
            f"merge into one of twice the value, each at most once a move. Then a 2, or now and then a 4, appears on a random empty cell. "
            f"Make a tile of {self.target} in at most {self.max_turns} turns. You lose when no move is left. A direction in which no "
            f"tile can move is not allowed and costs a turn. Empty cells are shown as dots.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the board, a line for each row."""
        tiles = self.tiles
        return f"{LINES[tiles[0:4]]}\n{LINES[tiles[4:8]]}\n{LINES[tiles[8:12]]}\n{LINES[tiles[12:16]]}"

    def play(self, move: str) -> Played:
        """Slide the tiles and add one."""
        way = _WAY_OF.get(move)
        if way is None:
            way = _read(move)
        slid = slide(self.tiles, way)
        if slid == self.tiles:
            raise Illegal(f"No tile can move {WAYS[way]}.")
        self._moves += 1
        if self._goal in slid:
            self.tiles = slid
            return f"You made a tile of {self.target}.", self._progress(self._goal), True
        self.tiles = tiles = spawn(slid, self._chance.random())
        best = max(tiles)
        reward = self._progress(best) if best > self._best else 0.0
        if 0 not in tiles and is_stuck(tiles):
            return f"You moved {WAYS[way]}. No move is left.\n\n{self.board()}", reward, False
        return f"You moved {WAYS[way]}.", reward, None

    def _progress(self, best: int) -> float:
        reward = (best - self._best) * self._share
        self._best = best
        return reward

    def gold(self) -> Any:
        """Return the draws that place the next tiles: `draw * empty cells`, rounded down, counts empty cells row by row."""
        return self._draws(8)

    def _draws(self, count: int) -> list[float]:
        ahead = copy(self._chance)
        return [ahead.random() for _ in range(count)]

    def random_move(self, rng: random.Random) -> str:
        """Return any direction in which a tile can move."""
        ways = [0, 1, 2, 3]
        while len(ways) > 1:
            way = ways.pop(int(rng.random() * len(ways)))
            if slide(self.tiles, way) != self.tiles:
                return WAYS[way]
        return WAYS[ways[0]]

    def best_move(self, rng: random.Random) -> str | None:
        """Follow a line planned with the tiles to come in sight."""
        now = self._moves, self.tiles
        if now not in self._line:
            line = plan(self.tiles, self._draws(HORIZON), self._goal)
            self._line = {(self._moves + at, tiles): way for at, (tiles, way) in enumerate(line)}
        return WAYS[self._line[now]] if now in self._line else None


def _read(move: str) -> int:
    word = direction(move)
    if word is None:
        raise Unreadable("the box does not hold a direction")
    return _WAY_OF[word]


def turns_enough(target: int) -> int:
    """Return a number of turns in which good play makes `target`, wherever tiles appear."""
    # 2s alone take half of target; the rest is for the small tiles that are left over then: two of each doubling, about.
    return target // 2 + 2 * target.bit_length() - 7
