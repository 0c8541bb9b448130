"""Hangman: letters, whole words, rewards, what wrong guesses cost, and parameters."""

from __future__ import annotations

import pytest

import gem
from gem.envs.games.hangman import Hangman
from gem.envs.games.words import words
from gem.errors import RegistrationError

ID = "game:Hangman-v0-hard"


def start(secret="parents", **kwargs):
    env = gem.make(ID, **kwargs)
    env.reset(seed=0)
    env.unwrapped.secret = secret
    return env


def guess(env, move):
    return env.step(f"\\boxed{{{move}}}")


def spell(env, letters):
    """Guess letter after letter; the sum of rewards, and the last answer."""
    total = 0.0
    for letter in letters:
        answer = guess(env, letter)
        total += answer[1]
    return total, answer


@pytest.mark.parametrize("secret", ["parents", "letters", "success", "bananas"])
def test_finishing_the_word_letter_by_letter_wins_and_totals_1(secret):
    """gem-llm: the last letter did not end the game, and it never paid for the win."""
    total, (observation, _, terminated, _, info) = spell(start(secret), dict.fromkeys(secret))
    assert total == pytest.approx(1)
    assert terminated
    assert info["success"]
    assert observation == f"Yes, the word is {secret}."


@pytest.mark.parametrize("shown", ["", "p", "ze", "parent", "sq"])
def test_the_whole_word_wins_and_totals_1_whatever_was_shown(shown):
    env = start()
    total = spell(env, shown)[0] if shown else 0
    _, reward, terminated, _, info = guess(env, "parents")
    assert total + reward == pytest.approx(1)
    assert terminated
    assert info["success"]


def test_a_letter_is_shown_wherever_the_word_has_it():
    env = start("letters")
    assert guess(env, "e")[0] == "The word has e.\n\nWord: _ e _ _ e _ _\nWrong: nothing yet\nTurns left: 19"
    assert guess(env, "z")[0] == "The word has no z.\n\nWord: _ e _ _ e _ _\nWrong: z\nTurns left: 18"
    assert guess(env, "fetters")[0] == "The word is not fetters.\n\nWord: _ e _ _ e _ _\nWrong: z, fetters\nTurns left: 17"


def test_each_letter_shown_pays_once():
    env = start("letters")
    rewards = [guess(env, move)[1] for move in ("e", "z", "e", "fetters", "t")]
    assert rewards == pytest.approx([1 / 7, 0, 0, 0, 1 / 7])


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("e", "You have guessed e before."),
        ("E", "You have guessed e before."),
        ("z", "You have guessed z before."),
        ("fetters", "You have guessed fetters before."),
        ("let", "The word has 7 letters, your guess has 3."),
        ("letterss", "The word has 7 letters, your guess has 8."),
    ],
)
def test_a_forbidden_guess_costs_the_turn_and_nothing_else(move, reason):
    env = start("letters")
    spell(env, ["e", "z", "fetters"])
    before = dict(env.unwrapped.__dict__)
    observation, reward, terminated, _, info = guess(env, move)
    assert (reward, terminated) == (0, False)
    assert observation.startswith(reason)
    assert observation.endswith("Turns left: 16")
    assert info["invalid_action"]["reason"] == reason
    assert env.unwrapped.__dict__ == {**before, "turn": 4}


@pytest.mark.parametrize("move", ["", "7", "e!", "é", "e or a?"])
def test_anything_else_ends_the_episode(move):
    assert guess(start(), move)[1:3] == (-0.1, True)


@pytest.mark.parametrize("move", ["e", "E", " e ", "[e]", "'e'", "letter e", "Letter: E", "\\text{e}", "e."])
def test_a_letter_may_be_written_in_many_ways(move):
    assert guess(start(), move)[0].startswith("The word has e.")


def test_the_examples_of_the_prompt_are_a_letter_and_a_word_of_the_right_length():
    """gem-llm: the prompt called a word a letter and a letter a word."""
    for word_length in range(3, 11):
        prompt = gem.make(ID, word_length=word_length).reset(seed=0)[0]
        letter = prompt.split("a letter in \\boxed{}, such as \\boxed{")[1].split("}")[0]
        word = prompt.split("the whole word, such as \\boxed{")[1].split("}")[0]
        assert len(letter) == 1
        assert len(word) == word_length


def test_wrong_guesses_cost_a_turn_each_and_nothing_more():
    env = start(max_turns=20)
    assert "Every guess takes one of your 20 turns, right or wrong" in env.unwrapped.rules()
    total, answer = spell(env, "bcdfghijklmoquvwxyz")
    assert (total, answer[2]) == (0, False)
    observation, reward, terminated, truncated, info = guess(env, "p")
    assert (terminated, truncated, info["success"]) == (True, False, False)
    assert reward == pytest.approx(0.5 / 7)
    assert observation.endswith("That was the last of 20 turns.")


def test_the_last_turn_still_wins():
    env = start("cat", word_length=3, max_turns=3)
    total, (_, _, _, _, info) = spell(env, "cat")
    assert total == pytest.approx(1)
    assert info["success"]


@pytest.mark.parametrize(("word_length", "max_turns"), [(3, 14), (5, 15), (7, 20)])
def test_hardcore_words_are_rarer_and_found_too(word_length, max_turns):
    rare = words(word_length, "rare")
    env = Hangman(word_length, hardcore=True, max_turns=max_turns)
    assert "uncommon" in env.reset(seed=0)[0]
    for secret in rare[::7]:
        env.reset(seed=0)
        assert env.gold() in rare
        env.secret = secret
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(env.oracle_action())
        assert info["success"], secret


def test_the_oracle_wins_after_other_guesses_too():
    env = gem.make(ID)
    for seed in range(30):
        env.reset(seed=seed)
        for move in ("q", "q", "toolonger", "letters"):
            guess(env, move)
        env.step(env.sample_random_action())
        ended = env.unwrapped.gold() == "letters"
        while not ended:
            _, _, ended, _, info = env.step(env.oracle_action())
            assert not ended or info["success"]


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
