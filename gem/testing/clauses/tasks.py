"""Clauses on tasks: keys, options, hashes and splits."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from gem.core import Env
from gem.errors import ContractError
from gem.tasks import split_key
from gem.testing.clauses.base import Breach, Subject, clause, expect, kept
from gem.testing.clauses.seeds import CHANCE, same_when_asked

__all__ = ["HASHED"]

HASHED = ("task_hashes_are_stable",)
_TASKS = 12


@clause(*CHANCE)
def task_key_is_given(subject: Subject) -> None:
    """A reset's `info["task"]` is the key `<split>/<row>`, of the split that is drawn from, and so is `task_key`."""
    with subject.make() as env:
        _, info = env.reset(seed=0)
        key: Any = info.get("task")
        try:
            split, _ = split_key(key)
        except ContractError as why:
            raise Breach(f'info["task"]: {why}') from None
        expect(split == env.split, f"info['task'] is {key!r}, of another split than {env.split!r}")
        expect(env.unwrapped.task_key == key, f"info['task'] is {key!r}, but env.task_key is {env.unwrapped.task_key!r}")


@clause("task_key_is_given")
def task_key_is_stable(subject: Subject) -> None:
    """The same seed gives the same key, in any environment and after any episode."""
    for seed in subject.seeds:
        keys = {subject.make().reset(seed=seed)[1]["task"]}
        with subject.make() as env:
            for other in (seed, seed + 1, seed):
                key = env.reset(seed=other)[1].get("task")
                keys |= {key} if other == seed else set()
        expect(len(keys) == 1, f"seed {seed} gave the keys {sorted(map(str, keys))}")


@clause("task_key_is_stable")
def task_option_plays_that_task(subject: Subject) -> None:
    """`reset(options={"task": key})` plays the task of that key, whatever the seed and split; `{"index": i}` the i-th of the split."""
    for seed in subject.seeds if subject.info.deterministic else ():
        with subject.make() as env:
            prompt, info = kept(env.reset(seed=seed))
            gold = env.gold()
        for other in (None, 12345):
            with subject.make() as env:
                again, told = kept(env.reset(seed=other, options={"task": info["task"]}))
                expect(told.get("task") == info["task"], f"asked for task {info['task']}, info says {told.get('task')!r}")
                expect(again == prompt, f"task {info['task']} was played with another prompt: {prompt!r:.80} and {again!r:.80}")
                expect(env.gold() == gold, f"task {info['task']} was played with another gold: {gold!r:.80} and {env.gold()!r:.80}")
    for split in _splits(subject):
        with subject.make() as env:
            keys = env.tasks(split).keys(3)
            asked: list[tuple[str, dict[str, Any]]] = [(key, {"task": key}) for key in keys]
            if split == env.split:
                asked += [(key, {"index": i}) for i, key in enumerate(keys)]
            for key, options in asked:
                told = env.reset(options=options)[1]
                expect(told.get("task") == key, f"reset(options={options}) played {told.get('task')!r} instead of {key!r}")


@clause("task_key_is_stable")
def options_are_left_alone(subject: Subject) -> None:
    """`reset` does not change the options that it is given."""
    with subject.make() as env:
        key = env.reset(seed=0)[1]["task"]
        asked: tuple[dict[str, Any], ...] = ({"task": key}, {"index": 0})
        for options in asked:
            before = copy.deepcopy(options)
            env.reset(options=options)
            expect(options == before, f"reset changed its options from {before} to {options}")


@clause("task_option_plays_that_task")
def unknown_task_is_refused(subject: Subject) -> None:
    """A task key or a split that cannot be is a `ContractError`, not another task."""
    with subject.make() as env:
        split = env.split
    for key in ("nonsense", "train/", "nosuchsplit/0", f"{split}/no such row"):
        _expect_refusal(subject, f"the task {key!r}", partial(_play_task, key))
    _expect_refusal(subject, "tasks('nosuchsplit')", lambda env: env.tasks("nosuchsplit").first(1)[0].content)


def _play_task(key: str, env: Env[Any, Any]) -> None:
    env.reset(options={"task": key})


def _expect_refusal(subject: Subject, what: str, call: Callable[[Env[Any, Any]], object]) -> None:
    with subject.make() as env:
        try:
            call(env)
        except ContractError:
            return
        except Exception as why:
            raise Breach(f"{what} raised {type(why).__name__} instead of ContractError: {why!s:.100}") from why
    raise Breach(f"{what} was accepted")


@clause("task_option_plays_that_task")
def task_hashes_are_stable(subject: Subject) -> None:
    """A task's content is JSON, and its hash the same each time."""
    hashes: list[list[str]] = []
    for _ in range(2):
        with subject.make() as env:
            hashes.append([task.hash for task in env.tasks(_splits(subject)[0]).first(3)])
    expect(hashes[0] == hashes[1], "the first three tasks hash to other values the second time")


@clause(*HASHED, "instances_do_not_share", "spawn_gives_an_equal_twin")
def looking_changes_nothing(subject: Subject) -> None:
    """`gold`, `render` and the contents of tasks can be looked at during an episode."""
    split = _splits(subject)[0]
    same_when_asked(subject, "gold", lambda env: env.gold())
    same_when_asked(subject, "render", lambda env: env.render())
    same_when_asked(subject, "tasks", lambda env: env.tasks(split)[0].content, turns=2)


@clause(*HASHED)
def splits_do_not_overlap(subject: Subject) -> None:
    """Where `EnvInfo.split` is `content`, train and test share no task."""
    if subject.info.split != "content":
        return
    with subject.make() as env:
        seen: dict[str, str] = {}
        for split in _splits(subject):
            for task in env.tasks(split).first(_TASKS):
                other = seen.setdefault(task.hash, task.key)
                expect(split_key(other)[0] == split, f"tasks {other} and {task.key} are the same")


def _splits(subject: Subject) -> list[str]:
    """The splits of the environment, that of its resets first."""
    with subject.make() as env:
        return sorted(env.splits, key=lambda split: split != env.split)
