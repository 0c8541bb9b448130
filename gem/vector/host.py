"""`Host`: the environment of one slot, where it lives, in whatever thread, task or process that is.

It runs commands and turns what an environment raises into a faulted result (`gem.faults`). An environment object that failed is
never used again: the next reset builds another. Every executor has one of these per slot, so that all behave alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from gem.core import AsyncEnv, Env
from gem.errors import ContractError, EnvCrashed
from gem.faults import fault_reset, fault_step
from gem.spaces import Messages
from gem.vector.protocol import Blueprint, Command, Result, tellable

__all__ = ["Host"]


class Host:
    """Runs the commands of one slot, one at a time."""

    def __init__(self, slot: int, blueprint: Blueprint) -> None:
        self._slot = slot
        self._blueprint = blueprint
        self._envs: dict[int, Env[Any, Any]] = {}
        self._env: Env[Any, Any] | None = None
        self._source = 0
        self._last_obs: Any = ""

    def run(self, command: Command) -> Result:
        """Run a command through the environment's sync side.

        Raises:
            KeyboardInterrupt: somebody pressed Ctrl-C; all else that is raised becomes a fault.
        """
        start = perf_counter()
        try:
            if command.op == "reset":
                source, seed, options = command.data
                data: Any = self._begun(self._ready(source).reset(seed=seed, options=options))
            elif command.op == "step":
                data = self._stepped(self._running().step(command.data))
            else:
                name, args, kwargs = command.data
                data = getattr(self._running(), name)(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an environment that calls sys.exit must not end a thread or a worker
            return self.failed(command, error, start)
        return Result(command.ticket, self._slot, command.op, data, perf_counter() - start)

    async def arun(self, command: Command) -> Result:
        """Run a command through the environment's async side.

        Raises:
            CancelledError: this task was cancelled; all else that is raised becomes a fault.
        """
        start = perf_counter()
        try:
            if command.op == "reset":
                source, seed, options = command.data
                data: Any = self._begun(await self._ready(source).areset(seed=seed, options=options))
            elif command.op == "step":
                data = self._stepped(await self._running().astep(command.data))
            else:
                data = await self._called(*command.data)
        except GeneratorExit:
            raise
        except BaseException as error:  # SystemExit in a task would end the home loop
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            result, env = self._result_of(command, error, start)
            if env is not None:
                with contextlib.suppress(Exception, SystemExit):
                    await env.aclose()
            return result
        return Result(command.ticket, self._slot, command.op, data, perf_counter() - start)

    def failed(self, command: Command, error: BaseException, start: float) -> Result:
        """Give the environment up, and return what `error` makes of a command."""
        result, env = self._result_of(command, error, start)
        if env is not None:
            with contextlib.suppress(Exception, SystemExit):
                env.close()
        return result

    def close(self) -> None:
        """Close every environment of the slot; one that fails to close does not keep the others open."""
        envs, self._envs, self._env = list(self._envs.values()), {}, None
        for env in envs:
            with contextlib.suppress(Exception, SystemExit):
                env.close()

    async def aclose(self) -> None:
        """Close every environment of the slot."""
        envs, self._envs, self._env = list(self._envs.values()), {}, None
        for env in envs:
            with contextlib.suppress(Exception, SystemExit):
                await env.aclose()

    def _ready(self, source: int) -> Env[Any, Any]:
        """Return the environment of `source`, built if there is none."""
        self._env, self._source = None, source  # what fails from here on is no fault of the one before
        env = self._envs.get(source)
        if env is None:
            env = self._envs[source] = self._blueprint.build(source)
        self._env = env
        return env

    def _running(self) -> Env[Any, Any]:
        if self._env is None:
            raise EnvCrashed(f"slot {self._slot}: its environment is gone. Reset the slot, which builds it anew")
        return self._env

    def _begun(self, result: Any) -> tuple[Any, dict[str, Any]]:
        if type(result) is not tuple or len(result) != 2:
            raise ContractError(f"slot {self._slot}: reset must return (observation, info), not {result!r:.80}")
        self._last_obs = result[0]
        return result[0], self._info(result[1])

    def _stepped(self, result: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if type(result) is not tuple or len(result) != 5:
            raise ContractError(
                f"slot {self._slot}: step must return (observation, reward, terminated, truncated, info), not {result!r:.80}"
            )
        obs, reward, terminated, truncated, info = result
        if type(reward) is not float or type(terminated) is not bool or type(truncated) is not bool or type(info) is not dict:
            reward, terminated, truncated, info = float(reward), bool(terminated), bool(truncated), self._info(info)
        self._last_obs = obs
        if terminated or truncated:
            # Kept as the episode's last observation while the environment goes on to the next.
            obs, info = obs if isinstance(obs, str) else copy.deepcopy(obs), copy.deepcopy(info)
        return obs, reward, terminated, truncated, info

    async def _called(self, name: str, args: Any, kwargs: Any) -> Any:
        env = self._running()
        method = getattr(env, name)
        if not isinstance(env.unwrapped, AsyncEnv):  # where its steps run, too
            return await env.unwrapped._own_lane().call(lambda: method(*args, **kwargs))
        data = method(*args, **kwargs)
        return await data if hasattr(data, "__await__") else data

    def _info(self, info: Any) -> dict[str, Any]:
        if not isinstance(info, Mapping):
            raise ContractError(f"slot {self._slot}: info must be a dict, not {type(info).__name__} {info!r:.80}")
        return info if type(info) is dict else dict(info)

    def _result_of(self, command: Command, error: BaseException, start: float) -> tuple[Result, Env[Any, Any] | None]:
        """Return what `error` makes of a command, and the environment to be closed."""
        if command.op == "call":
            return Result(command.ticket, self._slot, "call", None, perf_counter() - start, error=error), None
        env = self._envs.pop(self._source, None)
        self._env = None
        told = tellable(error)
        if command.op == "reset":
            empty: Any = "" if env is None or not isinstance(env.observation_space, Messages) else []
            data: Any = fault_reset(empty, told)
        else:
            data = fault_step(self._last_obs, told)
        return Result(command.ticket, self._slot, command.op, data, perf_counter() - start, broken=True), env


def _is_cancelled() -> bool:
    """Say whether the running task was cancelled, and did not just await something that was."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)  # Python 3.11
    return cancelling is None or cancelling() > 0
