"""Seeds: one number becomes many, and no two streams meet."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import numpy as np
import pytest
from numpy.random import SeedSequence

from gem.seeding import QuickRandom, derive, fresh_seed, key_seed, task_seed
from tests.core.test_env import Bare


def test_derive_follows_numpys_seed_sequence():
    expected = int(SeedSequence(7, spawn_key=(3, 1)).generate_state(1, np.uint64)[0] >> np.uint64(1))
    assert derive(7, 3, 1) == expected


def test_derived_seeds_differ_and_stay_below_two_to_the_63():
    seeds = {derive(root, k) for root in range(20) for k in range(50)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_streams_of_two_splits_never_meet():
    train = {task_seed("train", index) for index in [*range(1000), 2**63 - 1]}
    test = {task_seed("test", index) for index in [*range(1000), 2**63 - 1]}
    other = {task_seed("validation", index) for index in range(1000)}
    assert not train & test
    assert not test & other


def test_the_train_stream_is_the_seed_itself():
    assert task_seed("train", 5) == 5


def test_a_key_and_a_run_seed_give_the_environments_seed():
    assert key_seed(1, "test/0") == key_seed(1, "test/0")
    assert len({key_seed(run, f"test/{k}") for run in range(3) for k in range(100)}) == 300


def test_fresh_seeds_leave_the_global_generators_alone():
    before = random.getstate()
    assert fresh_seed() != fresh_seed()
    assert random.getstate() == before


def test_a_quick_generator_is_a_random_and_repeats():
    one, two = QuickRandom(5), QuickRandom(5)
    assert isinstance(one, random.Random)
    draws = [one.random(), one.getrandbits(10), one.randrange(50), one.gauss(0, 1), one.choice("abc"), one.getrandbits(5000), one.random()]
    assert draws == [
        two.random(),
        two.getrandbits(10),
        two.randrange(50),
        two.gauss(0, 1),
        two.choice("abc"),
        two.getrandbits(5000),
        two.random(),
    ]


@pytest.mark.parametrize("drawn", [0, 3, 8, 9, 20])
def test_a_quick_generator_is_copied_with_its_place(drawn):
    one = QuickRandom(5)
    for _ in range(drawn):
        one.random()
    two, three = pickle.loads(pickle.dumps(one)), QuickRandom(1)
    three.setstate(one.getstate())
    ahead = [one.random() for _ in range(20)]
    assert ahead == [two.random() for _ in range(20)] == [three.random() for _ in range(20)]


def test_a_quick_generator_is_uniform():
    firsts = [QuickRandom(seed).random() for seed in range(4000)]
    assert all(0 <= value < 1 for value in firsts)
    counts = Counter(int(value * 10) for value in firsts)
    assert all(320 < count < 480 for count in counts.values())  # 400 each, with a standard deviation of 19
    bits = Counter(QuickRandom(seed).getrandbits(3) for seed in range(4000))
    assert all(420 < bits[value] < 580 for value in range(8))


def test_the_generator_for_actions_is_not_the_one_of_the_episode():
    env = Bare()
    env.reset(seed=5)
    assert env.rng.random() != env.action_rng.random()


def test_seeding_a_quick_generator_anew_forgets_half_a_gauss():
    rng = QuickRandom(5)
    rng.gauss(0, 1)  # makes two and keeps one
    rng.seed(6)
    assert rng.gauss(0, 1) == QuickRandom(6).gauss(0, 1)
