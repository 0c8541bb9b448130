"""TowerofHanoi: the rules, how moves may be written, the shortest way from everywhere, and the faults of gem-llm."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import deque
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.envs.games.tower_of_hanoi import TowerofHanoi
from gem.errors import RegistrationError

VARIANTS = ["game:TowerofHanoi-v0", "game:TowerofHanoi-v0-easy", "game:TowerofHanoi-v0-hard", "game:TowerofHanoi-v0-random"]
EASY, HARD = VARIANTS[1], VARIANTS[2]


def start(id=EASY, seed=0, **kwargs):
    env = gem.make(id, **kwargs)
    env.reset(seed=seed)
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
def test_the_oracle_wins_in_the_fewest_moves_and_is_paid_1(id):
    env = gem.make(id)
    for seed in range(60):
        env.reset(seed=seed)
        fewest = env.unwrapped.gold()["fewest_moves"]
        total, info = play_out(env, lambda e: e.oracle_action())
        assert (total, info["success"], info["metrics"]["turns"]) == (1.0, True, fewest)


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
    assert wins / 200 <= (0.2 if id == HARD else 0.5)


@pytest.mark.parametrize(
    "move",
    [
        *("A C", "AC", "A,C", "A->C", "{ a -> c }", "A to C", " A C ", "ac", "a, c", "(A, C)", "[A, C]", "A-C", "A => C", "A → C"),
        *("from A to C", "move the top disk from peg A to peg C", "Tower A to Tower C", "'A' 'C'"),
        *("\\text{A C}", "\\text{A} \\to \\text{C}", "A \\rightarrow C"),
    ],
)
def test_a_move_may_be_written_in_many_ways(move):
    env = start()
    obs, reward, terminated, _, info = env.step(boxed(move))
    assert env.unwrapped.pegs == [[3, 2], [], [1]]
    assert obs == "Disk 1 went from A to C.\n\nA: 3 2\nB: -\nC: 1"
    assert (reward, terminated, info) == (0.0, False, {})


@pytest.mark.parametrize("moves", [["B C"], ["A C", "A C"], ["A A"], ["A D"], ["A C", "A D"], ["X -> Y"]])
def test_a_forbidden_move_costs_the_turn_and_changes_nothing(moves):
    env = start()
    for move in moves[:-1]:
        env.step(boxed(move))
    pegs = [list(peg) for peg in env.unwrapped.pegs]
    _, reward, terminated, _, info = env.step(boxed(moves[-1]))
    assert (reward, terminated) == (0.0, False)
    assert info["invalid_action"]["reason"]
    assert env.unwrapped.pegs == pegs
    assert env.unwrapped.turn == len(moves)


@pytest.mark.parametrize("move", ["", "A", "A B C", "1 3", "up", "disk 2 from A to C", "ABC", "to", "\0", "\ud800", "Ａ Ｃ", "A" * 100_000])
def test_what_names_no_two_pegs_cannot_be_read(move):
    obs, reward, terminated, _, info = start().step(boxed(move))
    assert (reward, terminated, info["success"]) == (-0.1, True, False)
    assert len(obs) < 400


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=60) | st.text("ABC ->to{},", max_size=12))
def test_any_text_is_a_move_or_is_refused(text):
    env = start()
    obs, reward, _, _, _ = env.step(boxed(text))
    assert reward in (0.0, -0.1)
    assert len(obs) < 400
    assert sorted(disk for peg in env.unwrapped.pegs for disk in peg) == [1, 2, 3]


def test_the_turn_limit_pays_half_the_share_of_disks_on_c():
    env = start(max_turns=7)
    for move in ["A B", "B A"] * 3:
        env.step(boxed(move))
    obs, reward, terminated, truncated, info = env.step(boxed("A C"))
    assert (reward, terminated, truncated, info["success"]) == (0.5 / 3, True, False, False)
    assert "last of 7 turns" in obs


def fewest_moves(disks):
    """The distance of every position to all disks on C, by searching backwards; a position names the peg of each disk."""
    goal = (2,) * disks
    distance, queue = {goal: 0}, deque([goal])
    while queue:
        place = queue.popleft()
        for disk, end in product(range(disks), range(3)):
            if end != place[disk] and not {place[disk], end} & set(place[:disk]):
                new = (*place[:disk], end, *place[disk + 1 :])
                if new not in distance:
                    distance[new] = distance[place] + 1
                    queue.append(new)
    return distance


def test_the_oracle_takes_the_shortest_way_from_every_position_and_knows_when_it_is_too_long():
    distance = fewest_moves(4)
    assert len(distance) == 81
    game = TowerofHanoi(num_disks=4, max_turns=15)
    game.reset(seed=0)
    for place, moves in distance.items():
        for game.turn in (15 - moves, 16 - moves):
            game.pegs = [[disk + 1 for disk in range(3, -1, -1) if place[disk] == peg] for peg in range(3)]
            move = game.best_move(random.Random(0))
            assert (move is None) == (moves == 0 or game.turn + moves > 15)
            if move:
                game.play(move)
                after = tuple(next(peg for peg in range(3) if disk in game.pegs[peg]) for disk in (1, 2, 3, 4))
                assert distance[after] == moves - 1


def test_a_snapshot_in_mid_game_continues_the_same():
    env = start(HARD)
    for _ in range(7):
        env.step(env.sample_random_action())
    twin = env.spawn(same_state=True)
    assert [env.step(env.sample_random_action()) for _ in range(9)] == [twin.step(twin.sample_random_action()) for _ in range(9)]


def test_the_random_variant_plays_three_levels_the_same_in_any_process():
    code = "import gem; e = gem.make('game:TowerofHanoi-v0-random'); print([e.reset(seed=s)[0] for s in range(20)])"
    shown = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    env = gem.make(VARIANTS[3])
    starts = [env.reset(seed=seed)[0] for seed in range(20)]
    assert shown[0] == shown[1] == f"{starts}\n"
    assert len(set(starts)) == 3


def test_the_start_is_always_the_classic_one_and_says_how_to_read_it():
    obs, _ = gem.make(HARD).reset(seed=7)
    assert obs.endswith("A: 5 4 3 2 1\nB: -\nC: -")
    for said in ("Tower of Hanoi", "35 turns", "peg C", "\\boxed{A C}"):
        assert said in obs


@pytest.mark.parametrize(("kwargs", "said"), [({"num_disks": 0}, "from 1 to 16"), ({"num_disks": 8, "max_turns": 100}, "need 255 moves")])
def test_a_level_that_cannot_be_won_is_refused(kwargs, said):
    with pytest.raises(RegistrationError, match=said):
        gem.make(VARIANTS[0], **kwargs)


def test_the_whole_tower_on_b_is_no_win():
    env = start(num_disks=1, max_turns=5)
    obs, reward, terminated, _, info = env.step(boxed("A B"))
    assert (reward, terminated, info) == (0.0, False, {})
    assert obs == "Disk 1 went from A to B.\n\nA: -\nB: 1\nC: -"
    assert env.step(boxed("B C"))[1:3] == (1.0, True)
