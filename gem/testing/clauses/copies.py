"""Clauses on copies: snapshots, twins, pickles, what callers keep, and the async side."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

from gem import aio
from gem.core import Env
from gem.errors import ContractError, SnapshotUnsupported
from gem.testing.clauses.base import Breach, Episode, Policy, Subject, clause, expect, expect_same, kept, random_policy
from gem.testing.clauses.seeds import CHANCE
from gem.testing.clauses.shape import PLAYABLE

__all__: list[str] = []

_MARK = "a caller's own"


@clause(*CHANCE, "info_is_json", "info_is_fresh", "observation_is_not_aliased")
def results_are_the_callers(subject: Subject) -> None:
    """A caller may change the lists and dicts that it got: later calls neither see it nor show it."""
    if not subject.info.deterministic:
        return
    plain = subject.play(0)
    marked: list[Any] = []
    with subject.make() as env:
        try:
            result: Any = env.reset(seed=0)
            episode = Episode(*kept(result))
            for action in plain.actions:
                _mark(result, marked)
                result = env.step(action)
                episode.steps.append(kept(result))
        finally:
            for part in marked:  # it may be a constant of the class
                part.remove(_MARK) if isinstance(part, list) else part.pop(_MARK, None)
    expect_same(plain, episode, "a caller changed what it got, and later calls showed it")


def _mark(value: Any, marked: list[Any]) -> None:
    """Leave a mark in every list and dict of `value`."""
    for part in list(value.values() if isinstance(value, dict) else value):
        if isinstance(part, (list, tuple, dict)):
            _mark(part, marked)
    if isinstance(value, tuple) or _MARK in value:
        return
    marked.append(value)
    if isinstance(value, list):
        value.append(_MARK)
    else:
        value[_MARK] = True


def _midway(subject: Subject, seed: int, policy: Policy = random_policy) -> tuple[Env[Any, Any], list[Any]]:
    """Return an environment halfway through an episode, and the actions that are left."""
    actions = subject.play(seed, policy).actions
    env = subject.make()
    env.reset(seed=seed)
    half = len(actions) // 2
    for action in actions[:half]:
        env.step(action)
    return env, actions[half:]


def _go_on(subject: Subject, env: Env[Any, Any], actions: list[Any]) -> Episode:
    """Play on to the end; where snapshots are exact, the actions that would be sampled are part of what is seen."""
    episode = Episode("", {})
    for action in actions:
        sampled = env.sample_random_action() if subject.info.snapshot == "exact" else None
        obs, *rest = kept(env.step(action))
        episode.steps.append(((obs, sampled), *rest))
        if episode.ended:
            break
    return episode


@clause("random_action_is_repeatable", "instances_do_not_share")
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
        one, two = _go_on(subject, env, left), _go_on(subject, twin, left)
        if subject.info.deterministic:
            expect_same(one, two, f"after {name} the episode went on differently")


@clause("pickle_goes_on")
def snapshot_goes_on(subject: Subject) -> None:
    """Where `EnvInfo.snapshot` declares snapshots, a restored episode goes on as the first would (`exact`: sampled actions included)."""
    if subject.info.snapshot == "none":
        return
    for seed, policy in [*((seed, random_policy) for seed in subject.seeds), *((0, policy) for policy in subject.players[1:])]:
        env, left = _midway(subject, seed, policy)
        try:
            state = pickle.loads(pickle.dumps(env.get_state()))
        except Exception as why:
            raise Breach(f"get_state raised, or returned what pickle can't hold: {type(why).__name__}: {why!s:.100}") from why
        twin = subject.make()
        twin.set_state(state)
        went_on, restored = _go_on(subject, env, left), _go_on(subject, twin, left)
        if subject.info.deterministic:
            undisturbed = _go_on(subject, _midway(subject, seed, policy)[0], left)
            expect_same(undisturbed, restored, f"after set_state seed {seed} went on differently")
            expect_same(undisturbed, went_on, f"after get_state seed {seed} went on differently")


@clause("snapshot_goes_on")
def snapshot_is_a_copy(subject: Subject) -> None:
    """A snapshot does not change when its environment is played on, nor when one that was restored from it is."""
    if subject.info.snapshot == "none" or not subject.info.deterministic:
        return
    env, left = _midway(subject, 0)
    state = env.get_state()
    expected = _go_on(subject, env, left)
    for whose in ("its environment", "one restored from it"):
        twin = subject.make()
        twin.set_state(state)
        expect_same(expected, _go_on(subject, twin, left), f"a snapshot changed when {whose} was played on")


@clause("snapshot_goes_on")
def foreign_snapshot_is_refused(subject: Subject) -> None:
    """`set_state` refuses what is not a snapshot of such an environment, with a `ContractError`."""
    if subject.info.snapshot == "none":
        return
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
    env = subject.make()
    expected = subject.play(0, env=env)
    twin = env.spawn()
    expect(twin is not env, "spawn returned the environment itself")
    if subject.info.deterministic:
        expect_same(expected, subject.replay(0, expected.actions, env=twin), "a spawned environment plays differently")


@clause("snapshot_goes_on", "spawn_gives_an_equal_twin", "unseeded_resets_follow_the_stream")
def spawn_heeds_its_keywords(subject: Subject) -> None:
    """`spawn(seed=...)` seeds the twin's resets; `spawn(same_state=True)` goes on with the episode, where there are snapshots."""
    if not subject.info.deterministic:
        return
    env, left = _midway(subject, 0)
    one, two = env.spawn(seed=5), env.spawn(seed=5)
    expect(one.reset()[0] == two.reset()[0], "two environments spawned with seed=5 begin with other episodes")
    if subject.info.snapshot != "none":
        twin = env.spawn(same_state=True)
        expect_same(_go_on(subject, env, left), _go_on(subject, twin, left), "spawn(same_state=True) went on differently")


@clause(*CHANCE)
def async_side_is_the_same(subject: Subject) -> None:
    """`areset` and `astep` play the same episode as `reset` and `step`."""
    if not subject.info.deterministic:
        return

    async def play(actions: list[Any], **reset: Any) -> Episode:
        env = subject.make()
        try:
            episode = Episode(*kept(await env.areset(**reset)))
            for action in actions:
                episode.steps.append(kept(await env.astep(action)))
            return episode
        finally:
            await env.aclose()

    for policy in subject.players:
        plain = subject.replay(0, subject.play(0, policy).actions)
        expect_same(plain, aio.run(play(plain.actions, seed=0)), "the async side plays differently")
    task = subject.play(1, steps=0).first_info.get("task")
    if isinstance(task, str):
        asked = subject.play(0, options={"task": task})
        found = aio.run(play(asked.actions, seed=0, options={"task": task}))
        expect_same(asked, found, "the async side plays another task when one is asked for")
