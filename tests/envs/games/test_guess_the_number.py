"""GuessTheNumber: answers, consolation, range and oracle; and what all games do with moves that are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.guess_the_number import GuessTheNumber
from gem.errors import RegistrationError

ID = "game:GuessTheNumber-v0"


def start(secret=7, id=ID, **kwargs):
    env = gem.make(id, **kwargs)
    env.reset(seed=0)
    env.unwrapped.secret = secret
    return env


def guess(env, move):
    return env.step(f"\\boxed{{{move}}}")


@pytest.mark.parametrize(
    ("move", "answer"),
    [
        (6, "The hidden number is higher than 6."),
        (8, "The hidden number is lower than 8."),
        (1, "The hidden number is higher than 1."),
        (20, "The hidden number is lower than 20."),
    ],
)
def test_an_answer_says_where_the_hidden_number_lies(move, answer):
    assert guess(start(), move) == (answer, 0.0, False, False, {})


@pytest.mark.parametrize("secret", [1, 7, 20])
def test_the_number_wins_and_pays_1(secret):
    obs, reward, terminated, truncated, info = guess(start(secret), secret)
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert obs == f"Yes, the hidden number is {secret}."


@pytest.mark.parametrize(("last", "reward"), [(8, 0.5 * 18 / 19), (6, 0.5 * 18 / 19), (20, 0.5 * 6 / 19), (1, 0.5 * 13 / 19)])
def test_the_turn_limit_pays_for_how_near_the_last_guess_came(last, reward):
    env = start(max_turns=2)
    assert guess(env, 15)[1:3] == (0.0, False)
    obs, paid, terminated, truncated, info = guess(env, last)
    assert (terminated, truncated, info["success"]) == (True, False, False)
    assert paid == pytest.approx(reward)
    assert obs.endswith("That was the last of 2 turns.")


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (0, "0 is not between 1 and 20."),
        (21, "21 is not between 1 and 20."),
        ("-7", "-7 is not between 1 and 20."),
        (5, "You have guessed 5 before."),
    ],
)
def test_a_forbidden_guess_costs_the_turn_and_nothing_else(move, reason):
    env = start()
    guess(env, 5)
    obs, reward, terminated, _, info = guess(env, move)
    assert (obs, reward, terminated, info["invalid_action"]["reason"]) == (reason, 0.0, False, reason)
    assert (env.unwrapped.turn, env.unwrapped._guesses) == (2, [5])


def test_a_forbidden_guess_at_the_last_turn_is_the_end_and_paid_for_the_one_before():
    env = start(max_turns=2)
    guess(env, 8)
    _, reward, terminated, _, info = guess(env, 8)
    assert (terminated, info["success"], "invalid_action" in info) == (True, False, True)
    assert reward == pytest.approx(0.5 * 18 / 19)


def test_no_guess_at_all_is_paid_nothing():
    env = start(max_turns=1)
    assert guess(env, 99)[1:3] == (0.0, True)


@pytest.mark.parametrize("move", ["7", " 7 ", "07", "+7", "\\text{7}", "number: 7", "7.", "٧"])
def test_a_guess_may_be_written_in_many_ways(move):
    assert guess(start(), move)[1] == 1.0


@pytest.mark.parametrize("move", ["", "seven", "7 8", "7.5", "7 or 8", "²", "\0", "\ud800"])
def test_anything_else_ends_the_episode(move):
    _, reward, terminated, _, info = guess(start(), move)
    assert (reward, terminated, info["success"]) == (-0.1, True, False)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_is_answered(text):
    obs, reward, *_ = guess(start(), text)
    assert reward in (-0.1, 0.0, 1.0)
    assert len(obs) < 400


def test_every_number_of_the_range_hides_and_no_other():
    env = gem.make(f"{ID}-easy")
    assert {(env.reset(seed=seed), env.unwrapped.gold())[1] for seed in range(200)} == set(range(1, 11))


@pytest.mark.parametrize(("id", "high"), [(f"{ID}-easy", 10), (f"{ID}-hard", 50)])
def test_the_oracle_finds_every_number_within_the_limit(id, high):
    for secret in range(1, high + 1):
        env, ended = start(secret, id), False
        while not ended:
            _, reward, ended, _, info = env.step(env.oracle_action())
        assert (info["success"], reward) == (True, 1.0), secret


@pytest.mark.parametrize("id", [ID, f"{ID}-hard", f"{ID}-random"])  # the easy one leaves no turn to spare
def test_the_oracle_wins_after_a_random_guess(id):
    env = gem.make(id)
    for seed in range(30):
        env.reset(seed=seed)
        _, _, ended, _, info = env.step(env.sample_random_action())
        while not ended:
            assert env.unwrapped.secret in env.unwrapped.fitting()
            _, _, ended, _, info = env.step(env.oracle_action())
        assert info["success"]


@pytest.mark.parametrize("kwargs", [{"min_number": 5, "max_number": 5}, {"max_turns": 0}])
def test_parameters_without_a_level_are_refused(kwargs):
    with pytest.raises(RegistrationError, match="min_number" if "min_number" in kwargs else "max_turns must be 1 or more, not 0"):
        GuessTheNumber(**kwargs)


# -- moves that are none: the same for all games -----------------------------------------------------------------------


def test_retries_are_paid_counted_and_end_after_as_many_as_were_allowed():
    env = start(on_invalid={"mode": "retry", "reward": -0.2, "max_retries": 2})
    told = [guess(env, "seven") for _ in range(3)]
    assert [step[1:3] for step in told] == [(-0.2, False), (-0.2, False), (-0.2, True)]
    assert [step[4].get("success") for step in told] == [None, None, False]
    assert all(env.unwrapped.FORMAT in step[0] for step in told)


def test_retries_are_counted_anew_in_each_episode():
    env = start(on_invalid={"mode": "retry", "max_retries": 1})
    for seed in range(3):
        env.reset(seed=seed)
        assert not guess(env, "seven")[2]


def test_retries_take_turns_and_end_at_the_limit():
    env = start(max_turns=3, on_invalid="retry")
    told = [guess(env, "seven") for _ in range(3)]
    assert [step[2] for step in told] == [False, False, True]
    assert told[-1][4]["success"] is False
    assert told[-1][0].endswith("That was the last of 3 turns.")
