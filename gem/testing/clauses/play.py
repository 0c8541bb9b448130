"""Clauses on reference play: the oracle, random play, limits, and the declared rewards."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from gem.testing.clauses.base import Breach, Episode, Subject, clause, expect, expect_same, oracle_policy, random_policy
from gem.testing.clauses.seeds import CHANCE
from gem.testing.clauses.shape import PLAYABLE

__all__: list[str] = []

_RANDOM_MARGIN = 0.2
_SLACK = 1e-9
_REWARDED = ("flags_are_bools", "reward_is_float", "reward_is_finite")


@clause(*PLAYABLE, "survives_any_text")
def turn_limit_holds(subject: Subject) -> None:
    """An episode ends by `max_turns`, where there is one, whether the actions can be read or not."""
    for policy in subject.policies:
        for seed in subject.seeds:
            with subject.make() as env:
                limit = env.max_turns
                if limit is None:
                    return
                episode = subject.play(seed, policy, env=env, steps=limit + 1)
            over = episode.ended or policy is oracle_policy  # one that gives up breaks `oracle_wins`
            expect(over and len(episode.steps) <= limit, f"seed {seed} went on after turn {limit}, its max_turns")


@clause(*_REWARDED, "survives_any_text")
def rewards_stay_in_range(subject: Subject) -> None:
    """The rewards of an episode sum to a value in `EnvInfo.reward_range`."""
    low, high = subject.info.reward_range
    for policy in subject.policies:
        for seed in range(10):
            total = subject.play(seed, policy).total
            fits = low - _SLACK <= total <= high + _SLACK
            expect(fits, f"seed {seed}: rewards sum to {total:.6g}, outside the declared [{low:g}, {high:g}]")


@clause(*CHANCE)
def random_action_is_readable(subject: Subject) -> None:
    """`sample_random_action` returns actions that the environment can read."""
    invalid = 0
    for seed in range(12):
        episode = subject.play(seed, steps=1)
        invalid += "invalid_action" in episode.steps[0][4]
    expect(invalid < 12, "the first random action of every episode was invalid")


@clause("oracle_changes_nothing", "actions_are_text", "survives_any_text")
def message_plays_as_its_text(subject: Subject) -> None:
    """An action may be the model's chat message: it plays as its text would."""
    if not subject.info.deterministic:
        return
    for policy in subject.policies:
        plain = subject.play(0, policy)
        messages = [{"role": "assistant", "content": action} for action in plain.actions if isinstance(action, str)]
        if len(messages) < len(plain.actions):
            continue  # its actions are not text
        try:
            episode = subject.replay(0, messages)
        except Exception as why:
            raise Breach(f"the action {messages[0]!r:.100} raised {type(why).__name__}: {why!s:.100}") from why
        expect_same(plain, episode, "messages play differently from their text")


@clause("oracle_changes_nothing")
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
    """Where there is an oracle, `info["success"]` is a bool at a terminated end, and not True of one that earned the least."""
    if subject.info.oracle != "actions":
        return
    best = _ends_well(subject.play(0, oracle_policy)).total
    for seed in range(10):
        episode = _ends_well(subject.play(seed, random_policy))
        told = bool(episode.ended and episode.steps[-1][4].get("success"))
        earned_least = episode.total <= subject.info.reward_range[0] + _SLACK < best
        expect(not (told and earned_least), f"seed {seed}: success is told of random play that earned {episode.total:g}")


def _ends_well(episode: Episode) -> Episode:
    if episode.ended and episode.steps[-1][2]:
        told = episode.steps[-1][4].get("success")
        expect(isinstance(told, bool), f'info["success"] is {told!r} at the end')
    return episode


@clause("oracle_wins", "rewards_stay_in_range")
def random_play_falls_short(subject: Subject) -> None:
    """Where there is an oracle, random play's mean reward is at least 0.2 below the oracle's."""
    if subject.info.oracle != "actions":
        return
    oracle = fmean(subject.play(seed, oracle_policy).total for seed in range(20))
    chance = fmean(subject.play(seed).total for seed in range(subject.episodes))
    expect(
        oracle - chance >= _RANDOM_MARGIN, f"random play earns {chance:.3f} and the oracle {oracle:.3f}: less than {_RANDOM_MARGIN} apart"
    )
