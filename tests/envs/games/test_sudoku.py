"""Sudoku: one solution and exactly so many clues, what is said of a wrong number, rewards, and the faults of gem-llm."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.sudoku_levels import FEWEST_CLUES, make_level
from gem.envs.games.sudoku_solver import Search, TooLong, count_solutions, layout
from gem.errors import RegistrationError

VARIANTS = ["game:Sudoku-v0", "game:Sudoku-v0-easy", "game:Sudoku-v0-hard", "game:Sudoku-v0-random"]
DEFAULT, EASY, HARD, RANDOM = VARIANTS

# One solution; its first row is 1 2 3 4.
GRID = [0, 2, 3, 4, 3, 0, 0, 2, 2, 0, 4, 0, 4, 3, 0, 1]
SOLUTION = [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]


def start(id=HARD, seed=0, **kwargs):
    env = gem.make(id, **kwargs)
    env.reset(seed=seed)
    return env


def on_grid(**kwargs):
    env = start(EASY, **kwargs)
    env.unwrapped._set_up(list(GRID), list(SOLUTION))
    return env


def boxed(move):
    return f"\\boxed{{{move}}}"


def play_out(env, choose):
    total = 0.0
    while True:
        _, reward, terminated, truncated, info = env.step(choose(env))
        assert not truncated
        total += reward
        if terminated:
            return total, info


@pytest.mark.parametrize("id", VARIANTS)
def test_the_oracle_wins_and_its_rewards_sum_to_exactly_1(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        total, info = play_out(env, lambda e: e.oracle_action())
        assert (total, info["success"]) == (1.0, True)


@pytest.mark.parametrize("id", VARIANTS)
def test_random_play_is_readable_and_stays_below_the_oracle(id):
    env = gem.make(id)
    rewards, wins = [], 0
    for seed in range(200):
        env.reset(seed=seed)
        total, info = play_out(env, lambda e: e.sample_random_action())
        rewards.append(total)
        wins += info["success"]
    assert sum(rewards) / 200 <= 0.8
    assert wins / 200 <= (0.5 if id == EASY else 0.2)


def test_random_play_never_ends_by_an_unreadable_move():
    for id in (EASY, HARD):
        env = start(id)
        assert play_out(env, lambda e: e.sample_random_action())[1]["metrics"]["turns"] >= len(env.unwrapped.empty)


@pytest.mark.parametrize(("id", "empty"), [(DEFAULT, 51), (EASY, 8), (HARD, 46)])
def test_clues_are_the_given_cells_and_leave_one_solution(id, empty):
    env = gem.make(id)
    for seed in range(20):
        env.reset(seed=seed)
        grid, solution = env.unwrapped.grid, env.unwrapped.solution
        assert grid.count(0) == empty
        assert count_solutions(grid) == 1
        assert all(number in (0, right) for number, right in zip(grid, solution, strict=True))
        assert all(
            sorted(solution[cell] for cell in unit) == [*range(1, env.unwrapped.scale + 1)] for unit in layout(env.unwrapped.scale).units
        )
        assert env.unwrapped.gold()[0] == solution[: env.unwrapped.scale]


@pytest.mark.parametrize(("scale", "clues"), [(4, 4), (4, 5), (4, 11), (4, 15), (9, 19), (9, 25), (9, 26), (9, 28), (9, 33), (9, 80)])
@pytest.mark.parametrize("split", ["train", "test"])
def test_any_number_of_clues_is_met_exactly(scale, clues, split):
    env = gem.make(DEFAULT, scale=scale, clues=clues, split=split)
    for seed in range(2):
        env.reset(seed=seed)
        grid = env.unwrapped.grid
        assert len(grid) - grid.count(0) == clues
        assert count_solutions(grid) == 1


@pytest.mark.parametrize("id", [EASY, HARD, RANDOM])
def test_train_and_test_share_no_start_and_starts_hardly_repeat(id):
    env = gem.make(id)
    starts = {split: {env.reset(options={"task": f"{split}/{i}"})[0] for i in range(250)} for split in ("train", "test")}
    assert not starts["train"] & starts["test"]
    assert all(len(shown) >= 245 for shown in starts.values())


def test_a_reset_takes_milliseconds():
    env = start()
    took = []
    for seed in range(100):
        began = time.process_time()
        env.reset(seed=seed)
        took.append(time.process_time() - began)
    assert sorted(took)[-2] < 0.05  # all but one, which the machine may have held up


def test_the_board_shows_boxes_rows_and_columns():
    assert on_grid().unwrapped.board().splitlines() == [
        "    1 2   3 4",
        "1 | . 2 | 3 4",
        "2 | 3 . | . 2",
        "--+-----+-----",
        "3 | 2 . | 4 .",
        "4 | 4 3 | . 1",
    ]


def test_the_rules_tell_the_boxes_rightly():
    for id, said in ((EASY, "the 4 boxes of 2x2 cells"), (HARD, "the 9 boxes of 3x3 cells")):
        obs, _ = gem.make(id).reset(seed=0)
        assert said in obs
        assert "exactly one solution" in obs
        assert "\\boxed{1 2 3}" in obs
    assert "46 cells are empty, and you have 50 turns" in obs


@pytest.mark.parametrize(
    "move",
    [
        "1 1 1",
        "1, 1, 1",
        "(1, 1, 1)",
        "  1   1\t1 ",
        "row 1 col 1 num 1",
        "Row 1, Column 1: 1",
        "R1C1 = 1",
        "1 1 -> 1",
        "\\text{1 1 1}",
        "１ １ １",
    ],
)
def test_a_move_may_be_written_in_many_ways(move):
    obs, reward, terminated, _, info = on_grid().step(boxed(move))
    assert obs.startswith("1 in row 1, column 1 is right.\n\n")
    assert "1 | 1 2 | 3 4" in obs
    assert (reward, terminated, info) == (1 / 6, False, {})


def test_a_right_number_pays_once():
    env = on_grid()
    env.step(boxed("1 1 1"))
    obs, reward, terminated, _, info = env.step(boxed("1 1 1"))
    assert "filled already: it holds 1" in obs
    assert (reward, terminated) == (0.0, False)
    assert info["invalid_action"]["reason"]


@pytest.mark.parametrize(
    ("move", "said"),
    [
        ("1 1 4", "breaks a rule: there is a 4 in the same row and column."),
        ("2 2 3", "breaks a rule: there is a 3 in the same row and column and box."),
        ("3 4 1", "breaks a rule: there is a 1 in the same column and box."),
        ("1 2 2", "filled already"),
        ("0 1 1", "from 1 to 4"),
        ("1 5 1", "from 1 to 4"),
        ("1 1 9", "from 1 to 4"),
        ("-1 1 1", "from 1 to 4"),
        ("999999999999999999 1 1", "from 1 to 4"),
    ],
)
def test_a_forbidden_move_costs_the_turn_and_changes_nothing(move, said):
    env = on_grid()
    _, reward, terminated, _, info = env.step(boxed(move))
    assert said in info["invalid_action"]["reason"]
    assert (reward, terminated) == (0.0, False)
    assert (env.unwrapped.grid, env.unwrapped.turn) == (GRID, 1)


def test_a_number_that_is_merely_wrong_is_not_said_to_break_a_rule():
    seen = 0
    for seed in range(20):
        env = start(HARD, seed)
        game = env.unwrapped
        for cell in list(game.empty):
            for number in range(1, 10):
                if number != game.solution[cell] and not game._clash(cell, number):
                    game.turn = 0
                    obs, reward, terminated, _, info = env.step(boxed(f"{cell // 9 + 1} {cell % 9 + 1} {number}"))
                    assert "breaks no rule so far, but the solution has another number there" in obs
                    assert (reward, terminated, info, game.grid[cell]) == (0.0, False, {}, 0)
                    seen += 1
    assert seen > 100


def test_the_turn_limit_ends_the_game_without_further_pay():
    env = on_grid()
    env.unwrapped.turn = 14
    obs, reward, terminated, truncated, info = env.step(boxed("1 1 1"))
    assert (reward, terminated, truncated, info["success"]) == (1 / 6, True, False, False)
    assert "last of 15 turns" in obs


@pytest.mark.parametrize(
    "move", ["", "1 1", "1 1 1 1", "1 1 x", "one one one", "1.5 1 1", "\0", "\ud800", "²²²", "1" * 1_000_000, "1 " * 500_000]
)
def test_what_is_not_three_numbers_cannot_be_read(move):
    obs, reward, _, _, info = on_grid().step(boxed(move))
    assert reward <= 0.0
    assert info["invalid_action"]["reason"]
    assert len(obs) < 500


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=60) | st.text("0123456789 -,()", max_size=12))
def test_any_text_is_a_move_or_is_refused(text):
    env = on_grid()
    obs, reward, _, _, _ = env.step(boxed(text))
    assert reward in (-0.1, 0.0, 1 / 6)
    assert len(obs) < 500
    assert all(number in (0, right) for number, right in zip(env.unwrapped.grid, SOLUTION, strict=True))


def test_the_oracle_wins_after_mistakes_that_leave_turns_enough():
    env = on_grid()
    for _ in range(9):
        env.step(boxed("1 1 4"))
    assert play_out(env, lambda e: e.oracle_action())[1]["success"]


def test_the_oracle_says_when_it_is_too_late():
    env = on_grid()
    env.unwrapped.turn = 10
    assert env.unwrapped.oracle_action() is None


def test_a_snapshot_in_mid_game_continues_the_same():
    env = start()
    for _ in range(2):
        env.step(env.oracle_action())
        env.step(env.sample_random_action())
    twin = env.spawn(same_state=True)
    choices = [lambda e: e.sample_random_action(), lambda e: e.oracle_action()] * 2
    assert [env.step(choose(env)) for choose in choices] == [twin.step(choose(twin)) for choose in choices]


def test_a_start_is_the_same_in_any_process():
    code = "import gem; print([gem.make(f'game:Sudoku-v0-{v}').reset(seed=s)[0] for v in ('easy', 'hard', 'random') for s in range(5)])"
    shown = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert shown[0] == shown[1] != ""


def test_the_random_variant_plays_both_sizes():
    env = gem.make(RANDOM)
    assert {len(env.reset(seed=seed)[0].splitlines()) for seed in range(20)} == {10, 16}


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"scale": 6}, "4 or 9"),
        ({"clues": 18}, "from 19 to 80 of 81, not 18"),
        ({"clues": 81}, "given cells"),
        ({"scale": 4, "clues": 3}, "from 4 to 15"),
        ({"clues": 30, "max_turns": 50}, "leave 51 cells to fill"),
    ],
)
def test_a_level_that_cannot_be_made_or_won_is_refused(kwargs, said):
    with pytest.raises(RegistrationError, match=said):
        gem.make(DEFAULT, **kwargs)


# -- the solver --------------------------------------------------------------------------------------------------------


def test_the_solver_counts_all_full_grids_of_4_rows():
    assert count_solutions([0] * 16, most=10_000) == 288


def test_the_solver_finds_two_solutions_and_none():
    two = list(SOLUTION)
    for cell in (0, 1, 4, 5, 8, 9, 12, 13):
        two[cell] = 0
    assert count_solutions(two) == 2
    assert count_solutions(GRID) == 1
    none = list(GRID)
    none[0] = 1
    none[14] = 0
    none[5] = 1
    assert count_solutions(none) == 0


def test_the_solver_gives_up_where_it_is_told_to():
    with pytest.raises(TooLong):
        count_solutions([0] * 81, max_steps=10)


@settings(max_examples=15, deadline=None)
@given(st.integers())
def test_counting_leaves_the_search_as_it_was(seed):
    grid, _ = make_level(9, 40, random.Random(seed), lambda _: True)
    search = Search(grid, 9, 10_000)
    before = [list(search.rows), list(search.columns), list(search.boxes)]
    assert search.count([cell for cell, number in enumerate(grid) if not number], 2) == 1
    assert [search.rows, search.columns, search.boxes] == before
    assert FEWEST_CLUES == {4: 4, 9: 19}
