"""Numbers over episodes: right where they can be worked out by hand, and honest about how little was played."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.evaluation import Summary, summarise
from gem.evaluation.metrics import mean_interval, wilson_interval
from gem.trajectory import Trajectory, Turn

Z = NormalDist().inv_cdf(0.975)


def episode(task=0, *, success=None, reward=0.0, valid=True, env_id="lab:env", agent="a", turns=1, sample=0):
    return Trajectory(
        env_id=env_id,
        agent=agent,
        task=None if task is None else f"test/{task}",
        sample=sample,
        success=success,
        reward=reward,
        valid=valid,
        turns=[Turn(index=n, observation="") for n in range(turns)],
    )


def only(episodes):
    (summary,) = summarise(episodes)
    return summary


# -- Wilson's interval -------------------------------------------------------------------------------------------------

# Published values: Newcombe, Statistics in Medicine 17 (1998), table I, method 3; and R's prop.test(7, 10, correct=FALSE).
KNOWN = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
    (7, 10, 0.3968, 0.8922),
]


@pytest.mark.parametrize(("won", "n", "low", "high"), KNOWN)
def test_wilsons_interval_is_the_published_one(won, n, low, high):
    found = wilson_interval(won, n)
    assert found == pytest.approx((low, high), abs=6e-5)
    assert wilson_interval(n - won, n) == pytest.approx((1 - high, 1 - low), abs=6e-5)


@given(n=st.integers(1, 100_000), share=st.floats(0, 1))
def test_its_ends_are_where_the_score_test_just_rejects(n, share):
    low, high = wilson_interval(share * n, n)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1
    for end in (low, high):
        if 1e-6 < end < 1 - 1e-6:
            assert abs(share - end) == pytest.approx(Z * math.sqrt(end * (1 - end) / n), rel=1e-6, abs=1e-9)


def test_no_trial_tells_nothing_and_one_tells_little():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(1, 1) == pytest.approx((0.2065, 1.0), abs=1e-4)
    assert wilson_interval(0, 1) == pytest.approx((0.0, 0.7935), abs=1e-4)


def test_all_won_of_many_is_not_certainty():
    low, high = wilson_interval(1000, 1000)
    assert 0.99 < low < 1
    assert high == 1.0


@given(won=st.integers(0, 50), extra=st.integers(0, 50))
def test_it_narrows_with_more_of_the_same(won, extra):
    n = won + extra
    if n:
        once, thrice = wilson_interval(won, n), wilson_interval(3 * won, 3 * n)
        assert thrice[1] - thrice[0] < once[1] - once[0]


# -- the interval of a mean --------------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_lies_around_it():
    values = [0.0, 1.0, 1.0, 0.5, 0.25]
    half = 2.7764 * stdev(values) / math.sqrt(5)
    assert mean_interval(values) == pytest.approx((fmean(values) - half, fmean(values) + half), abs=0.01)


def test_fewer_than_two_values_have_no_interval():
    assert mean_interval([]) is None
    assert mean_interval([1.0]) is None


# -- summaries ---------------------------------------------------------------------------------------------------------


def test_one_sample_a_task_gives_wilsons_interval():
    summary = only(episode(n, success=n < 7, reward=float(n < 7), turns=n + 1) for n in range(10))
    assert summary.success == 0.7
    assert summary.success_interval == pytest.approx((0.3968, 0.8922), abs=6e-5)
    assert (summary.reward, summary.turns) == (0.7, 5.5)
    assert (summary.episodes, summary.errors, summary.tasks) == (10, 0, 10)


def test_samples_of_a_task_do_not_count_as_independent():
    wins = {0: [1, 1, 1, 1], 1: [0, 0, 0, 0], 2: [1, 0, 1, 0], 3: [1, 1, 1, 0]}
    rows = [episode(n, sample=k, success=bool(won), reward=float(won)) for n, row in wins.items() for k, won in enumerate(row)]
    summary = only(rows)
    means = [1.0, 0.0, 0.5, 0.75]
    half = 3.1824 * stdev(means) / 2  # Student's t with three degrees of freedom
    assert summary.success == fmean(means)
    assert summary.reward_interval == pytest.approx((fmean(means) - half, fmean(means) + half), abs=0.01)
    assert summary.success_interval == pytest.approx((max(fmean(means) - half, 0.0), min(fmean(means) + half, 1.0)), abs=0.01)
    low, high = wilson_interval(9, 16)
    assert summary.success_interval[1] - summary.success_interval[0] > high - low


def test_a_task_with_more_samples_weighs_no_more():
    rows = [episode(0, sample=k, success=True, reward=1.0) for k in range(9)] + [episode(1, success=False)]
    summary = only(rows)
    assert (summary.success, summary.reward) == (0.5, 0.5)


def test_a_share_stays_a_share():
    rows = [episode(n, sample=k, success=n < 9 or k == 0) for n in range(10) for k in range(2)]
    low, high = only(rows).success_interval
    assert 0 <= low <= only(rows).success <= high <= 1


@pytest.mark.parametrize("won", [True, False])
def test_many_samples_that_all_agree_are_not_certainty(won):
    summary = only(episode(n, sample=k, success=won) for n in range(5) for k in range(4))
    assert summary.success == float(won)
    assert summary.success_interval == pytest.approx(wilson_interval(5 * won, 5))


def test_many_samples_of_one_task_have_no_interval():
    summary = only(episode(0, sample=k, success=k < 2, reward=1.0) for k in range(4))
    assert (summary.success, summary.success_interval, summary.reward_interval) == (0.5, None, None)


def test_a_single_episode_has_a_share_and_no_interval_of_its_reward():
    summary = only([episode(0, success=True, reward=1.0)])
    assert summary.success_interval == pytest.approx((0.2065, 1.0), abs=1e-4)
    assert summary.reward_interval is None


def test_faults_are_counted_and_left_out_of_all_numbers():
    rows = [episode(n, success=True, reward=1.0, turns=2) for n in range(4)]
    faults = [episode(4 + n, success=None, reward=99.0, valid=False, turns=50) for n in range(3)]
    with_faults, without = only([*faults[:1], *rows, *faults[1:]]), only(rows)
    assert (with_faults.episodes, with_faults.errors, with_faults.tasks) == (7, 3, 7)
    for name in ("reward", "reward_interval", "success", "success_interval", "turns"):
        assert getattr(with_faults, name) == getattr(without, name)


def test_a_task_that_lost_a_sample_to_a_fault_keeps_the_others():
    rows = [episode(0, sample=0, success=True), episode(0, sample=1, valid=False), episode(1, success=False)]
    summary = only(rows)
    assert (summary.success, summary.errors, summary.tasks) == (0.5, 1, 2)
    assert summary.success_interval == pytest.approx(wilson_interval(1, 2))


def test_only_faults_leave_no_number():
    assert only([episode(n, valid=False) for n in range(3)]) == Summary("lab:env", "a", 3, 3, 3)


def test_an_environment_that_does_not_tell_success_has_none():
    summary = only(episode(n, reward=0.5) for n in range(3))
    assert (summary.success, summary.success_interval) == (None, None)
    assert (summary.reward, summary.reward_interval) == (0.5, None)


def test_success_counts_where_it_is_told():
    rows = [episode(0, success=True), episode(1, success=None), episode(2, success=False)]
    assert only(rows).success == 0.5


def test_each_environment_and_agent_has_its_own_row_in_order_of_appearance():
    rows = [
        episode(0, env_id="lab:b", agent="x", success=True),
        episode(0, env_id="lab:a", agent="x", success=False),
        episode(1, env_id="lab:b", agent="x", success=False),
        episode(0, env_id="lab:b", agent="y", success=True),
    ]
    assert [(s.env_id, s.agent, s.episodes, s.success) for s in summarise(iter(rows))] == [
        ("lab:b", "x", 2, 0.5),
        ("lab:a", "x", 1, 0.0),
        ("lab:b", "y", 1, 1.0),
    ]


def test_no_episodes_no_rows():
    assert summarise([]) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([True, False, None]), st.floats(-5, 5), st.booleans(), st.integers(0, 5)), min_size=1
    )
)
def test_whatever_was_played_the_numbers_hold_together(rows):
    summary = only(episode(t, success=s, reward=r, valid=v, turns=n) for t, s, r, v, n in rows)
    valid = [row for row in rows if row[3]]
    assert summary.episodes == len(rows)
    assert summary.errors == len(rows) - len(valid)
    if not valid:
        assert summary.reward is None
        return
    assert min(row[2] for row in valid) - 1e-9 <= summary.reward <= max(row[2] for row in valid) + 1e-9
    if summary.success is not None:
        assert 0 <= summary.success <= 1
    for value, interval in ((summary.reward, summary.reward_interval), (summary.success, summary.success_interval)):
        if interval is not None:
            assert interval[0] - 1e-9 <= value <= interval[1] + 1e-9


@pytest.mark.parametrize(("n", "quantile"), [(2, 12.7062), (3, 4.3027), (5, 2.7764), (10, 2.2622), (30, 2.0452), (1000, 1.9623)])
def test_intervals_of_few_values_are_students(n, quantile):
    values = [float(k) for k in range(n)]
    low, high = mean_interval(values)
    assert (high - low) / 2 == pytest.approx(quantile * stdev(values) / n**0.5, rel=0.005)


def test_a_few_equal_values_tell_no_interval():
    assert mean_interval([0.5] * 5) is None
    assert mean_interval([0.5] * 50) == (0.5, 0.5)
