"""Clauses on copies: snapshots, twins, pickles, the async side, and closing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

from gem import aio
from gem.core import Env
from gem.errors import ContractError, SnapshotUnsupported
from gem.testing.clauses.base import Breach, Episode, Subject, clause, expect, first_difference
from gem.testing.clauses.seeds import CHANCE, PLAYABLE

__all__: list[str] = []

_QUIET = (*CHANCE, "random_action_is_repeatable", "random_action_changes_nothing")


def _midway(subject: Subject, seed: int) -> tuple[Env[Any, Any], list[Any]]:
    """Return an environment halfway through an episode, and the actions that are left."""
    episode = subject.play(seed)
    env = subject.make()
    env.reset(seed=seed)
    half = len(episode.actions) // 2
    for action in episode.actions[:half]:
        env.step(action)
    return env, episode.actions[half:]


def _go_on(env: Env[Any, Any], actions: list[Any]) -> list[Any]:
    seen: list[Any] = []
    for action in actions:
        seen.append((env.sample_random_action(), copy.deepcopy(env.step(action))))
        if seen[-1][1][2] or seen[-1][1][3]:
            break
    return seen


@clause(*_QUIET)
def snapshot_goes_on_exactly(subject: Subject) -> None:
    """Where `EnvInfo.snapshot` is `exact`, a restored episode goes on as the first would, sampled actions included."""
    if subject.info.snapshot != "exact":
        return
    for seed in subject.seeds:
        env, left = _midway(subject, seed)
        try:
            state = pickle.loads(pickle.dumps(env.get_state()))
        except Exception as why:
            raise Breach(f"get_state raised, or returned what pickle can't hold: {type(why).__name__}: {why!s:.100}") from why
        expected = _go_on(env, left)
        twin = subject.make()
        twin.set_state(state)
        restored = _go_on(twin, left)
        expect(
            expected == restored,
            f"after set_state seed {seed} went on differently: {first_difference([None, *expected], [None, *restored])}",
        )


@clause(*_QUIET, "snapshot_goes_on_exactly")
def snapshot_is_a_copy(subject: Subject) -> None:
    """A snapshot does not change when the episode goes on."""
    if subject.info.snapshot != "exact":
        return
    env, left = _midway(subject, 0)
    state = env.get_state()
    expected = _go_on(env, left)
    twin = subject.make()
    twin.set_state(state)
    expect(_go_on(twin, left) == expected, "a snapshot changed when its environment was played on")


@clause(*_QUIET, "snapshot_goes_on_exactly")
def foreign_snapshot_is_refused(subject: Subject) -> None:
    """`set_state` refuses what is not a snapshot of such an environment, with a `ContractError`."""
    for state in ({"of": "SomethingElse()", "data": b""}, {}, None, "x"):
        env = subject.make()
        env.reset(seed=0)
        try:
            env.set_state(state)
        except ContractError:
            continue
        except Exception as why:
            raise Breach(f"set_state({state!r}) raised {type(why).__name__} instead of ContractError") from why
        raise Breach(f"set_state({state!r}) was accepted")


@clause(*PLAYABLE)
def undeclared_snapshot_is_refused(subject: Subject) -> None:
    """Where `EnvInfo.snapshot` is `none`, `get_state` raises `SnapshotUnsupported`."""
    if subject.info.snapshot != "none":
        return
    with subject.make() as env:
        env.reset(seed=0)
        try:
            env.get_state()
        except SnapshotUnsupported:
            return
    raise Breach("get_state returned something though EnvInfo.snapshot is 'none'")


@clause(*CHANCE)
def spawn_gives_an_equal_twin(subject: Subject) -> None:
    """`spawn()` returns another environment that plays the same episodes."""
    if not subject.info.deterministic:
        return
    env = subject.make()
    expected = subject.play(0, env=env)
    twin = env.spawn()
    expect(twin is not env, "spawn returned the environment itself")
    found = subject.replay(0, expected.actions, env=twin)
    expect(expected.seen() == found.seen(), f"a spawned environment plays differently: {first_difference(expected.seen(), found.seen())}")


@clause(*CHANCE)
def pickle_goes_on(subject: Subject) -> None:
    """Where `EnvInfo.snapshot` is `exact`, a pickled or deep-copied environment goes on with its episode."""
    if subject.info.snapshot != "exact":
        return
    clones: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("pickle", lambda env: pickle.loads(pickle.dumps(env))),
        ("deepcopy", copy.deepcopy),
    )
    for name, clone in clones:
        env, left = _midway(subject, 0)
        try:
            twin = clone(env)
        except Exception as why:
            raise Breach(f"{name} of the environment raised {type(why).__name__}: {why!s:.100}") from why
        one, two = [copy.deepcopy(env.step(a)) for a in left], [copy.deepcopy(twin.step(a)) for a in left]
        expect(one == two, f"after {name} the episode went on differently")


@clause(*CHANCE)
def async_side_is_the_same(subject: Subject) -> None:
    """`areset` and `astep` play the same episode as `reset` and `step`."""
    if not subject.info.deterministic:
        return
    plain = subject.play(0)

    async def play() -> Episode:
        env = subject.make()
        try:
            episode = Episode(*copy.deepcopy(await env.areset(seed=0)))
            for action in plain.actions:
                episode.steps.append(copy.deepcopy(await env.astep(action)))
            return episode
        finally:
            await env.aclose()

    found = aio.run(play())
    expect(plain.seen() == found.seen(), f"the async side plays differently: {first_difference(plain.seen(), found.seen())}")


@clause("reset_returns_pair")
def close_may_be_repeated(subject: Subject) -> None:
    """`close` may be called twice, and before the first reset."""
    env = subject.make()
    try:
        env.close()
        env.close()
    except Exception as why:
        raise Breach(f"close raised {type(why).__name__}: {why!s:.100}") from why


@clause(*PLAYABLE)
def reset_begins_again(subject: Subject) -> None:
    """After an end, `reset` begins a new episode that is not over at once."""
    with subject.make() as env:
        for seed in subject.seeds:
            try:
                episode = subject.play(seed, env=env)
            except Exception as why:
                raise Breach(f"reset after an end raised {type(why).__name__}: {why!s:.100}") from why
        first = subject.play(subject.seeds[0], steps=1)
        again = subject.play(subject.seeds[0], env=env, steps=1)
        if subject.info.deterministic:
            expect(len(first.steps) == len(again.steps) and first.ended == again.ended, "an episode after an end is over at another turn")
    del episode
