"""Clauses on tasks: keys, options, hashes and splits."""

from __future__ import annotations

from typing import Any

from gem.errors import ContractError
from gem.tasks import split_key
from gem.testing.clauses.base import Breach, Subject, clause, expect
from gem.testing.clauses.seeds import CHANCE

__all__: list[str] = []

_TASKS = 12


@clause(*CHANCE)
def task_key_is_given(subject: Subject) -> None:
    """A reset's `info["task"]` is the key `<split>/<row>`."""
    with subject.make() as env:
        _, info = env.reset(seed=0)
    key = info.get("task")
    try:
        split_key(key)  # type: ignore[arg-type]  # what is not a string is refused there
    except ContractError as why:
        raise Breach(f'info["task"]: {why}') from None


@clause(*CHANCE, "task_key_is_given")
def task_key_is_stable(subject: Subject) -> None:
    """The same seed gives the same key, in any environment."""
    for seed in subject.seeds:
        keys = {subject.make().reset(seed=seed)[1]["task"] for _ in range(2)}
        expect(len(keys) == 1, f"seed {seed} gave the keys {sorted(keys)}")


@clause(*CHANCE, "task_key_is_given", "task_key_is_stable")
def task_option_plays_that_task(subject: Subject) -> None:
    """`reset(options={"task": key})` plays the task of that key, whatever the seed and split."""
    for seed in subject.seeds:
        with subject.make() as env:
            prompt, info = env.reset(seed=seed)
        for other in (None, 12345):
            with subject.make() as env:
                again, told = env.reset(seed=other, options={"task": info["task"]})
            expect(told.get("task") == info["task"], f"asked for task {info['task']}, info says {told.get('task')!r}")
            expect(again == prompt, f"task {info['task']} was played with another prompt: {prompt!r:.80} and {again!r:.80}")


@clause(*CHANCE, "task_key_is_given")
def unknown_task_is_refused(subject: Subject) -> None:
    """A task key that cannot be is a `ContractError`, not another task."""
    for key in ("nonsense", "train/", "nosuchsplit/0"):
        with subject.make() as env:
            try:
                env.reset(options={"task": key})
            except ContractError:
                continue
            except Exception as why:
                raise Breach(f"the task {key!r} raised {type(why).__name__} instead of ContractError: {why!s:.100}") from why
        raise Breach(f"the task {key!r} was accepted")


@clause(*CHANCE, "task_key_is_given", "task_option_plays_that_task")
def task_hashes_are_stable(subject: Subject) -> None:
    """A task's content hash is the same each time."""
    hashes: list[list[str]] = []
    for _ in range(2):
        with subject.make() as env:
            hashes.append([task.hash for task in env.tasks(_some_split(env)).first(3)])
    expect(hashes[0] == hashes[1], "the first three tasks hash to other values the second time")


@clause(*CHANCE, "task_key_is_given", "task_option_plays_that_task", "task_hashes_are_stable")
def splits_do_not_overlap(subject: Subject) -> None:
    """Where `EnvInfo.split` is `content`, train and test share no task."""
    with subject.make() as env:
        if subject.info.split != "content" or len(env.splits) < 2:
            return
        seen: dict[str, str] = {}
        for split in env.splits:
            for task in env.tasks(split).first(_TASKS):
                other = seen.setdefault(task.hash, task.key)
                expect(split_key(other)[0] == split, f"tasks {other} and {task.key} are the same")


def _some_split(env: Any) -> str:
    return env.split if env.split in env.splits else str(env.splits[0])
