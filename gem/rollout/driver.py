"""The driver: lets an agent play episodes, a bounded number at a time.

It runs on the loop of its caller. What an environment raises becomes a faulted episode (`gem.wrappers.Guarded`), what an agent
raises likewise; neither stops the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from gem import aio
from gem.core import AsyncEnv, Env
from gem.envs.registration import WrapperLike, make
from gem.envs.registration import spec as spec_of
from gem.errors import ContractError, RegistrationError
from gem.events import emit
from gem.faults import ErrorInfo, Phase
from gem.rollout.agent import Act, Agent, AgentAction, EpisodeContext, Session, as_agent
from gem.seeding import derive, key_seed
from gem.specs import EnvSpec
from gem.trajectory import Trajectory
from gem.wrappers import Guarded

__all__ = ["Plan", "arun", "plan", "run", "stream"]

_log = logging.getLogger("gem.rollout")
_CLOSE_S = 5.0
# Between an agent and an environment that never wait, so that Ctrl-C, the other episodes and the reader of a stream get their turn.
_PAUSE_S = 0.02


@dataclass(frozen=True)
class Plan:
    """One episode to play: which task of which environment, which sample of it, and the seeds."""

    env: EnvSpec
    task: str
    sample: int
    env_seed: int
    agent_seed: int

    @property
    def group(self) -> str:
        """Name that the samples of one task share."""
        return f"{self.env.id}/{self.task}"


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
        ContractError: there is no such split.
        RegistrationError: `tasks` or `samples` is below 1, or `seed` is not an integer of 0 or more.
    """
    return list(_rows(_keys(envs, tasks, samples, seed, split, kwargs), samples, seed))


def _keys(
    envs: str | EnvSpec | Sequence[str | EnvSpec], tasks: int, samples: int, seed: int, split: str | None, build: dict[str, Any]
) -> list[tuple[EnvSpec, list[str]]]:
    if not hasattr(seed, "__index__") or seed < 0:
        raise RegistrationError(f"seed must be an integer of 0 or more, not {seed!r:.80}")
    for name, number in (("tasks", tasks), ("samples", samples)):
        if not hasattr(number, "__index__") or number < 1:
            raise RegistrationError(f"{name} must be an integer of 1 or more, not {number!r:.80}")
    if isinstance(envs, Env):
        raise RegistrationError(f"run takes ids or specs and makes the environments itself; pass {envs._name!r} instead of the environment")
    found = []
    for id in [envs] if isinstance(envs, (str, EnvSpec)) else envs:
        spec = spec_of(id)
        with make(spec, **build) as env:
            found.append((spec, env.tasks(_split_of(env, split)).keys(tasks)))
    return found


def _rows(keys: Sequence[tuple[EnvSpec, list[str]]], samples: int, seed: int) -> Iterator[Plan]:
    for spec, own in keys:
        for key in own:
            env_seed = key_seed(seed, key)
            for k in range(samples):
                yield Plan(spec, key, k, env_seed, derive(env_seed, k))


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
) -> AsyncGenerator[Trajectory, None]:
    """Play episodes and yield each as it ends; see `run`."""
    plays = {"tasks": tasks, "samples": samples, "seed": seed, "concurrency": concurrency}
    build = {"max_turns": max_turns, "wrappers": wrappers, **kwargs}
    async with contextlib.aclosing(_numbered(envs, agent, split=split, **plays, **build)) as episodes:
        async for _, episode in episodes:
            yield episode


async def _numbered(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    tasks: int = 1,
    samples: int = 1,
    seed: int = 0,
    split: str | None = None,
    concurrency: int = 16,
    **build: Any,
) -> AsyncGenerator[tuple[int, Trajectory], None]:
    """Play episodes and yield each as it ends, with its place in the plan."""
    if not hasattr(concurrency, "__index__") or concurrency < 1:
        raise RegistrationError(f"concurrency must be 1 or more, not {concurrency}")
    player = as_agent(agent)
    keys = _keys(envs, tasks, samples, seed, split, build)
    waiting = enumerate(_rows(keys, samples, seed))
    workers_needed = min(concurrency, sum(len(own) for _, own in keys) * samples)
    # Bounded: who reads slowly must not find all episodes played, and kept in memory.
    done: asyncio.Queue[tuple[int, Trajectory] | BaseException | None] = asyncio.Queue(maxsize=concurrency)
    workers = [asyncio.create_task(_worker(waiting, player, build, done)) for _ in range(workers_needed)]
    ending = asyncio.create_task(_tell_end(workers, done))
    try:
        while (item := await done.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        for task in (ending, *workers):
            task.cancel()
        await asyncio.gather(ending, *workers, return_exceptions=True)


async def _tell_end(workers: Sequence[asyncio.Task[None]], done: asyncio.Queue[Any]) -> None:
    ends = await asyncio.gather(*workers, return_exceptions=True)
    await done.put(next((end for end in ends if end is not None), None))


async def _worker(waiting: Iterator[tuple[int, Plan]], agent: Agent, build: dict[str, Any], done: asyncio.Queue[Any]) -> None:
    """Play what waits, one episode after the other, on an environment of its own."""
    env, made_of = None, None
    try:
        for place, row in waiting:
            if env is not None and made_of != row.env:
                old, env = env, None
                await _close(old)
            try:
                env, made_of = env or Guarded(make(row.env, **build)), row.env
            except Exception as error:
                _log.warning("%s cannot be made: %s: %s", row.env.id, type(error).__name__, error)
                episode = _ended(_begun(row, agent), error, "reset")
            else:
                episode = await _episode(env, agent, row)
            await done.put((place, episode))
            await asyncio.sleep(0)
    finally:
        if env is not None:
            await _close(env)


async def _close(env: Env[Any, Any]) -> None:
    """Close an environment; one that fails or hangs is left behind, with a warning."""
    try:
        if _in_place(env):  # on the thread on which it was made and played
            env.close()
        else:
            await asyncio.wait_for(env.aclose(), _CLOSE_S)
    except Exception as error:
        _log.warning("%s did not close: %s: %s", env._name, type(error).__name__, error)


def _in_place(env: Env[Any, Any]) -> bool:
    """Say whether calls of `env` may run on the driver's loop, since they do not block."""
    return not isinstance(env.unwrapped, AsyncEnv) and env.env_spec is not None and env.env_spec.info.blocking == "none"


def _caller(env: Env[Any, Any]) -> Callable[..., Awaitable[Any]]:
    """Return how methods of `env` are called: on its own side, and in place where they do not block."""
    native, in_place = isinstance(env.unwrapped, AsyncEnv), _in_place(env)

    async def call(name: str, *args: Any) -> Any:
        if in_place or (native and name not in ("reset", "step")):
            return getattr(env, name)(*args)
        if name in ("reset", "step"):
            return await getattr(env, "a" + name)(*args)
        return await env.unwrapped._own_lane().call(getattr(env, name), *args)

    return call


def _begun(row: Plan, agent: Agent) -> Trajectory:
    return Trajectory(
        env_id=row.env.id,
        env_version=row.env.info.version,
        split=row.task.partition("/")[0],
        task=row.task,
        sample=row.sample,
        seed=row.env_seed,
        group=row.group,
        agent=agent.name,
    )


def _ended(episode: Trajectory, error: BaseException | None = None, phase: Phase = "agent") -> Trajectory:
    if error is not None:
        episode.fail(ErrorInfo.of(error, phase))
    emit("episode.end", env_id=episode.env_id, task=episode.task, reward=episode.reward, success=episode.success, valid=episode.valid)
    return episode


async def _episode(env: Env[Any, Any], agent: Agent, row: Plan) -> Trajectory:
    call = _caller(env)
    started = perf_counter()
    episode, failure = _begun(row, agent), None
    obs, info = await call("reset", row.env_seed, {"task": row.task})
    if "error" in info:
        episode.error, episode.valid, episode.truncated = info["error"], False, True
    else:
        context = EpisodeContext(episode.env_id, row.task, row.sample, row.agent_seed, row.group, call)
        failure = await _turns(call, agent, context, episode, obs, info)
    episode.timing["episode_s"] = perf_counter() - started
    return _ended(episode, failure)


async def _turns(
    call: Callable[..., Awaitable[Any]], agent: Agent, context: EpisodeContext, episode: Trajectory, obs: Any, info: Any
) -> BaseException | None:
    """Play to the end; return what the agent raised."""
    session: Session | None = None
    try:
        session = agent.start(context)
        await _play(call, agent, session, episode, obs, info)
    except (Exception, asyncio.CancelledError) as error:  # an agent's fault is one episode's, as an environment's is
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        _log.warning("%s, task %s: the agent failed: %s: %s", context.env_id, context.task, type(error).__name__, error)
        return await _say_goodbye(session, episode, error)
    return await _say_goodbye(session, episode, None)


async def _play(call: Callable[..., Awaitable[Any]], agent: Agent, session: Session, episode: Trajectory, obs: Any, info: Any) -> None:
    paused = perf_counter()
    while not (episode.terminated or episode.truncated):
        seen = obs if isinstance(obs, str) else deepcopy(obs)  # an agent or environment may go on to change it
        answer = _checked(await session.act(obs, info), agent)
        action = answer.text if answer.message is None else answer.message
        obs, reward, terminated, truncated, info = await call("step", action)
        episode.add_turn(seen, action, reward, terminated, truncated, info, calls=answer.calls())
        if perf_counter() - paused > _PAUSE_S:
            await asyncio.sleep(0)
            paused = perf_counter()
    episode.final_observation = obs


async def _say_goodbye(session: Session | None, episode: Trajectory, failure: BaseException | None) -> BaseException | None:
    """Let the session hear how it went, also where it failed: it may hold something. Returns the first failure."""
    if failure is not None:
        episode.fail(ErrorInfo.of(failure, "agent"))
    if session is None:
        return failure
    try:
        await session.end(episode)
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        _log.warning("%s, task %s: the agent failed at the end: %s: %s", episode.env_id, episode.task, type(error).__name__, error)
        return failure or error
    return failure


def _checked(answer: object, agent: Agent) -> AgentAction:
    if not isinstance(answer, AgentAction):
        raise ContractError(f"agent {agent.name}: act must return an AgentAction, or text where it is a function, not {answer!r:.80}")
    if answer.message is None and not isinstance(answer.text, str):
        raise ContractError(f"agent {agent.name}: an AgentAction without a message needs a text, not {answer.text!r:.80}")
    return answer


def _is_cancelled() -> bool:
    """Say whether this task was asked to end, and not only something that its agent awaited."""
    task: Any = asyncio.current_task()
    return not hasattr(task, "cancelling") or task.cancelling() > 0  # Python 3.10 can't tell them apart


async def arun(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    on_episode: Callable[[Trajectory], object] | None = None,
    **options: Any,
) -> list[Trajectory]:
    """Play episodes on the caller's loop and return them in the order of the plan; see `run`."""
    found = []
    async with contextlib.aclosing(_numbered(envs, agent, **options)) as episodes:
        async for place, episode in episodes:
            if on_episode is not None:
                on_episode(episode)
            found.append((place, episode))
    return [episode for _, episode in sorted(found, key=lambda pair: pair[0])]


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
        ContractError: there is no such split.
        EnvNotFound, RegistrationError, MissingDependency: an environment cannot be made.
    """

    def play() -> Coroutine[Any, Any, list[Trajectory]]:
        return arun(envs, agent, on_episode=on_episode, **options)

    if aio.on_home_loop():
        raise ContractError("run on gem's home loop would keep its environments from running: await arun instead")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(play())
    return _run_beside(play)


def _run_beside(play: Callable[[], Coroutine[Any, Any, list[Trajectory]]]) -> list[Trajectory]:
    """Run on a loop of another thread: the caller's is running, as in Jupyter, and can't wait for itself."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
    result: Future[list[Trajectory]] = Future()

    async def main() -> list[Trajectory]:
        task: Any = asyncio.current_task()
        begun.set_result((task.get_loop(), task))
        return await play()

    def body() -> None:
        try:
            result.set_result(asyncio.run(main()))
        except BaseException as error:
            result.set_exception(error)

    thread = threading.Thread(target=body, name="gem-rollout", daemon=True)
    thread.start()
    try:
        return result.result()
    except BaseException:
        if not result.done():  # Ctrl-C here must end the run there
            loop, task = begun.result()
            with contextlib.suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
            thread.join(2 * _CLOSE_S)
        raise
