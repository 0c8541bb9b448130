"""Mastermind, Wordle and Hangman: what the games that hide a secret and answer guesses have in common."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.letters import spelled
from gem.envs.games.words import words

VARIANTS = {
    "game:Mastermind-v0-easy": [list(permutations(range(1, 7), 2))],
    "game:Mastermind-v0-hard": [list(permutations(range(1, 9), 4))],
    "game:Mastermind-v0-random": [list(permutations(range(1, n + 1), k)) for k, n in ((2, 4), (4, 6), (4, 8))],
    "game:Wordle-v0-easy": [words(3)],
    "game:Wordle-v0-hard": [words(5)],
    "game:Wordle-v0-random": [words(3), words(4), words(5)],
    "game:Hangman-v0-easy": [words(3)],
    "game:Hangman-v0-hard": [words(7)],
    "game:Hangman-v0-random": [words(3), words(5), words(7)],
}
SECRETS = {**VARIANTS, "game:Mastermind-v0-random": [], "game:Wordle-v0-random": [words(4)], "game:Hangman-v0-random": [words(5)]}
GAMES = ["game:Mastermind-v0-hard", "game:Wordle-v0-hard", "game:Hangman-v0-hard"]
HOSTILE = ["", " ", "\0", "\ud800", "9" * 1_000_000, "a" * 1_000_000, "1 " * 500_000, "[" * 1_000_000, "- " * 500_000, "²", "𝟙𝟚", "é", "ß"]


def play_out(env, choose):
    """Play until the end; the sum of rewards, whether it was won, and the turns."""
    total = 0.0
    while True:
        _, reward, terminated, truncated, info = env.step(choose(env.unwrapped))
        assert not truncated
        total += reward
        if terminated:
            return total, info["success"], info["metrics"]["turns"]


def oracle(env):
    return env.oracle_action()


def at_random(env):
    return env.sample_random_action()


def boxed(move):
    return f"\\boxed{{{move}}}"


@pytest.mark.parametrize("id", VARIANTS)
def test_the_oracle_wins_and_its_rewards_sum_to_1(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        total, won, turns = play_out(env, oracle)
        assert won
        assert total == pytest.approx(1)
        assert turns <= env.unwrapped.max_turns


@pytest.mark.parametrize("id", SECRETS)
def test_the_oracle_finds_every_secret_within_the_limit(id):
    for level, secrets in enumerate(SECRETS[id]):
        keywords = gem.spec(id).kwargs
        if keywords.get("is_random"):
            keywords = {"word_length": len(secrets[0]), "max_turns": 5 * len(secrets[0]) if "Wordle" in id else 15, "is_random": False}
        env = gem.make(id, checks=False, **keywords).unwrapped
        for secret in secrets:
            env.reset(seed=level)
            env.secret = secret
            total, won, _ = play_out(env, oracle)
            assert won, secret
            assert total == pytest.approx(1), secret


@pytest.mark.parametrize("id", VARIANTS)
def test_the_oracle_sees_no_more_than_the_transcript(id):
    env = gem.make(id, checks=False).unwrapped
    for seed in range(6):
        env.reset(seed=seed)
        ended, turn = False, 0
        while not ended:
            action = env.oracle_action()
            twin = env.spawn(same_state=True)
            for secret in env.fitting():
                twin.secret = secret
                assert twin.oracle_action() == action
            # In every other game the transcript begins with moves that are not the oracle's.
            turn += 1
            _, _, ended, _, _ = env.step(env.sample_random_action() if seed % 2 and turn < 4 else action)
        assert env.fitting() == [env.secret]


@pytest.mark.parametrize("id", [id for id in VARIANTS if id.endswith("easy")])
def test_what_fits_is_what_would_have_been_answered_the_same(id):
    env, other = gem.make(id, checks=False).unwrapped, gem.make(id, checks=False).unwrapped
    for seed in range(8):
        env.reset(seed=seed)
        actions, told = [], []
        for _ in range(4):
            actions.append(env.sample_random_action())
            told.append(env.step(actions[-1]))
            if told[-1][2]:
                break
        fits = []
        for secret in VARIANTS[id][0]:
            other.reset(seed=seed)
            other.secret = secret
            # A game may end sooner with another secret; what follows is no part of it.
            answers = []
            for action in actions:
                answers.append(other.step(action))
                if answers[-1][2]:
                    break
            if answers == told:
                fits.append(secret)
        if not told[-1][2]:
            assert sorted(env.fitting()) == sorted(fits)


@pytest.mark.parametrize("id", VARIANTS)
def test_random_play_rarely_wins_and_earns_well_below_the_oracle(id):
    env = gem.make(id, checks=False)
    played = []
    for seed in range(200):
        env.reset(seed=seed)
        played.append(play_out(env, at_random))
    assert sum(won for _, won, _ in played) / len(played) <= (0.2 if id.endswith("hard") else 0.5)
    assert sum(total for total, _, _ in played) / len(played) <= 0.8
    low, high = gem.spec(id).info.reward_range
    assert all(low <= total <= high + 1e-9 for total, _, _ in played)


@pytest.mark.parametrize("id", VARIANTS)
def test_a_random_move_is_legal_and_drawing_it_changes_nothing(id):
    env = gem.make(id, checks=False)
    for seed in range(20):
        env.reset(seed=seed)
        before = dict(env.unwrapped.__dict__)
        move = env.unwrapped.random_move(random.Random(seed))
        assert env.unwrapped.random_move(random.Random(seed)) == move
        assert env.unwrapped.__dict__ == before
        _, _, _, _, info = env.step(boxed(move))
        assert "invalid_action" not in info


@pytest.mark.parametrize("id", VARIANTS)
def test_every_example_in_the_prompt_is_a_legal_move(id):
    for seed in range(5):
        env = gem.make(id)
        prompt, _ = env.reset(seed=seed)
        examples = [part.split("}")[0] for part in prompt.split("\\boxed{")[1:] if not part.startswith("}")]
        assert examples
        for example in examples:
            env.reset(seed=seed)
            _, _, _, _, info = env.step(boxed(example))
            assert "invalid_action" not in info, example


@pytest.mark.parametrize("id", VARIANTS)
def test_the_first_observation_is_complete(id):
    """gem-llm: the prompt of the first turn stood in `info["suffix"]`, and Mastermind had none."""
    env = gem.make(id)
    observation, info = env.reset(seed=1)
    assert set(info) == {"task"}
    assert id.split(":")[1].split("-")[0] in observation
    assert f"{env.unwrapped.max_turns} " in observation
    assert env.unwrapped.FORMAT in observation
    assert observation.endswith(env.unwrapped.board())


@pytest.mark.parametrize("id", GAMES)
def test_text_without_a_readable_move_ends_the_episode(id):
    for action in ("no box at all", "\\boxed{}", "\\boxed{?!}", "\\boxed{1.5.x}", "\\boxed{take the first one!}"):
        env = gem.make(id)
        env.reset(seed=2)
        observation, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (-0.1, True, False), action
        assert info["invalid_action"]["hint"] in observation
        assert info["success"] is False


@pytest.mark.parametrize("id", GAMES)
def test_hostile_boxes_are_answered_briefly(id):
    env = gem.make(id)
    for move in HOSTILE:
        env.reset(seed=2)
        observation, reward, _, _, _ = env.step(boxed(move))
        assert reward <= 0
        assert len(observation) < 500


@pytest.mark.parametrize("id", GAMES)
@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(exclude_categories=()), max_size=40))
def test_no_text_breaks_a_game(id, text):
    env = gem.make(id)
    env.reset(seed=5)
    for action in (boxed(text), text):
        _, reward, terminated, _, info = env.step(action)
        assert -0.1 <= reward <= 1
        if terminated:
            break
        assert isinstance(info, dict)


@pytest.mark.parametrize("id", VARIANTS)
def test_a_snapshot_continues_identically_and_the_oracle_adds_nothing_to_it(id):
    env = gem.make(id)
    env.reset(seed=11)
    env.step(env.sample_random_action())
    before = env.unwrapped.get_state()
    env.unwrapped.oracle_action()
    assert env.unwrapped.get_state() == before
    state = env.get_state()

    def rest(env):
        actions = [env.sample_random_action(), env.unwrapped.oracle_action()]
        return [(action, env.step(action)) for action in actions]

    first = rest(env)
    env.set_state(state)
    assert rest(env) == first
    other = gem.make(id)
    other.set_state(state)
    assert rest(other) == first


@pytest.mark.parametrize("id", VARIANTS)
def test_starts_are_too_few_to_split_by_content(id):
    assert gem.spec(id).info.split == "seed"
    assert sum(map(len, VARIANTS[id])) < 10_000


def test_a_start_depends_on_the_seed_alone():
    script = (
        "import gem\n"
        f"for id in {list(VARIANTS)!r}:\n"
        "    env = gem.make(id, checks=False)\n"
        "    for seed in range(5):\n"
        "        print(env.reset(seed=seed), env.unwrapped.gold(), env.step(env.oracle_action()), env.oracle_action())\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("id", VARIANTS)
def test_games_leave_the_global_generator_alone(id):
    """gem-llm: every game drew from it, and every reset reseeded it."""
    env = gem.make(id)
    random.seed(1)
    before = random.getstate()
    first = env.reset(seed=3)
    env.step(env.sample_random_action())
    assert random.getstate() == before
    random.seed(2)
    assert env.reset(seed=3) == first


@pytest.mark.parametrize(
    "move",
    ["crane", "CRANE", " Crane ", "C R A N E", "c-r-a-n-e", "[crane]", "[C] [R] [A] [N] [E]", "(crane)", '"crane"', "word: crane",
     "Guess: CRANE", "guess crane", "[guess: crane]", "\\text{crane}", "c,r,a,n,e", "crane."],
)  # fmt: skip
def test_a_word_may_be_written_in_many_ways(move):
    assert spelled(move) == "crane"


@pytest.mark.parametrize("move", ["", "42", "cr4ne", "crâne", "crane!", "ｃｒａｎｅ", "\0crane", "cra\ud800ne"])
def test_other_text_spells_nothing(move):
    assert spelled(move) is None


@given(st.sampled_from(words(5)), st.sampled_from(["", " ", "-", ", ", "."]), st.booleans())
@settings(max_examples=50, deadline=None)
def test_separators_and_case_do_not_change_a_word(word, between, upper):
    assert spelled(between.join(word.upper() if upper else word)) == word


def test_a_label_alone_is_a_word():
    assert [spelled(text) for text in ("letter", "word", "guess", "letter a", "letter: a")] == ["letter", "word", "guess", "a", "a"]
