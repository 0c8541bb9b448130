"""The driver: lets an agent play episodes, a bounded number at a time.

It runs on the loop of its caller. What an environment raises becomes a faulted episode (`gem.wrappers.Guarded`), what an agent
raises likewise; neither stops the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from gem.core import AsyncEnv, Env
from gem.envs.registration import WrapperLike, make
from gem.errors import RegistrationError
from gem.events import emit
from gem.faults import ErrorInfo
from gem.rollout.agent import Act, Agent, EpisodeContext, as_agent
from gem.seeding import derive, key_seed
from gem.specs import EnvSpec
from gem.trajectory import Trajectory
from gem.wrappers import Guarded

__all__ = ["Plan", "arun", "plan", "run", "stream"]

_log = logging.getLogger("gem.rollout")


@dataclass(frozen=True)
class Plan:
    """One episode to play: which task of which environment, which sample of it, and the seeds."""

    env: str | EnvSpec
    task: str
    sample: int
    env_seed: int
    agent_seed: int

    @property
    def group(self) -> str:
        """Name that the samples of one task share."""
        return f"{self.env.id if isinstance(self.env, EnvSpec) else self.env}/{self.task}"


def plan(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    *,
    tasks: int = 1,
    samples: int = 1,
    seed: int = 0,
    split: str | None = None,
    **kwargs: Any,
) -> list[Plan]:
    """Return the episodes of a run: the first `tasks` tasks of each environment's split, `samples` times each.

    The environment's seed follows from the run's seed and the task's key; a sample changes only the agent's seed.

    Raises:
        RegistrationError: `tasks` or `samples` is below 1.
    """
    if tasks < 1 or samples < 1:
        raise RegistrationError(f"tasks and samples must be 1 or more, not {tasks} and {samples}")
    rows: list[Plan] = []
    for id in [envs] if isinstance(envs, (str, EnvSpec)) else envs:
        with make(id, **kwargs) as env:
            keys = env.tasks(_split_of(env, split)).keys(tasks)
        for key in keys:
            env_seed = key_seed(seed, key)
            rows += [Plan(id, key, k, env_seed, derive(env_seed, k)) for k in range(samples)]
    return rows


def _split_of(env: Env[Any, Any], split: str | None) -> str:
    if split is not None:
        env.check_split(split)
        return split
    return "test" if "test" in env.splits else env.splits[0]


async def stream(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    tasks: int = 1,
    samples: int = 1,
    seed: int = 0,
    split: str | None = None,
    concurrency: int = 16,
    max_turns: int | None = None,
    wrappers: Sequence[WrapperLike] | str = (),
    **kwargs: Any,
) -> AsyncIterator[Trajectory]:
    """Play episodes and yield each as it ends; see `run`."""
    if concurrency < 1:
        raise RegistrationError(f"concurrency must be 1 or more, not {concurrency}")
    player = as_agent(agent)
    build = {"max_turns": max_turns, "wrappers": wrappers, **kwargs}
    waiting = iter(plan(envs, tasks=tasks, samples=samples, seed=seed, split=split, **build))
    done: asyncio.Queue[Trajectory | BaseException | None] = asyncio.Queue(maxsize=concurrency)
    workers = [asyncio.create_task(_worker(waiting, player, build, done)) for _ in range(concurrency)]
    running = len(workers)
    try:
        while running:
            item = await done.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _worker(waiting: Iterator[Plan], agent: Agent, build: dict[str, Any], done: asyncio.Queue[Any]) -> None:
    """Play what waits, one episode after the other, on environments of its own."""
    envs: dict[str, Env[Any, Any]] = {}
    try:
        for row in waiting:
            key = row.env.id if isinstance(row.env, EnvSpec) else row.env
            if key not in envs:
                envs[key] = Guarded(make(row.env, **build))
            await done.put(await _episode(envs[key], agent, row))
    except Exception as error:
        await done.put(error)
    finally:
        for env in envs.values():
            await env.aclose()
        await done.put(None)


def _caller(env: Env[Any, Any]) -> Callable[..., Awaitable[Any]]:
    """Return how methods of `env` are called: on its own side, and in place where they do not block."""
    spec = env.env_spec
    native = isinstance(env.unwrapped, AsyncEnv)
    in_place = not native and spec is not None and spec.info.blocking == "none"

    async def call(name: str, *args: Any) -> Any:
        if in_place or (native and name not in ("reset", "step")):
            return getattr(env, name)(*args)
        if name in ("reset", "step"):
            return await getattr(env, "a" + name)(*args)
        return await env.unwrapped._own_lane().call(getattr(env, name), *args)

    return call


async def _episode(env: Env[Any, Any], agent: Agent, row: Plan) -> Trajectory:
    call = _caller(env)
    started = perf_counter()
    spec = env.env_spec
    episode = Trajectory(
        env_id=env._name,
        env_version=spec.info.version if spec is not None else 1,
        split=row.task.partition("/")[0],
        task=row.task,
        sample=row.sample,
        seed=row.env_seed,
        group=row.group,
        agent=agent.name,
    )
    obs, info = await call("reset", row.env_seed, {"task": row.task})
    if "error" in info:
        episode.error, episode.valid, episode.truncated = info["error"], False, True
    else:
        context = EpisodeContext(episode.env_id, row.task, row.sample, row.agent_seed, row.group, call)
        await _turns(call, agent, context, episode, obs, info)
    episode.timing["episode_s"] = perf_counter() - started
    emit("episode.end", env_id=episode.env_id, task=episode.task, reward=episode.reward, success=episode.success, valid=episode.valid)
    return episode


async def _turns(
    call: Callable[..., Awaitable[Any]], agent: Agent, context: EpisodeContext, episode: Trajectory, obs: Any, info: Any
) -> None:
    try:
        session = agent.start(context)
        while not (episode.terminated or episode.truncated):
            answer = await session.act(obs, info)
            action = answer.text if answer.message is None else answer.message
            seen = obs
            obs, reward, terminated, truncated, info = await call("step", action)
            episode.add_turn(seen, action, reward, terminated, truncated, info, calls=answer.calls())
        episode.final_observation = obs
        await session.end(episode)
    except Exception as error:  # an agent's fault is one episode's, as an environment's is
        _log.warning("%s, task %s: the agent failed: %s: %s", context.env_id, context.task, type(error).__name__, error)
        episode.fail(ErrorInfo.of(error, "agent"))


async def arun(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    on_episode: Callable[[Trajectory], object] | None = None,
    **options: Any,
) -> list[Trajectory]:
    """Play episodes on the caller's loop and return them in the order of the plan; see `run`."""
    episodes = []
    async for episode in stream(envs, agent, **options):
        if on_episode is not None:
            on_episode(episode)
        episodes.append(episode)
    ids = [envs] if isinstance(envs, (str, EnvSpec)) else list(envs)
    order = {(id.id if isinstance(id, EnvSpec) else id): n for n, id in enumerate(ids)}
    return sorted(episodes, key=lambda e: (order.get(e.env_id, 0), _row_order(e.task), e.sample))


def _row_order(key: str | None) -> tuple[int, str]:
    row = (key or "").partition("/")[2]
    return (int(row), "") if row.isdigit() else (0, row)


def run(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    on_episode: Callable[[Trajectory], object] | None = None,
    **options: Any,
) -> list[Trajectory]:
    """Let `agent` play the first tasks of each environment's split, and return the episodes in the order of the plan.

    Args:
        envs: An id or spec, or several.
        agent: An `Agent`, or an async function `act(observation, info)`.
        on_episode: Called with each episode as it ends.
        options: `tasks` and `samples` per environment, `seed`, `split` (by default `test`), `concurrency`, `max_turns`,
            `wrappers`, and keywords of the environments.

    Raises:
        EnvNotFound, RegistrationError, MissingDependency: an environment cannot be made.
    """

    def play() -> list[Trajectory]:
        return asyncio.run(arun(envs, agent, on_episode=on_episode, **options))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return play()
    # Called in a running loop, as in Jupyter: that loop can't wait for itself, another thread can.
    with ThreadPoolExecutor(1, "gem-rollout") as thread:
        return thread.submit(play).result()
