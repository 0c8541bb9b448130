"""Mastermind: pegs, rewards, what a guess may look like, and parameters."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.mastermind import Mastermind
from gem.errors import RegistrationError

ID = "game:Mastermind-v0-hard"


def start(secret=(3, 1, 4, 8), **kwargs):
    env = gem.make(ID, **kwargs)
    env.reset(seed=0)
    env.unwrapped.secret = secret
    return env


def guess(env, move):
    return env.step(f"\\boxed{{{move}}}")


@pytest.mark.parametrize(
    ("secret", "move", "answer"),
    [
        ((3, 1, 4, 8), "2 5 6 7", "0 black, 0 white"),
        ((3, 1, 4, 8), "3 1 8 4", "2 black, 2 white"),
        ((3, 1, 4, 8), "8 4 1 3", "0 black, 4 white"),
        ((3, 1, 4, 8), "3 2 5 6", "1 black, 0 white"),
        ((1, 1, 2, 3), "1 2 1 1", "1 black, 2 white"),
        ((1, 1, 2, 3), "2 2 2 2", "1 black, 0 white"),
        ((1, 2, 2, 2), "2 1 1 1", "0 black, 2 white"),
        ((5, 5, 5, 1), "1 1 5 5", "1 black, 2 white"),
    ],
)
def test_pegs(secret, move, answer):
    observation, _, terminated, _, _ = guess(start(secret, duplicate_numbers=True), move)
    assert observation == f"{move}: {answer}."
    assert not terminated


@given(st.lists(st.integers(1, 6), min_size=4, max_size=4), st.lists(st.integers(1, 6), min_size=4, max_size=4))
@settings(max_examples=100, deadline=None)
def test_pegs_count_each_number_once(secret, move):
    observation = guess(start(tuple(secret), duplicate_numbers=True), " ".join(map(str, move)))[0]
    black = sum(a == b for a, b in zip(secret, move))
    if black < 4:
        assert observation.endswith(f": {black} black, {(Counter(secret) & Counter(move)).total() - black} white.")


def test_only_a_new_best_count_of_black_pegs_pays():
    env = start()
    rewards = [guess(env, move)[1] for move in ("3 2 5 6", "3 2 5 6", "3 1 5 6", "7 1 5 6", "3 2 4 6", "3 1 4 8")]
    assert rewards == [0.25, 0, 0.25, 0, 0, 0.5]


@pytest.mark.parametrize(
    "move",
    ["1 2 3 4", "1,2,3,4", "1, 2, 3, 4", "[1, 2, 3, 4]", "(1 2 3 4)", "1-2-3-4", "1 - 2 - 3 - 4", "1234", " 1  2  3  4 ", "1\n2\n3\n4",
     "01 02 03 04", "\\text{1 2 3 4}", "[1] [2] [3] [4]", "1|2|3|4", "1 2 3 and 4", "١ ٢ ٣ ٤", "+1 +2 +3 +4"],
)  # fmt: skip
def test_a_guess_may_be_written_in_many_ways(move):
    assert guess(start(), move)[0] == "1 2 3 4: 0 black, 3 white."


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("1 2 3", "A guess has 4 numbers, not 3."),
        ("1 2 3 4 5", "A guess has 4 numbers, not 5."),
        ("12345", "Only the numbers 1 to 8 are used."),
        ("0 1 2 3", "Only the numbers 1 to 8 are used."),
        ("-1 2 3 4", "Only the numbers 1 to 8 are used."),
        ("1239", "Only the numbers 1 to 8 are used."),
        ("9" * 300, "Only the numbers 1 to 8 are used."),
        ("1 2 3 3", "No number may appear twice in a guess."),
    ],
)
def test_a_forbidden_guess_costs_the_turn_and_nothing_else(move, reason):
    env = start()
    guess(env, "3 2 5 6")
    before = dict(env.unwrapped.__dict__)
    observation, reward, terminated, _, info = guess(env, move)
    assert (observation, reward, terminated) == (reason, 0, False)
    assert info["invalid_action"]["reason"] == reason
    assert env.unwrapped.__dict__ == {**before, "turn": 2}


@pytest.mark.parametrize("move", ["", " ", "a b c d", "1 2 3 x", "1.5 2 3 four", "one two three four"])
def test_anything_else_ends_the_episode(move):
    _, reward, terminated, _, info = guess(start(), move)
    assert (reward, terminated) == (-0.1, True)
    assert "4 whole numbers" in info["invalid_action"]["reason"]


def test_numbers_of_two_digits_are_not_run_together():
    env = gem.make(ID, num_numbers=12, code_length=2)
    env.reset(seed=0)
    env.unwrapped.secret = (11, 12)
    assert guess(env, "12")[0] == "A guess has 2 numbers, not 1."
    assert guess(env, "12 11")[0] == "12 11: 0 black, 2 white."
    assert guess(env, "11 12")[1] == 1


def test_the_turn_limit_ends_the_game_without_more_pay():
    env = start(max_turns=2)
    assert guess(env, "3 2 5 6")[1:3] == (0.25, False)
    observation, reward, terminated, truncated, info = guess(env, "2 5 6 7")
    assert (reward, terminated, truncated, info["success"]) == (0, True, False, False)
    assert observation.endswith("That was the last of 2 turns.")


@pytest.mark.parametrize(("length", "numbers", "duplicates"), [(4, 6, True), (3, 3, False), (1, 2, False), (5, 3, True)])
def test_the_oracle_finds_every_code_of_other_levels(length, numbers, duplicates):
    env = Mastermind(length, numbers, 20, duplicates)
    codes = list(product(range(1, numbers + 1), repeat=length) if duplicates else permutations(range(1, numbers + 1), length))
    env.reset(seed=0)
    assert env.fitting() == codes
    for code in codes:
        env.reset(seed=0)
        env.secret = code
        total, ended = 0.0, False
        while not ended:
            _, reward, ended, _, info = env.step(env.oracle_action())
            total += reward
        assert info["success"], code
        assert total == pytest.approx(1)


def test_codes_repeat_numbers_only_where_they_may():
    env = gem.make(ID)
    assert all(len(set(secret)) == 4 for secret in _secrets(env))
    assert any(len(set(secret)) < 4 for secret in _secrets(gem.make(ID, duplicate_numbers=True)))


def _secrets(env):
    for seed in range(30):
        env.reset(seed=seed)
        yield env.unwrapped.gold()


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"code_length": 0}, "code_length must be 1 to 20, not 0"),
        ({"code_length": 10**9}, "code_length must be 1 to 20"),
        ({"num_numbers": 1}, "num_numbers must be 2 or more, not 1"),
        ({"code_length": 5, "num_numbers": 4}, "needs num_numbers of 5 or more, not 4; or set duplicate_numbers"),
        ({"code_length": 8, "num_numbers": 10}, "more than 1,000,000 codes"),
        ({"max_turns": 0}, "max_turns must be 1 or more, not 0"),
    ],
)
def test_parameters_without_a_level_are_refused(kwargs, says):
    with pytest.raises(RegistrationError, match=says):
        gem.make(ID, **kwargs)
