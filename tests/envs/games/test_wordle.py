"""Wordle: marks, rewards, what a guess may be, and parameters."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.wordle import Wordle
from gem.envs.games.words import words
from gem.errors import RegistrationError

ID = "game:Wordle-v0-hard"


def start(secret="apple", **kwargs):
    env = gem.make(ID, **kwargs)
    env.reset(seed=0)
    env.unwrapped.secret = secret
    return env


def guess(env, move):
    return env.step(f"\\boxed{{{move}}}")


def marks(secret, move):
    return guess(start(secret), move)[0].split("\n")[1].replace(" ", "")


@pytest.mark.parametrize(
    ("secret", "move", "answer"),
    [
        ("apple", "zzzzz", "-----"),
        ("apple", "paper", "YYGY-"),
        ("apple", "ppppp", "-GG--"),
        ("apple", "lapse", "YYG-G"),
        ("crane", "eerie", "--Y-G"),
        ("geese", "eerie", "YG--G"),
        ("eerie", "geese", "-GY-G"),
        ("abbey", "babes", "YYGG-"),
        ("abbey", "bbbbb", "-GG--"),
        ("level", "eleve", "YYYY-"),
        ("world", "hello", "---GY"),
    ],
)
def test_marks_follow_the_rule_for_repeated_letters(secret, move, answer):
    assert marks(secret, move) == answer


@given(st.text("abc", min_size=5, max_size=5), st.text("abc", min_size=5, max_size=5))
@settings(max_examples=200, deadline=None)
def test_a_letter_is_marked_as_often_as_guess_and_word_share_it(secret, move):
    if secret == move:
        return
    answer = marks(secret, move)
    assert [mark == "G" for mark in answer] == [a == b for a, b in zip(secret, move)]
    marked = Counter(letter for letter, mark in zip(move, answer) if mark != "-")
    assert marked == Counter(secret) & Counter(move)
    for letter in set(move):
        # Of the letters in the wrong place, those on the left are marked first.
        assert "-Y" not in "".join(mark for own, mark in zip(move, answer) if own == letter and mark != "G")


def test_the_marks_stand_under_the_letters():
    assert guess(start(), "paper")[0] == "P A P E R\nY Y G Y -"


def test_each_place_pays_once_and_the_word_pays_the_rest():
    env = start()
    rewards = [guess(env, move)[1] for move in ("axxxx", "axxxx", "apxxx", "xpxxx", "xxxxe", "apple")]
    assert rewards == pytest.approx([0.1, 0, 0.1, 0, 0.1, 0.2 + 0.5])


@pytest.mark.parametrize("move", ["paper", "PAPER", "[paper]", "P A P E R", "word: paper", "\\text{Paper}"])
def test_a_guess_may_be_written_in_many_ways(move):
    assert guess(start(), move)[0].startswith("P A P E R\n")


@pytest.mark.parametrize(("move", "length"), [("cat", 3), ("a", 1), ("letters", 7)])
def test_a_guess_of_another_length_costs_the_turn_and_nothing_else(move, length):
    env = start()
    guess(env, "paper")
    before = dict(env.unwrapped.__dict__)
    observation, reward, terminated, _, info = guess(env, move)
    assert (observation, reward, terminated) == (f"A guess has 5 letters, not {length}.", 0, False)
    assert "invalid_action" in info
    assert env.unwrapped.__dict__ == {**before, "turn": 2}


@pytest.mark.parametrize("move", ["", "12345", "pap3r", "pâper", "paper!", "paper or apple?"])
def test_anything_else_ends_the_episode(move):
    assert guess(start(), move)[1:3] == (-0.1, True)


def test_a_guess_needs_to_be_a_word_only_where_the_rules_say_so():
    assert "need not be a word" in gem.make(ID).reset(seed=0)[0]
    strict = gem.make(ID, only_real_words=True)
    assert "must be an English word" in strict.reset(seed=0)[0]
    observation, reward, terminated, _, _ = guess(strict, "xqzkj")
    assert (observation, reward, terminated) == ("I do not know the word xqzkj.", 0, False)
    for move in (words(5)[3], words(5, "rare")[3]):
        assert "invalid_action" not in guess(strict, move)[4]


def test_the_oracle_guesses_real_words_only():
    env = gem.make(ID, only_real_words=True)
    for seed in range(30):
        env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(env.oracle_action())
            assert "invalid_action" not in info
        assert info["success"]


def test_the_oracle_wins_after_other_guesses_too():
    env = gem.make(ID)
    for seed in range(30):
        env.reset(seed=seed)
        env.step(env.sample_random_action())
        for move in ("xqzkj", "toolong", "aaaaa", "aaaaa"):
            guess(env, move)
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(env.oracle_action())
        assert info["success"]


def test_the_turn_limit_ends_the_game():
    env = start(max_turns=2)
    assert guess(env, "xxxxx")[1:3] == (0, False)
    observation, reward, terminated, truncated, info = guess(env, "axxxx")
    assert (reward, terminated, truncated, info["success"]) == (0.1, True, False, False)
    assert observation.endswith("That was the last of 2 turns.")


def test_random_levels_have_5_turns_a_letter():
    env = Wordle(is_random=True)
    seen = set()
    for seed in range(30):
        env.reset(seed=seed)
        assert env.max_turns == 5 * len(env.gold())
        seen.add(len(env.gold()))
    assert seen == {3, 4, 5}


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"word_length": 2}, "no words of 2 letters; word_length must be 3 to 10"),
        ({"word_length": 11}, "no words of 11 letters"),
        ({"max_turns": 0}, "max_turns must be 1 or more, not 0"),
    ],
)
def test_parameters_without_a_level_are_refused(kwargs, says):
    with pytest.raises(RegistrationError, match=says):
        gem.make(ID, **kwargs)
