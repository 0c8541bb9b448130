"""`make_vec`: builds a `VectorEnv` from ids, and chooses where it runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Literal, TypeAlias

from gem.core import AsyncEnv
from gem.envs.registration import spec
from gem.errors import RegistrationError
from gem.seeding import fresh_seed
from gem.specs import EnvSpec, load_entry_point
from gem.vector.engine import Autoreset, Engine
from gem.vector.env import VectorEnv
from gem.vector.feed import Feed, shares_seed
from gem.vector.limits import Limits
from gem.vector.mixture import Mixture, Shares
from gem.vector.protocol import Blueprint, Executor

__all__ = ["Backend", "make_vec"]

Backend: TypeAlias = Literal["auto", "sync", "thread", "async", "process"]
Id: TypeAlias = "str | EnvSpec | Mixture"

EXECUTORS = {
    "sync": "gem.vector.executors.sync:SyncExecutor",
    "thread": "gem.vector.executors.thread:ThreadExecutor",
    "async": "gem.vector.executors.aio:AsyncExecutor",
    "process": "gem.vector.executors.process:ProcessExecutor",
}


def make_vec(
    ids: Id | Sequence[Id] | None = None,
    num_envs: int | None = None,
    *,
    backend: Backend = "auto",
    num_workers: int | None = None,
    batch_size: int | None = None,
    autoreset: Autoreset = "same_step",
    tasks: Iterable[Mapping[str, Any]] | None = None,
    seed: int | None = None,
    wrappers: Sequence[Any] | str = (),
    env_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    step_timeout: float | None = None,
    reset_timeout: float | None = None,
    max_concurrent_resets: int = 64,
    max_restarts: int = 3,
    on_error: Literal["truncate", "raise"] = "truncate",
    env_ids: Id | Sequence[Id] | None = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool | None = None,
    **kwargs: Any,
) -> VectorEnv[Any, Any]:
    """Build `num_envs` environments that are played at once.

    Args:
        ids: An id, spec or `Mixture` for all slots, or one per slot.
        num_envs: By default one, or one per id.
        backend: `sync`, `thread`, `async`, `process`, or `auto`: `async` for an `AsyncEnv`, `thread` where steps wait for
            something, `process` where they compute and there are cores for it, else `sync`.
        num_workers: Processes of `process`; by default one per core.
        batch_size: How many rows `recv` waits for by default; None: `num_envs`.
        autoreset: `same_step`, `next_step` or `disabled`.
        tasks: Reset options, such as `{"task": key}`, dealt out in this order as slots become free.
        seed: Of all episodes: the k-th of slot i has the seed `derive(seed, i, k)`.
        wrappers, env_kwargs, kwargs: As of `make`; `env_kwargs` may be one per slot.
        step_timeout, reset_timeout: Seconds; a late environment is given up and its episode truncated. With `process`, its
            worker is, and so are the episodes of the worker's other environments. `sync` can't interrupt anything.
        max_concurrent_resets: At most so many resets at a time.
        max_restarts: A slot that fails more often in a row is given up.
        on_error: `raise` raises the first fault, for debugging.
        env_ids, vec_kwargs, async_mode: gem-llm's names: ids, one set of keywords per id, and True for `thread`.

    Raises:
        EnvNotFound, RegistrationError: an environment can't be made of these.
    """
    wanted = _ids(ids if ids is not None else env_ids, num_envs)
    if async_mode is not None:
        backend = "thread" if async_mode else "sync"
    per_slot = vec_kwargs if vec_kwargs is not None else env_kwargs
    blueprints = [_blueprint(id, own, kwargs, wrappers) for id, own in zip(wanted, _per_slot(per_slot, len(wanted)), strict=True)]
    if backend == "auto":
        backend = _choose(blueprints, timed=step_timeout is not None or reset_timeout is not None)
    if backend not in EXECUTORS:
        raise RegistrationError(f"no backend {backend!r:.80}; there are auto, {', '.join(EXECUTORS)}")
    if autoreset not in ("same_step", "next_step", "disabled"):
        raise RegistrationError(f"autoreset must be 'same_step', 'next_step' or 'disabled', not {autoreset!r:.80}")
    limits = Limits(step_timeout, reset_timeout, max_concurrent_resets, max_restarts)
    if batch_size is not None and batch_size < 1:
        raise RegistrationError(f"batch_size must be 1 or more, not {batch_size}")
    if isinstance(tasks, (str, Mapping)):
        raise RegistrationError(f"tasks must be an iterable of reset options, such as [{{'task': key}}], not {tasks!r:.80}")
    root = fresh_seed() if seed is None else _checked_seed(seed)
    shares = [_shares(id, shares_seed(root, slot)) for slot, id in enumerate(wanted)]
    feed = Feed(len(wanted), root, shares, tasks)
    executor: Executor = load_entry_point(EXECUTORS[backend])(**({"num_workers": num_workers} if backend == "process" else {}))
    executor.start(blueprints)
    names = [tuple(source.id for source in blueprint.sources) for blueprint in blueprints]
    engine = Engine(executor, feed, names, autoreset, limits)
    specs = [blueprint.sources[0] if len(blueprint.sources) == 1 else None for blueprint in blueprints]
    return VectorEnv(engine, backend=backend, specs=specs, batch_size=batch_size or len(wanted), raise_errors=on_error == "raise")


def _ids(ids: Id | Sequence[Id] | None, num_envs: int | None) -> list[Id]:
    if ids is None:
        raise RegistrationError("make_vec needs an id, such as gem.make_vec('game:Sudoku-v0-easy', 64)")
    if isinstance(ids, (str, EnvSpec, Mixture)):
        count = 1 if num_envs is None else num_envs
        if count < 1:
            raise RegistrationError(f"num_envs must be 1 or more, not {count}")
        return [ids] * count
    found = list(ids)
    if not found or (num_envs is not None and num_envs != len(found)):
        raise RegistrationError(f"{len(found)} ids for {num_envs} environments: give one id for all, or one each")
    return found


def _per_slot(given: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None, n: int) -> list[Mapping[str, Any]]:
    if given is None:
        return [{}] * n
    if isinstance(given, Mapping):
        return [given] * n
    if len(given) != n:
        raise RegistrationError(f"{len(given)} sets of keywords for {n} environments: give one for all, or one each")
    return list(given)


def _blueprint(id: Id, own: Mapping[str, Any], shared: Mapping[str, Any], wrappers: Sequence[Any] | str) -> Blueprint:
    sources = tuple(map(spec, id.weights)) if isinstance(id, Mixture) else (spec(id),)
    return Blueprint(sources, tuple({**shared, **own} for _ in sources), wrappers)


def _checked_seed(seed: Any) -> int:
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise RegistrationError(f"seed must be an integer of 0 or more, not {seed!r:.80}")
    return number


def _shares(id: Id, seed: int) -> Shares:
    if isinstance(id, Mixture):
        return Shares([float(weight) for weight in id.weights.values()], id.by, seed)
    return Shares([1.0], "episodes", seed)


def _choose(blueprints: Sequence[Blueprint], timed: bool) -> Literal["sync", "thread", "async", "process"]:
    """Return the backend that the environments' declarations ask for; not `sync` where a deadline has to interrupt them."""
    rows = {source.id: source for blueprint in blueprints for source in blueprint.sources}.values()
    targets = [load_entry_point(row.entry_point, owner=row.id) for row in rows]
    if any(isinstance(target, type) and issubclass(target, AsyncEnv) for target in targets):
        return "async"
    blocking = {row.info.blocking for row in rows}
    if len(blueprints) == 1 or blocking == {"none"}:
        return "thread" if timed else "sync"
    if "io" in blocking:
        return "thread"
    return "process" if timed or (os.cpu_count() or 1) > 1 else "sync"
