"""The table of the games: ids, parameters and what each declares."""

from __future__ import annotations

from typing import Any, Literal

from gem.specs import EnvInfo, EnvSpec

__all__ = ["SPECS"]

SPECS: list[EnvSpec] = []


def _game(
    name: str,
    entry_point: str,
    description: str,
    variants: dict[str, dict[str, Any]],
    *,
    sees: Literal["transcript", "state"] = "state",
    split: Literal["content", "seed"] = "content",
    low: float = -0.1,
    high: float = 1.0,
    tags: tuple[str, ...] = (),
    on_invalid: dict[str, Any] | None = None,
) -> None:
    info = EnvInfo(
        description=description,
        domain="games",
        snapshot="exact",
        oracle="actions",
        oracle_sees=sees,
        split=split,
        reward_range=(low, high),
        tags=("game", *tags),
    )
    policy = {"mode": "end", "reward": -0.1} if on_invalid is None else on_invalid
    for variant, kwargs in variants.items():
        id = f"game:{name}-v0-{variant}" if variant else f"game:{name}-v0"
        SPECS.append(EnvSpec(id, f"gem.envs.games.{entry_point}", {**kwargs, "on_invalid": policy}, info=info))


_game(
    "GuessTheNumber",
    "guess_the_number:GuessTheNumber",
    "Find a hidden number by higher and lower",
    {
        "": {},
        "easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
        "hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)

_game(
    "Crosswords",
    "crosswords.env:Crosswords",
    "Solve a small crossword letter by letter",
    {
        "easy": {"hardcore": False, "max_turns": 30, "num_words": 3},
        "hard": {"hardcore": True, "max_turns": 40, "num_words": 3},
        "random": {"is_random": True},
    },
)

_game(
    "WordSearch",
    "word_search.env:WordSearch",
    "Find words in a grid of letters",
    {
        "easy": {"hardcore": False, "max_turns": 20, "num_words": 5},
        "hard": {"hardcore": True, "max_turns": 20, "num_words": 5},
        "random": {"is_random": True},
    },
)

_game(
    "Minesweeper",
    "minesweeper:Minesweeper",
    "Open all cells that hide no mine",
    {
        "easy": {"rows": 5, "cols": 5, "num_mines": 5, "max_turns": 25},
        "hard": {"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 64},
        "random": {"is_random": True},
    },
)

_game(
    "Game2048",
    "game2048:Game2048",
    "Slide and merge tiles up to a target",
    {
        "easy": {"target_tile": 64, "max_turns": 39},
        "hard": {"target_tile": 256, "max_turns": 140},
        "extreme-hard": {"target_tile": 512, "max_turns": 280},
        "random": {"is_random": True},
    },
    split="seed",
)

_game(
    "Mastermind",
    "mastermind:Mastermind",
    "Find a hidden code by black and white pegs",
    {
        "easy": {"code_length": 2, "num_numbers": 6, "max_turns": 10},
        "hard": {"code_length": 4, "num_numbers": 8, "max_turns": 30},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)

_game(
    "Sokoban",
    "sokoban.env:Sokoban",
    "Push boxes onto targets",
    {
        "easy": {"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
        "hard": {"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
        "random": {"is_random": True},
    },
)

_game(
    "Wordle",
    "wordle:Wordle",
    "Find a hidden word by marks for its letters",
    {
        "easy": {"word_length": 3, "max_turns": 15},
        "hard": {"word_length": 5, "max_turns": 25},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)

_game(
    "Hangman",
    "hangman:Hangman",
    "Find a hidden word letter by letter",
    {
        "easy": {"word_length": 3, "max_turns": 14},
        "hard": {"word_length": 7, "max_turns": 20},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)

for _variant, _kwargs, _low, _high in (
    ("easy", {"max_turns": 30, "min_clicks": 2, "max_clicks": 3}, -6.0, 0.95),
    ("hard", {"max_turns": 15, "min_clicks": 4, "max_clicks": 8}, -3.0, 0.85),
    ("random", {"is_random": True}, -6.0, 0.95),
):
    _game(
        "WikiGame",
        "wiki.env:WikiGame",
        "Get from a page of an encyclopedia to another by its links",
        {_variant: _kwargs},
        low=_low,
        high=_high,
        on_invalid={"mode": "retry", "reward": -0.2},
    )

_game(
    "Sudoku",
    "sudoku:Sudoku",
    "Fill a grid that has exactly one solution",
    {
        "": {},
        "easy": {"clues": 8, "max_turns": 15, "scale": 4},
        "hard": {"clues": 35, "max_turns": 50, "scale": 9},
        "random": {"is_random": True},
    },
)

_tiles = ("FifteenPuzzle", "fifteen_puzzle:FifteenPuzzle", "Slide numbered tiles into order")
_game(*_tiles, {"": {}, "hard": {"num_rows": 4, "max_turns": 50}})
_game(*_tiles, {"easy": {"num_rows": 2, "max_turns": 10}}, sees="transcript", split="seed")  # 11 starts
_game(*_tiles, {"random": {"is_random": True}}, split="seed")  # a third of the starts are those 11

_game(
    "TowerofHanoi",
    "tower_of_hanoi:TowerofHanoi",
    "Carry a tower of disks to another peg",
    {
        "": {},
        "easy": {"num_disks": 3, "max_turns": 10},
        "hard": {"num_disks": 5, "max_turns": 35},
        "random": {"is_random": True},
    },
    sees="transcript",
    split="seed",
)
