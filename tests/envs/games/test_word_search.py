"""WordSearch: each word exactly once in the grid, moves, rewards, and the faults of gem-llm."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import partial
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.word_search import grid
from gem.envs.games.word_search.level import MAX_WORDS, level
from gem.envs.games.words import words
from gem.errors import RegistrationError

IDS = ["game:WordSearch-v0-easy", "game:WordSearch-v0-hard", "game:WordSearch-v0-random"]
DIRECTIONS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc]
ALL_WORDS = frozenset(word for length in range(4, 10) for kind in ("common", "rare") for word in words(length, kind))


def start(id=IDS[0], seed=0, **kwargs):
    env = gem.make(id, **kwargs)
    obs, _ = env.reset(seed=seed)
    return env, obs


def solve(env):
    total = 0.0
    while True:
        _, reward, ended, _, info = env.step(env.unwrapped.oracle_action())
        total += reward
        if ended:
            return total, info


def shown(obs):
    """The grid that an observation shows, as rows of letters, after a check of its numbers."""
    lines = obs.rstrip().split("\n\n")[-1].split("\n")
    size = len(lines) - 1
    assert lines[0].split() == [str(k) for k in range(size)]
    assert [line.split()[0] for line in lines[1:]] == [str(k) for k in range(size)]
    assert len({len(line) for line in lines}) == 1
    return [line.split()[1:] for line in lines[1:]]


def occurrences(rows, wanted):
    """All words of `wanted` in the grid, in all eight directions: word, first cell, last cell."""
    size, lengths = len(rows), {len(word) for word in wanted}
    found = []
    for row, col, (dr, dc), n in product(range(size), range(size), DIRECTIONS, lengths):
        end = (row + dr * (n - 1), col + dc * (n - 1))
        if 0 <= end[0] < size and 0 <= end[1] < size:
            text = "".join(rows[row + dr * k][col + dc * k] for k in range(n))
            if text in wanted:
                found.append((text, (row, col), end))
    return sorted(found)


def assert_sound(env, obs):
    game = env.unwrapped
    rows = shown(obs)
    hidden = sorted((row["word"], tuple(row["start"]), tuple(row["end"])) for row in game.gold())
    names = {word for word, _, _ in hidden}
    assert len(names) == len(hidden) == game.num_words
    assert occurrences(rows, names) == hidden
    assert all(a == b or (a not in b and a not in b[::-1]) for a in names for b in names)
    if not game.hardcore:
        assert all(a[0] == b[0] or a[1] == b[1] for _, a, b in hidden)
        assert all(a <= b for _, a, b in hidden)
        return
    lengths = {len(word) for word in names}
    spans = {frozenset(ends) for _, *ends in hidden}
    known = {word for word in ALL_WORDS if len(word) in lengths}
    assert {frozenset(ends) for _, *ends in occurrences(rows, known)} == spans


# -- grids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hardcore", [False, True])
@pytest.mark.parametrize("num_words", [1, 2, 3, 5, 7, 10])
def test_each_word_occurs_exactly_once(hardcore, num_words):
    env, _ = start(hardcore=hardcore, num_words=num_words)
    for seed in range(10):
        assert_sound(env, env.reset(seed=seed)[0])


@pytest.mark.parametrize("hardcore", [False, True])
@pytest.mark.parametrize("split", ["train", "test"])
def test_where_every_try_fails_there_is_a_plain_grid(hardcore, split, monkeypatch):
    monkeypatch.setattr(grid, "_TRIES", 0)
    for num_words in range(1, MAX_WORDS + 1):
        env, _ = start(hardcore=hardcore, num_words=num_words, split=split)
        for seed in range(3):
            assert_sound(env, env.reset(seed=seed)[0])


def test_what_the_plain_grid_relies_on_holds_for_all_word_lists():
    assert not [word for word in ALL_WORDS if word.count("q") != word.count("qu") or "quq" in word]


@pytest.mark.parametrize("hardcore", [False, True])
def test_a_pool_is_visited_whole(hardcore):
    for pool in level(hardcore, 5).pools.values():
        assert len(pool) > 500
        assert sorted(grid._shuffled(pool, random.Random(1))) == sorted(pool)


def test_hard_uses_all_eight_directions_and_a_larger_grid():
    seen = set()
    env, obs = start(IDS[1])
    for seed in range(40):
        env.reset(seed=seed)
        for row in env.unwrapped.gold():
            (r, c), (er, ec) = row["start"], row["end"]
            seen.add(((er > r) - (er < r), (ec > c) - (ec < c)))
    assert seen == set(DIRECTIONS)
    assert len(shown(obs)) > len(shown(start(IDS[0])[1]))


# -- what the player sees ----------------------------------------------------------------------------------------------


def test_easy_lists_the_words_and_hard_their_lengths():
    for seed in range(10):
        env, obs = start(IDS[0], seed)
        names = sorted(row["word"] for row in env.unwrapped.gold())
        assert f"Words left: 5 of 5 ({', '.join(names)})." in obs
        env, obs = start(IDS[1], seed)
        names = [row["word"] for row in env.unwrapped.gold()]
        assert f"({'their letters: ' + ', '.join(str(n) for n in sorted(map(len, names)))})" in obs
        assert not any(name in obs for name in names)


@pytest.mark.parametrize("id", IDS[:2])
def test_found_words_turn_into_capitals(id):
    env, obs = start(id, seed=6)
    before = shown(obs)
    first = env.unwrapped.gold()[0]
    after, reward, *_ = env.step(env.unwrapped.oracle_action())
    assert reward == pytest.approx(0.2)
    assert "Turns left: 19. Words left: 4 of 5" in after
    rows = shown(after)
    capitals = [rows[r][c] for r in range(len(rows)) for c in range(len(rows)) if rows[r][c].isupper()]
    assert sorted(capitals) == sorted(first["word"].upper())
    assert [[x.lower() for x in row] for row in rows] == before


# -- moves -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "{0} {1} {2} {3}",
        " {0}  {1}\t{2}\n{3} ",
        "{0}, {1}, {2}, {3}",
        "({0}, {1}) ({2}, {3})",
        "({0},{1}) -> ({2},{3})",
        "({0},{1})-({2},{3})",
        "[{0} {1} {2} {3}]",
        "row {0} col {1} to row {2} col {3}",
        "Start: ({0}, {1}), End: ({2}, {3})",
        "r{0}c{1} r{2}c{3}",
        "\\text{{{0} {1} {2} {3}}}",
        "{2} {3} {0} {1}",
    ],
)
def test_a_move_is_read_however_it_is_written_and_from_either_end(written):
    env, _ = start(IDS[1], seed=5)
    for row in env.unwrapped.gold():
        _, reward, _, _, info = env.step("It is \\boxed{" + written.format(*row["start"], *row["end"]) + "}")
        assert reward == pytest.approx(0.2)
        assert "invalid_action" not in info
    assert info["success"]


def test_the_example_of_the_rules_is_a_move():
    env, obs = start()
    assert env.unwrapped.FORMAT in obs
    _, reward, ended, _, info = env.step(env.unwrapped.FORMAT)
    assert (ended, info) == (False, {})
    assert reward >= 0


def test_a_word_is_paid_once_from_whichever_end():
    # gem-llm paid again for the same word marked backwards.
    env, _ = start(seed=1)
    row = env.unwrapped.gold()[0]
    forth, back = f"\\boxed{{{row['start']} {row['end']}}}", f"\\boxed{{{row['end']} {row['start']}}}"
    assert env.step(forth)[1] == pytest.approx(0.2)
    for again in (forth, back):
        _, reward, ended, _, info = env.step(again)
        assert (reward, ended) == (0.0, False)
        assert "before" in info["invalid_action"]["reason"]
    assert len(env.unwrapped._left) == 4


@pytest.mark.parametrize(
    ("id", "move", "why"),
    [
        (IDS[0], "0 0 0 10", "outside"),
        (IDS[0], "-1 0 3 0", "outside"),
        (IDS[0], "999999999 0 3 0", "outside"),
        (IDS[0], "0 0 4 4", "row or a column"),
        (IDS[1], "0 0 4 5", "diagonal"),
    ],
)
def test_what_no_word_can_be_is_illegal_and_costs_only_a_turn(id, move, why):
    env, obs = start(id)
    after, reward, ended, _, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, ended) == (0.0, False)
    assert why in info["invalid_action"]["reason"]
    assert shown(after) == shown(obs)
    assert "Turns left: 19." in after


def test_letters_that_are_no_hidden_word_cost_a_turn():
    env, obs = start(seed=2)
    after, reward, ended, _, info = env.step("\\boxed{0 0 0 0}")
    assert (reward, ended, info) == (0.0, False, {})
    assert "No hidden word" in after
    assert shown(after) == shown(obs)


@pytest.mark.parametrize("text", ["", "no box", "\\boxed{}", "\\boxed{1 2 3}", "\\boxed{1 2 3 4 5}", "\\boxed{apple}", "\\boxed{1 2 x 4}"])
def test_what_is_no_move_ends_the_episode(text):
    env, _ = start()
    _, reward, ended, truncated, info = env.step(text)
    assert (reward, ended, truncated) == (-0.1, True, False)
    assert not info["success"]
    assert info["invalid_action"]["hint"] == env.unwrapped.FORMAT


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_no_text_in_the_box_crashes(text):
    env, _ = start()
    obs, reward, *_ = env.step(f"\\boxed{{{text}}}")
    assert reward in (-0.1, 0.0)
    assert len(obs) < 2000


@pytest.mark.parametrize(
    "text", ["9" * 10**6, "1 2 3 " + "4" * 10**6, "\0 \ud800 1 2 3 4", "٣ ٤ ٣ ٤", "1 2 3 " + " " * 10**6, "² 1 1 1", "1 2 3 " + "9" * 18]
)
def test_hostile_text_is_answered_briefly(text):
    env, _ = start()
    obs, reward, *_ = env.step(f"\\boxed{{{text}}}")
    assert reward in (-0.1, 0.0)
    assert len(obs.split("\n")[0]) < 250


# -- episodes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", IDS)
def test_the_oracle_wins_every_start(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        total, info = solve(env)
        assert info["success"]
        assert total == pytest.approx(1)


def test_the_oracle_gives_up_where_the_turns_are_too_few():
    env, _ = start(max_turns=5)
    env.step("\\boxed{0 0 0 0}")
    assert env.unwrapped.oracle_action() is None


@pytest.mark.parametrize("id", IDS)
def test_random_moves_are_read_and_do_not_win(id):
    # In gem-llm the random action had a pair of brackets too many, and every episode ended on it.
    env = gem.make(id)
    for seed in range(30):
        env.reset(seed=seed)
        total, ended, turns = 0.0, False, 0
        while not ended:
            _, reward, ended, truncated, info = env.step(env.unwrapped.sample_random_action())
            reason = info.get("invalid_action", {}).get("reason", "before")
            assert "before" in reason
            assert not truncated
            total += reward
            turns += 1
        assert (turns, info["success"]) == (20, False)
        assert total < 0.7


def test_the_random_variant_deals_both_levels():
    env = gem.make(IDS[2])
    levels = set()
    for seed in range(20):
        assert_sound(env, env.reset(seed=seed)[0])
        levels.add(env.unwrapped.hardcore)
    assert levels == {False, True}


def test_a_seed_gives_the_same_start_in_every_process():
    code = f"import gem\nfor i in {IDS}:\n e = gem.make(i)\n for s in range(3): print(e.reset(seed=s)[0])"
    run = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True)
    one, other = (run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in "17")
    assert one == other
    assert b"Turns left" in one


@pytest.mark.parametrize("id", IDS)
def test_a_snapshot_continues_the_same_way(id):
    env, _ = start(id, seed=9)
    env.step(env.unwrapped.oracle_action())
    env.step(env.unwrapped.sample_random_action())
    twin = gem.make(id)
    twin.reset(seed=1)
    twin.set_state(env.get_state())
    for k in range(6):
        actions = [e.unwrapped.sample_random_action() if k % 2 else e.unwrapped.oracle_action() for e in (env, twin)]
        assert actions[0] == actions[1]
        assert twin.step(actions[1]) == env.step(actions[0])
    assert twin.unwrapped.gold() == env.unwrapped.gold()


@pytest.mark.parametrize("id", IDS)
def test_train_and_test_never_hide_the_same_words(id):
    seen = {}
    for split in ("train", "test"):
        env = gem.make(id, split=split)
        seen[split] = set()
        for seed in range(100):
            env.reset(seed=seed)
            words_hidden = " ".join(sorted(row["word"] for row in env.unwrapped.gold()))
            assert env.unwrapped.in_split(words_hidden)
            seen[split].add(words_hidden)
    assert not seen["train"] & seen["test"]


def test_starts_differ():
    env = gem.make(IDS[1])
    assert len({env.reset(seed=seed)[0] for seed in range(200)}) >= 198


@pytest.mark.parametrize("kwargs", [{"num_words": 0}, {"num_words": 11}, {"num_words": 10, "max_turns": 9}, {"max_turns": 0}])
def test_a_level_that_cannot_be_is_refused(kwargs):
    with pytest.raises(RegistrationError, match=r"num_words|max_turns"):
        gem.make(IDS[0], **kwargs)
