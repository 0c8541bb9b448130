"""Clauses on chance: who may draw, and from what."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from gem.testing.clauses.base import Breach, Subject, clause, expect, first_difference
from gem.testing.clauses.shape import SHAPE

__all__ = ["CHANCE"]

PLAYABLE = (*SHAPE, "flags_are_bools")
CHANCE = (*PLAYABLE, "leaves_global_random_alone", "same_seed_same_episode")


def _global_state() -> Any:
    return random.getstate(), repr(np.random.get_state(legacy=False))


@clause(*PLAYABLE)
def leaves_global_random_alone(subject: Subject) -> None:
    """The global state of `random` and `numpy.random` is neither changed nor drawn from."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        before = _global_state()
        first = subject.play(0)
        expect(_global_state() == before, "an episode changed the global state of random or numpy.random")
        if subject.info.deterministic:
            # Where it draws from the global state without a trace (by seeding it back), another state shows.
            random.seed(first.total)
            again = subject.replay(0, first.actions)
            random.seed(99)
            other = subject.replay(0, first.actions)
            if again.seen() != other.seen() and _varies_with_global(subject, first.actions):
                raise Breach("an episode depends on the global state of random or numpy.random")
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _varies_with_global(subject: Subject, actions: list[Any]) -> bool:
    """Whether the same global state gives the same episode and another one does not."""
    seen = []
    for state in (5, 5, 6):
        random.seed(state)
        np.random.seed(state)
        seen.append(subject.replay(0, actions).seen())
    return bool(seen[0] == seen[1] != seen[2])


@clause(*PLAYABLE)
def calls_super_reset(subject: Subject) -> None:
    """`reset` begins with `super().reset(seed, options)`: the task key, `rng` and `np_random` follow the seed."""
    with subject.make() as env:
        base: Any = env.unwrapped
        env.reset(seed=7)
        expect(base._episode_seed == 7, "reset(seed=7) did not reach Env.reset: begin with super().reset(seed, options)")


@clause(*PLAYABLE, "leaves_global_random_alone", "calls_super_reset")
def same_seed_same_episode(subject: Subject) -> None:
    """The same seed and actions give the same episode, on a fresh environment."""
    if not subject.info.deterministic:
        return
    for seed in subject.seeds:
        one = subject.play(seed)
        two = subject.replay(seed, one.actions)
        expect(one.seen() == two.seen(), f"seed {seed} played twice gave two episodes: {first_difference(one.seen(), two.seen())}")


@clause(*CHANCE)
def seed_alone_picks_the_episode(subject: Subject) -> None:
    """What `reset(seed)` gives does not depend on the episodes before it."""
    if not subject.info.deterministic:
        return
    fresh = subject.play(1)
    with subject.make() as env:
        subject.play(0, env=env)
        subject.play(None, env=env)
        used = subject.replay(1, fresh.actions, env=env)
    expect(
        fresh.seen() == used.seen(), f"seed 1 gave another episode after others were played: {first_difference(fresh.seen(), used.seen())}"
    )


@clause(*CHANCE)
def instances_do_not_share(subject: Subject) -> None:
    """Two environments in one process do not disturb each other."""
    if not subject.info.deterministic:
        return
    alone = subject.play(0)
    with subject.make() as one, subject.make() as two:
        seen: list[Any] = [one.reset(seed=0)]
        two.reset(seed=1)
        running = True
        for action in alone.actions:
            if running:
                *_, terminated, truncated, _ = two.step(two.sample_random_action())
                running = not (terminated or truncated)
            seen.append(one.step(action))
    expect(
        [row[0] for row in alone.seen()] == [row[0] for row in seen], "an episode changed because another environment was played beside it"
    )


@clause(*CHANCE)
def random_action_is_repeatable(subject: Subject) -> None:
    """`sample_random_action` draws from `action_rng` alone: the same seed gives the same actions."""
    one, two = subject.play(0), subject.play(0)
    if subject.info.deterministic:
        expect(
            one.actions == two.actions,
            f"two episodes of seed 0 sampled other actions: {one.actions[:3]!r:.100} and {two.actions[:3]!r:.100}",
        )


@clause(*CHANCE)
def random_action_changes_nothing(subject: Subject) -> None:
    """`sample_random_action` leaves the episode as it is."""
    if subject.info.deterministic:
        _same_when_asked(subject, "sample_random_action")


@clause(*CHANCE)
def oracle_changes_nothing(subject: Subject) -> None:
    """`oracle_action` leaves the episode as it is."""
    if subject.info.deterministic and subject.info.oracle == "actions":
        _same_when_asked(subject, "oracle_action")


def _same_when_asked(subject: Subject, method: str) -> None:
    for seed in subject.seeds:
        plain = subject.play(seed)
        actions = iter(plain.actions)

        def policy(env: Any, actions: Any = actions) -> Any:
            for _ in range(2):
                getattr(env, method)()
            return next(actions, None)

        asked = subject.play(seed, policy)
        expect(
            plain.seen() == asked.seen(),
            f"the episode changed because {method} was called: {first_difference(plain.seen(), asked.seen())}",
        )
