"""FifteenPuzzle: starts that can be won, which way tiles slide, the ways back, and the faults of gem-llm."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games import sliding
from gem.errors import RegistrationError

VARIANTS = ["game:FifteenPuzzle-v0", "game:FifteenPuzzle-v0-easy", "game:FifteenPuzzle-v0-hard", "game:FifteenPuzzle-v0-random"]
DEFAULT, EASY, HARD, RANDOM = VARIANTS


def start(id=HARD, seed=0, **kwargs):
    env = gem.make(id, **kwargs)
    env.reset(seed=seed)
    return env


def place(env, tiles):
    """Put a board before the player."""
    env.unwrapped._set_up(tuple(tiles), [])
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
def test_the_oracle_wins_every_start_and_is_paid_1(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        assert env.unwrapped.tiles != [*sliding.in_order(env.unwrapped.side)]
        total, info = play_out(env, lambda e: e.oracle_action())
        assert (total, info["success"]) == (1.0, True)


@pytest.mark.parametrize("id", VARIANTS)
def test_random_play_is_readable_and_stays_below_the_oracle(id):
    env = gem.make(id)
    rewards, wins = [], 0
    for seed in range(200):
        env.reset(seed=seed)
        total, info = play_out(env, lambda e: e.sample_random_action())
        assert "invalid_action" not in info
        rewards.append(total)
        wins += info["success"]
    assert sum(rewards) / 200 <= 0.8
    assert wins / 200 <= (0.5 if id == EASY else 0.2)


@pytest.mark.parametrize(("rows", "turns"), [(2, 1), (2, 6), (3, 1), (3, 20), (3, 60), (4, 50), (4, 150), (5, 60)])
@pytest.mark.parametrize("split", ["train", "test"])
def test_pure_random_starts_can_be_won_too(rows, turns, split):
    env = gem.make(DEFAULT, num_rows=rows, max_turns=turns, init_algo="pure_random", split=split)
    for seed in range(10):
        env.reset(seed=seed)
        assert play_out(env, lambda e: e.oracle_action())[0] == 1.0


@pytest.mark.parametrize("algorithm", ["monte_carlo", "pure_random"])
def test_the_board_of_2_rows_has_all_its_11_starts(algorithm):
    env = gem.make(EASY, init_algo=algorithm)
    starts = [(env.reset(seed=seed)[0], tuple(env.unwrapped.tiles))[1] for seed in range(500)]
    assert len(set(starts)) == 11
    assert min(starts.count(board) for board in set(starts)) > 20


@pytest.mark.parametrize("algorithm", ["monte_carlo", "pure_random"])
def test_the_random_variant_plays_boards_of_2_3_and_4_rows(algorithm):
    env = gem.make(RANDOM, init_algo=algorithm)
    assert env.max_turns == 50
    sides = [(env.reset(seed=seed), env.unwrapped.side, env.unwrapped.max_turns)[1:] for seed in range(30)]
    assert set(sides) == {(2, 10), (3, 20), (4, 50)}
    assert env.unwrapped.init_algo == algorithm


def test_large_boards_hardly_ever_repeat_a_start():
    env = gem.make(HARD)
    assert len({env.reset(seed=seed)[0] for seed in range(500)}) >= 490


@pytest.mark.parametrize("id", [DEFAULT, HARD])
def test_train_and_test_share_no_start(id):
    env = gem.make(id)
    starts = {split: {env.reset(options={"task": f"{split}/{i}"})[0] for i in range(300)} for split in ("train", "test")}
    assert not starts["train"] & starts["test"]


def test_pure_random_train_and_test_share_no_start():
    env = gem.make(DEFAULT, init_algo="pure_random")
    starts = {split: {env.reset(options={"task": f"{split}/{i}"})[0] for i in range(100)} for split in ("train", "test")}
    assert not starts["train"] & starts["test"]


@pytest.mark.parametrize(
    ("way", "board"),
    [
        ("up", " 1  2  3\n 4  8  5\n 6 __  7"),
        ("down", " 1 __  3\n 4  2  5\n 6  8  7"),
        ("left", " 1  2  3\n 4  5 __\n 6  8  7"),
        ("right", " 1  2  3\n__  4  5\n 6  8  7"),
    ],
)
@pytest.mark.parametrize("written", [str, str.upper, str.title, lambda way: way[0], lambda way: f" {way} ", lambda way: f"\\text{{{way}}}"])
def test_a_direction_is_the_way_the_tile_slides(way, board, written):
    env = place(start(DEFAULT), (1, 2, 3, 4, 0, 5, 6, 8, 7))
    obs, reward, terminated, _, info = env.step(boxed(written(way)))
    assert obs.endswith(f"slid {way}.\n\n{board}")
    assert (reward, terminated, info) == (0.0, False, {})


def test_a_tile_cannot_come_from_outside_the_board():
    env = place(start(DEFAULT), (1, 2, 3, 4, 5, 6, 8, 7, 0))
    obs, reward, terminated, _, info = env.step(boxed("up"))
    assert info["invalid_action"]["reason"] == "No tile can slide up: there is none below the gap."
    assert obs.endswith(" 8  7 __")
    assert (reward, terminated, env.unwrapped.turn) == (0.0, False, 1)


@pytest.mark.parametrize("move", ["", "5", "upwards", "up down", "north", "\0", "\ud800", "ｕｐ", "9" * 1_000_000])
def test_what_names_no_direction_cannot_be_read(move):
    obs, reward, terminated, _, info = start().step(boxed(move))
    assert (reward, terminated, info["success"]) == (-0.1, True, False)
    assert len(obs) < 400


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=60) | st.sampled_from("uUdDlLrR"))
def test_any_text_is_a_move_or_is_refused(text):
    env = start()
    obs, reward, _, _, _ = env.step(boxed(text))
    assert reward in (0.0, -0.1)
    assert len(obs) < 500
    assert sorted(env.unwrapped.tiles) == [*range(16)]


def test_the_turn_limit_pays_half_the_share_of_tiles_in_place():
    env = place(start(DEFAULT, max_turns=1), (1, 2, 3, 4, 5, 6, 8, 7, 0))
    _, reward, terminated, truncated, info = env.step(boxed("down"))
    assert (reward, terminated, truncated, info["success"]) == (0.5 * 5 / 8, True, False, False)


@pytest.mark.parametrize("id", [DEFAULT, EASY, HARD])
def test_the_oracle_wins_after_moves_of_another_player(id):
    env = gem.make(id)
    for seed in range(20):
        env.reset(seed=seed)
        if not any(env.step(env.sample_random_action())[2] for _ in range(2)):
            assert play_out(env, lambda e: e.oracle_action())[1]["success"]


def test_the_oracle_says_when_it_is_too_late():
    env = start(EASY)
    env.unwrapped.turn = 9
    place(env, (0, 1, 3, 2))
    assert env.unwrapped.oracle_action() is None


def test_a_snapshot_in_mid_game_continues_the_same():
    env = start()
    for _ in range(3):
        env.step(env.sample_random_action())
    twin = env.spawn(same_state=True)
    choices = [lambda e: e.sample_random_action(), lambda e: e.oracle_action()] * 2
    assert [env.step(choose(env)) for choose in choices] == [twin.step(choose(twin)) for choose in choices]


def test_asking_for_moves_changes_nothing():
    game = start().unwrapped
    game.action_rng  # made on first use
    before = {name: repr(value) for name, value in game.__dict__.items()}
    game.oracle_action()
    game.sample_random_action()
    assert {name: repr(value) for name, value in game.__dict__.items()} == before


def test_a_start_is_the_same_in_any_process():
    code = (
        "import gem; print([gem.make(f'game:FifteenPuzzle-v0-{v}').reset(seed=s)[0] for v in ('easy', 'hard', 'random') for s in range(9)])"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert shown[0] == shown[1] != ""


def test_the_rules_name_the_end_the_limit_and_the_format():
    obs, _ = gem.make(HARD).reset(seed=0)
    for said in ("Fifteen puzzle", "1 to 15", "50 turns", "up slides the tile below the gap up", "\\boxed{up}"):
        assert said in obs


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"num_rows": 1}, "from 2 to 8"),
        ({"num_rows": 6, "init_algo": "pure_random"}, "from 2 to 5"),
        ({"init_algo": "magic"}, "monte_carlo, pure_random"),
        ({"max_turns": 0}, "1 or more"),
    ],
)
def test_a_bad_level_is_refused(kwargs, said):
    with pytest.raises(RegistrationError, match=said):
        gem.make(DEFAULT, **kwargs)


# -- boards ------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 5), st.integers(1, 60), st.integers())
def test_a_walk_comes_with_its_way_back(side, length, seed):
    board, way = sliding.mix(side, length, random.Random(seed))
    assert 1 <= len(way) <= length
    assert board != sliding.in_order(side)
    assert sliding.after(board, way) == sliding.in_order(side)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 5), st.integers())
def test_every_shuffle_can_be_put_in_order(side, seed):
    board = sliding.shuffle(side, random.Random(seed))
    assert board != sliding.in_order(side)
    assert sliding.after(board, sliding.put_in_order(board)) == sliding.in_order(side)


def test_the_shortest_way_is_as_long_as_a_walk_over_all_boards_says():
    for depth in (1, 4, 7):
        rim = set(sliding.nearby(3, depth)) - set(sliding.nearby(3, depth - 1))
        assert {len(sliding.shortest(board, 30)) for board in rim} == {depth}
        assert {sliding.shortest(board, depth - 1) for board in rim} == {None}


def test_a_walk_goes_as_far_as_asked():
    """Going straight back, a walk of 16 slides seldom comes so far: such boards are all but in order."""
    assert {len(sliding.mix(3, 16, random.Random(seed))[1]) for seed in range(100)} == {16}
