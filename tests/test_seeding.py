"""Seeds: one number becomes many, and no two streams meet."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.random import SeedSequence

from gem.errors import ContractError
from gem.seeding import check_seed, derive, fresh_seed, key_seed, task_seed


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


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, [1]])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(ContractError, match="seed must be"):
        check_seed(seed)


def test_numpy_integers_are_seeds():
    seed = check_seed(np.int64(5))
    assert seed == 5
    assert type(seed) is int


def test_fresh_seeds_leave_the_global_generators_alone():
    before = random.getstate()
    assert fresh_seed() != fresh_seed()
    assert random.getstate() == before
