"""Clauses on reference play: the oracle, random play, limits, and the declared rewards."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from gem.testing.clauses.base import Breach, Subject, clause, expect, oracle_policy, random_policy
from gem.testing.clauses.seeds import CHANCE, PLAYABLE

__all__: list[str] = []

_RANDOM_MARGIN = 0.2
_SLACK = 1e-9
_REWARDED = (*PLAYABLE, "reward_is_finite")


@clause(*PLAYABLE)
def turn_limit_holds(subject: Subject) -> None:
    """An episode of random play ends by `max_turns`, where there is one."""
    for seed in subject.seeds:
        with subject.make() as env:
            episode = subject.play(seed, env=env, steps=(env.max_turns or 0) + 1)
            limit = env.max_turns
        if limit is not None:
            expect(episode.ended and len(episode.steps) <= limit, f"seed {seed} went on after turn {limit}, its max_turns")


@clause(*_REWARDED)
def rewards_stay_in_range(subject: Subject) -> None:
    """The rewards of an episode sum to a value in `EnvInfo.reward_range`."""
    low, high = subject.info.reward_range
    policies = [random_policy] + ([oracle_policy] if subject.info.oracle == "actions" else [])
    for policy in policies:
        for seed in range(10):
            total = subject.play(seed, policy).total
            expect(
                low - _SLACK <= total <= high + _SLACK, f"seed {seed}: rewards sum to {total:.6g}, outside the declared [{low:g}, {high:g}]"
            )


@clause(*CHANCE)
def random_action_is_readable(subject: Subject) -> None:
    """`sample_random_action` returns actions that the environment can read."""
    invalid = 0
    for seed in range(12):
        episode = subject.play(seed, steps=1)
        invalid += "invalid_action" in episode.steps[0][4]
    expect(invalid < 12, "the first random action of every episode was invalid")


@clause(*_REWARDED, "leaves_global_random_alone", "same_seed_same_episode", "oracle_changes_nothing")
def oracle_wins(subject: Subject) -> None:
    """Where `EnvInfo.oracle` is `actions`, the oracle ends every fresh episode with success, in the limit."""
    if subject.info.oracle != "actions":
        return
    for seed in range(20):
        episode = subject.play(seed, oracle_policy)
        last: Any = episode.steps[-1] if episode.steps else None
        if last is None or not episode.ended:
            raise Breach(f"seed {seed}: the oracle gave up after {len(episode.steps)} turns")
        expect(last[4].get("success") is not False and last[2], f"seed {seed}: the oracle lost after {len(episode.steps)} turns")


@clause(*_REWARDED, "oracle_wins")
def success_is_told(subject: Subject) -> None:
    """Where there is an oracle, `info["success"]` is a bool at a terminated end."""
    if subject.info.oracle != "actions":
        return
    for policy in (random_policy, oracle_policy):
        episode = subject.play(0, policy)
        if episode.ended and episode.steps[-1][2]:
            told = episode.steps[-1][4].get("success")
            expect(isinstance(told, bool), f'info["success"] is {told!r} at the end')


@clause(*_REWARDED, "oracle_wins", "rewards_stay_in_range")
def random_play_falls_short(subject: Subject) -> None:
    """Where there is an oracle, random play's mean reward is at least 0.2 below the oracle's."""
    if subject.info.oracle != "actions":
        return
    oracle = fmean(subject.play(seed, oracle_policy).total for seed in range(20))
    chance = fmean(subject.play(seed).total for seed in range(subject.episodes))
    expect(
        oracle - chance >= _RANDOM_MARGIN, f"random play earns {chance:.3f} and the oracle {oracle:.3f}: less than {_RANDOM_MARGIN} apart"
    )
