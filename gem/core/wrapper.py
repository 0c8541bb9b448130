"""`Wrapper`: changes an environment, with one body for the sync and the async path."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, Protocol, TypeVar, cast

from typing_extensions import Self
from typing_extensions import TypeVar as TypeVarWithDefault

from gem import aio
from gem.core.env import TWINS, ActT, Env, Info, ObsT, StepResult
from gem.errors import ContractError
from gem.tasks import TaskSet

__all__ = ["Flow", "Wrapper"]

InObsT = TypeVarWithDefault("InObsT", default=str)
InActT = TypeVarWithDefault("InActT", default=str)
T = TypeVar("T")


class Flow(Protocol):
    """What a `flow` body may await; the same body then serves both paths."""

    async def step(self, action: Any) -> StepResult[Any]:
        """Step the wrapped environment."""

    async def run(self, coro: Coroutine[Any, Any, T]) -> T:
        """Await anything else, on the home loop."""
        raise NotImplementedError  # a protocol: the two below are what bodies get


class _SyncFlow:
    def __init__(self, env: Env[Any, Any]) -> None:
        self._env = env

    async def step(self, action: Any) -> StepResult[Any]:
        return self._env.step(action)

    async def run(self, coro: Coroutine[Any, Any, T]) -> T:
        return aio.run(coro)


class _AsyncFlow:
    def __init__(self, env: Env[Any, Any]) -> None:
        self._env = env

    async def step(self, action: Any) -> StepResult[Any]:
        return await self._env.astep(action)

    async def run(self, coro: Coroutine[Any, Any, T]) -> T:
        return await aio.hop(coro)


def _drive(body: Coroutine[Any, Any, T], name: str) -> T:
    """Run a body that never suspends, without a loop."""
    try:
        body.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    except RuntimeError as why:
        if "no running event loop" not in str(why):
            raise
    body.close()
    raise ContractError(f"{name}.flow awaited something by itself: on the sync path nothing runs it. Write `await io.run(...)`")


class _Forward:
    """An attribute of the wrapped environment, unless the wrapper has set its own."""

    def __init__(self, *, own: bool) -> None:
        self._own = own

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, wrapper: Any, owner: type[Any]) -> Any:
        if wrapper is None:
            return self
        if self._own and self._name in wrapper.__dict__:
            return wrapper.__dict__[self._name]
        return getattr(wrapper.env, self._name)

    def __set__(self, wrapper: Any, value: Any) -> None:
        if self._own:
            wrapper.__dict__[self._name] = value
        else:
            setattr(wrapper.env, self._name, value)


def _own() -> Any:
    return _Forward(own=True)


def _shared() -> Any:
    return _Forward(own=False)


class Wrapper(Env[ObsT, ActT], Generic[ObsT, ActT, InObsT, InActT]):
    """Changes what goes into an environment and what comes out.

    Override the hooks `on_reset`, `on_action` and `on_step` (no I/O in them), or, to skip, repeat or await, `flow`. A wrapper
    that overrides `step` or `reset` itself must override its async twin too. A wrapper with state of its own returns it from
    `own_state` and takes it in `set_own_state`. All else is forwarded to `env`.
    """

    env: Env[InObsT, InActT]

    metadata = _own()  # type: ignore[misc]  # a descriptor: the wrapped one's, unless set
    observation_space = _own()
    action_space = _own()
    render_mode = _own()
    spec = _own()
    max_turns = _own()
    env_spec = _shared()
    split = _shared()
    splits = _shared()
    on_invalid = _shared()
    timing = _shared()
    task_key = _shared()
    rng = _shared()
    action_rng = _shared()
    np_random = _shared()
    np_random_seed = _shared()
    unwrapped = _shared()
    _np_random = _shared()
    _np_random_seed = _shared()
    _name = _shared()

    def __init__(self, env: Env[InObsT, InActT]) -> None:
        self.env = env

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "flow" in cls.__dict__ and "step" not in cls.__dict__:
            cls.step = Wrapper._flow_step  # type: ignore[method-assign]
            cls.astep = Wrapper._flow_astep  # type: ignore[method-assign]

    @classmethod
    def _check_twins(cls) -> None:
        for sync, twin in TWINS:
            ways = cls._definer(sync), cls._definer(twin)
            if ways[0] is not ways[1]:
                alone = sync if cls.__mro__.index(ways[0]) < cls.__mro__.index(ways[1]) else twin
                raise TypeError(f"{cls.__name__} overrides {alone} alone of {sync}/{twin}: override the hooks, or both")

    # -- what authors override -----------------------------------------------------------------------------------------

    def on_reset(self, obs: InObsT, info: Info) -> tuple[ObsT, Info]:
        """Change what a reset returns."""
        return cast(ObsT, obs), info

    def on_action(self, action: ActT) -> InActT:
        """Change an action on its way in."""
        return cast(InActT, action)

    def on_step(self, action: ActT, obs: InObsT, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[ObsT]:
        """Change what a step returns; `action` is the one that the caller gave."""
        return cast(ObsT, obs), reward, terminated, truncated, info

    async def flow(self, action: ActT, io: Flow) -> StepResult[ObsT]:
        """Play a turn with any number of inner steps: `await io.step(action)`, and `await io.run(coro)` for all else."""
        return self.on_step(action, *await io.step(self.on_action(action)))

    def outward(self, action: InActT) -> ActT:
        """Turn an action of the wrapped environment into one that this wrapper takes: for oracle and random actions."""
        return cast(ActT, action)

    def own_state(self) -> Any:
        """Return this wrapper's own part of a snapshot."""
        return None

    def set_own_state(self, state: Any) -> None:
        """Take what `own_state` returned."""

    # -- both paths ----------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode; see `Env.reset`."""
        return self.on_reset(*self.env.reset(seed=seed, options=options))

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode; see `Env.reset`."""
        return self.on_reset(*await self.env.areset(seed=seed, options=options))

    def step(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn; see `Env.step`."""
        return self.on_step(action, *self.env.step(self.on_action(action)))

    async def astep(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn; see `Env.step`."""
        return self.on_step(action, *await self.env.astep(self.on_action(action)))

    def _flow_step(self, action: ActT) -> StepResult[ObsT]:
        return _drive(self.flow(action, _SyncFlow(self.env)), type(self).__name__)

    async def _flow_astep(self, action: ActT) -> StepResult[ObsT]:
        return await self.flow(action, _AsyncFlow(self.env))

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    async def aclose(self) -> None:
        """Close the wrapped environment."""
        await self.env.aclose()

    # -- forwarded: `__getattr__` never sees what Env defines ----------------------------------------------------------

    def seed_resets(self, seed: int) -> None:
        """Seed the resets that name no seed; see `Env.seed_resets`."""
        self.env.seed_resets(seed)

    def continue_stream(self, other: Env[Any, Any]) -> None:
        """Go on with the unseeded resets of another; see `Env.continue_stream`."""
        self.env.continue_stream(other)

    def seed_actions(self, seed: int) -> None:
        """Seed the random actions; see `Env.seed_actions`."""
        self.env.seed_actions(seed)

    def check_split(self, split: str) -> None:
        """Raise where there is no such split; see `Env.check_split`."""
        self.env.check_split(split)

    def tasks(self, split: str = "train") -> TaskSet:
        """Return the tasks of a split; see `Env.tasks`."""
        return self.env.tasks(split)

    def task_content(self, key: str) -> Any:
        """Return the content of a task; see `Env.task_content`."""
        return self.env.task_content(key)

    def gold(self) -> Any:
        """Return what the current task hides; see `Env.gold`."""
        return self.env.gold()

    def sample_random_action(self) -> ActT:
        """Return a random action, as this wrapper takes it."""
        return self.outward(self.env.sample_random_action())

    def oracle_action(self) -> ActT | None:
        """Return the reference solution's next action, as this wrapper takes it."""
        action = self.env.oracle_action()
        return None if action is None else self.outward(action)

    def get_state(self) -> Any:
        """Return a snapshot of the wrapped environment and of this wrapper."""
        return {"wrapper": type(self).__qualname__, "own": self.own_state(), "env": self.env.get_state()}

    def set_state(self, state: Any) -> None:
        """Continue from a snapshot of the same stack of wrappers.

        Raises:
            ContractError: `state` is of another stack, or not a snapshot.
        """
        name = type(self).__qualname__
        if not isinstance(state, dict) or state.get("wrapper") != name:
            raise ContractError(f"{self.env._name}: not a snapshot of the wrapper {name} around it: {state!r:.80}")
        self.env.set_state(state["env"])
        self.set_own_state(state["own"])

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Self:
        """Return the same stack anew; `overrides` reach the innermost environment. See `Env.spawn`."""
        args, kwargs = self._ctor
        rest = args[1:] if args else ()
        twin = type(self)(self.env.spawn(**overrides), *rest, **{k: v for k, v in kwargs.items() if k != "env"})
        if same_state:
            twin.set_state(self.get_state())
        return twin

    def render(self) -> Any:
        """Render the wrapped environment."""
        return self.env.render()

    def get_wrapper_attr(self, name: str) -> Any:
        """Return attribute `name` of this wrapper or of what it wraps."""
        return getattr(self, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Say whether this wrapper or what it wraps has attribute `name`."""
        return hasattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set attribute `name` where it is: on this wrapper, or on what it wraps."""
        if name in self.__dict__ or not self.env.has_wrapper_attr(name):
            return bool(super().set_wrapper_attr(name, value, force=force))
        return bool(self.env.set_wrapper_attr(name, value, force=force))

    def __getattr__(self, name: str) -> Any:
        # Private names stay private, and `env` is missing while an instance is being unpickled.
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{self.env!r}>"

    __str__ = __repr__
