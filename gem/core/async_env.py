"""`AsyncEnv`: an environment written with coroutines."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from gem import aio
from gem.core.env import TWINS, ActT, Env, Info, ObsT, StepResult

__all__ = ["AsyncEnv"]

Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


def _homed(method: Method) -> Method:
    """Let `method` run on the home loop, whichever loop awaits it."""

    @functools.wraps(method)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        body = method(self, *args, **kwargs)
        return await (body if aio.on_home_loop() else aio.hop(body))

    return cast(Method, call)


class AsyncEnv(Env[ObsT, ActT]):
    """An environment written with coroutines: override `areset` and `astep`, and `aclose` if it holds anything.

    Their bodies run on the home loop; `reset`, `step` and `close` wait for them there, from any thread and any loop.
    """

    @classmethod
    def _check_twins(cls) -> None:
        if cls.__module__ == __name__:  # AsyncEnv itself defines both sides
            return
        for sync, twin in TWINS:
            if cls._definer(sync) not in (AsyncEnv, Env):
                raise TypeError(f"{cls.__name__} is an AsyncEnv and defines {sync}: override {twin} alone, {sync} follows it")
            if twin in cls.__dict__:
                setattr(cls, twin, _homed(cls.__dict__[twin]))

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode; see `Env.reset`."""
        return Env.reset(self, seed, options)

    async def astep(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn; see `Env.step`."""
        raise NotImplementedError(f"{type(self).__name__} defines no astep")

    async def aclose(self) -> None:
        """Free what the environment holds; calling it again does nothing."""

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode, waiting for `areset`."""
        return aio.run(self.areset(seed, options))

    def step(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn, waiting for `astep`."""
        return aio.run(self.astep(action))

    def close(self) -> None:
        """Close, waiting for `aclose`."""
        aio.run(self.aclose())
