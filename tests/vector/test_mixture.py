"""Shares hold at every moment, and not only at the end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.errors import RegistrationError
from gem.vector import Mixture
from gem.vector.mixture import Shares

WEIGHTS = st.lists(st.floats(0.01, 100), min_size=1, max_size=8)


@settings(max_examples=40)
@given(WEIGHTS, st.integers(0, 2**63), st.integers(0, 200))
def test_no_environment_is_ever_two_episodes_away_from_its_share(weights, seed, start):
    shares = Shares(weights, "episodes", seed)
    for _ in range(start):
        shares.next()
    count = [0] * len(weights)
    for n in range(1, 120):
        count[shares.next()] += 1
        assert all(abs(count[k] - n * weight / sum(weights)) < 2 for k, weight in enumerate(weights))


def test_a_rare_environment_comes_between_the_frequent_ones_and_not_after_them():
    shares, picks = Shares([90.0] + [1.0] * 10, "episodes", 1), []
    for _ in range(1000):
        picks.append(shares.next())
    rare = [n for n, pick in enumerate(picks) if pick]
    assert len(rare) == pytest.approx(100, abs=11)
    assert max(later - earlier for earlier, later in pairwise(rare)) <= 21


@settings(max_examples=40)
@given(WEIGHTS, st.integers(0, 2**63), st.lists(st.integers(1, 20), min_size=8, max_size=8))
def test_turns_keep_to_the_shares_whatever_the_lengths_of_the_episodes(weights, seed, lengths):
    shares = Shares(weights, "turns", seed)
    count = [0] * len(weights)
    for _ in range(60):
        pick = shares.next()
        count[pick] += lengths[pick]
        shares.played(lengths[pick])
        if len(weights) > 1:
            total = sum(count)
            assert all(abs(count[k] - total * weight / sum(weights)) <= 20 * len(weights) for k, weight in enumerate(weights))


@settings(max_examples=40)
@given(WEIGHTS, st.integers(0, 2**63), st.sampled_from(["episodes", "turns"]), st.integers(0, 30))
def test_shares_go_on_from_their_state(weights, seed, by, steps):
    one, other = Shares(weights, by, seed), Shares(weights, by, seed + 1)
    for _ in range(steps):
        one.next()
        one.played(3)
    other.load(one.state())
    for _ in range(20):
        assert one.next() == other.next()
        one.played(2)
        other.played(2)


def test_slots_do_not_all_begin_with_the_same_environment():
    for by in ("episodes", "turns"):
        assert len({Shares([1.0, 1.0, 1.0], by, seed).next() for seed in range(20)}) == 3


@pytest.mark.parametrize("weights", [{}, {"a:b": 0}, {"a:b": -1}, {"a:b": float("inf")}, {"a:b": float("nan")}, {"a:b": "1"}])
def test_weights_that_mean_nothing_are_refused(weights):
    with pytest.raises(RegistrationError):
        Mixture(weights)


def test_a_mixture_goes_by_episodes_or_turns():
    with pytest.raises(RegistrationError, match="by 'episodes' or 'turns'"):
        Mixture({"a:b": 1}, by="tokens")
