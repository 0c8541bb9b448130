"""Clauses on chance: who may draw, and from what."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gem.testing.clauses.base import MAX_STEPS, Breach, Episode, Subject, clause, expect, expect_same, kept, oracle_policy, random_policy
from gem.testing.clauses.shape import PLAYABLE

__all__ = ["CHANCE", "same_when_asked"]

CHANCE = ("random_action_changes_nothing",)


def _global_state() -> Any:
    return random.getstate(), repr(np.random.get_state(legacy=False))


@clause(*PLAYABLE)
def leaves_global_random_alone(subject: Subject) -> None:
    """The global state of `random` and `numpy.random` is neither changed nor drawn from."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        for policy in subject.players:
            # Not the state that an environment that seeds them would leave behind, and did in the clauses before.
            random.seed("disturbed")
            np.random.seed(20_261)
            before = _global_state()
            episode = subject.play(0, policy)
            expect(_global_state() == before, "an episode changed the global state of random or numpy.random")
        if subject.info.deterministic and _varies_with_global(subject, episode.actions):
            raise Breach("an episode depends on the global state of random or numpy.random")
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _varies_with_global(subject: Subject, actions: list[Any]) -> bool:
    """Whether the same global state gives the same episode and another one does not: it may be read without a trace."""
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


@clause("leaves_global_random_alone", "calls_super_reset")
def same_seed_same_episode(subject: Subject) -> None:
    """The same seed and actions give the same episode, on a fresh environment."""
    if not subject.info.deterministic:
        return
    for seed in subject.seeds:
        actions = subject.play(seed).actions
        one, two = subject.replay(seed, actions), subject.replay(seed, actions)
        expect_same(one, two, f"seed {seed} played twice gave two episodes")


@clause("same_seed_same_episode")
def unseeded_resets_follow_the_stream(subject: Subject) -> None:
    """Resets without a seed take the stream of seeds that `make(seed=...)` begins: pass the None on to `Env.reset`."""
    one, again, other = (_stream(subject, seed) for seed in (5, 5, 6))
    if subject.info.deterministic:
        expect(one == again, "after make(seed=5) the resets without a seed gave other episodes the second time")
    expect(one != other, "resets without a seed give the same whether after make(seed=5) or make(seed=6)")


def _stream(subject: Subject, seed: int) -> list[Any]:
    with subject.make() as env:
        base: Any = env.unwrapped
        base.seed_resets(seed)
        return [(kept(env.reset()[0]), base._episode_seed) for _ in range(3)]


@clause("same_seed_same_episode")
def random_action_changes_nothing(subject: Subject) -> None:
    """`sample_random_action` leaves the episode as it is."""
    same_when_asked(subject, "sample_random_action", lambda env: env.sample_random_action())


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
def oracle_changes_nothing(subject: Subject) -> None:
    """`oracle_action` leaves the episode as it is, and asked again it still leads to the same end."""
    if subject.info.oracle != "actions" or not subject.info.deterministic:
        return
    same_when_asked(subject, "oracle_action", lambda env: env.oracle_action())
    for seed in subject.seeds:
        once = subject.play(seed, oracle_policy)
        twice = subject.play(seed, lambda env: (env.oracle_action(), env.oracle_action())[1])
        ends = [(episode.ended, episode.steps[-1:] and episode.steps[-1][4].get("success")) for episode in (once, twice)]
        expect(ends[0] == ends[1], f"seed {seed}: asked twice each turn, the oracle does not end as it does otherwise")


def same_when_asked(subject: Subject, name: str, ask: Callable[[Any], object], *, turns: int = MAX_STEPS) -> None:
    """Raise `Breach` where an episode shows that something was asked of it before each of its first turns."""
    if not subject.info.deterministic:
        return
    for seed in subject.seeds:
        actions = subject.play(seed).actions
        left = enumerate(actions)

        def policy(env: Any, left: Any = left) -> Any:
            turn, action = next(left, (0, None))
            for _ in range(2 if turn < turns else 0):
                ask(env)
            return action

        expect_same(subject.replay(seed, actions), subject.play(seed, policy), f"the episode changed because {name} was called")


@clause(*CHANCE, "reset_begins_again")
def seed_alone_picks_the_episode(subject: Subject) -> None:
    """What `reset(seed)` gives does not depend on the episodes before it, whether they ended or not."""
    if not subject.info.deterministic:
        return
    fresh = subject.play(1)
    with subject.make() as env:
        for seed, policy, steps in [(0, random_policy, 1), *((None, policy, None) for policy in subject.players)]:
            subject.play(seed, policy, env=env, steps=steps)
            expect_same(fresh, subject.replay(1, fresh.actions, env=env), "seed 1 gave another episode after others were played")


@clause(*CHANCE)
def instances_do_not_share(subject: Subject) -> None:
    """Two environments in one process do not disturb each other."""
    if not subject.info.deterministic:
        return
    alone = subject.play(0)
    with subject.make() as one:
        beside = Episode(*kept(one.reset(seed=0)))
        with subject.make() as two:
            two.reset(seed=1)
            running = True
            for action in alone.actions:
                if running:
                    *_, terminated, truncated, _ = two.step(two.sample_random_action())
                    running = not (terminated or truncated)
                beside.steps.append(kept(one.step(action)))
    expect_same(alone, beside, "an episode changed because another environment was played beside it")
