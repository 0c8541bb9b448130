"""`Env`: gymnasium's five-tuple for text, with an async side, tasks, seeds and snapshots."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Literal, TypeAlias, cast

import gymnasium
from gymnasium.utils import seeding as gym_seeding
from typing_extensions import Self, TypeVar

from gem import aio
from gem.errors import ContractError, RegistrationError, SnapshotUnsupported
from gem.seeding import QuickRandom, derive, fresh_seed, task_seed
from gem.spaces import Text
from gem.specs import EnvSpec, OnInvalid
from gem.tasks import TaskSet, join_key, split_key

__all__ = ["TWINS", "ActT", "Env", "Info", "ObsT", "StepResult"]

ObsT = TypeVar("ObsT", default=str)
ActT = TypeVar("ActT", default=str)
Info: TypeAlias = dict[str, Any]
StepResult: TypeAlias = tuple[ObsT, float, bool, bool, Info]

_MAX_DIGITS = 40  # of a task's number
TWINS = (("reset", "areset"), ("step", "astep"), ("close", "aclose"))


class Env(gymnasium.Env[ObsT, ActT]):
    """An environment: override `reset` and `step`, and begin `reset` with `super().reset(seed, options)`.

    Attributes:
        env_spec: The registry's spec, where `make` built it (`spec` is gymnasium's own).
        split: The split that resets draw from when they name no task.
        splits: The splits it has.
        max_turns: The turn limit, if there is one.
        on_invalid: What unparseable text does.
        timing: Whether `info["timing"]` is wanted.
        task_key: Key of the current task, `<split>/<index>`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]  # gymnasium's is an instance attribute
    observation_space: gymnasium.Space[Any] = Text()
    action_space: gymnasium.Space[Any] = Text()
    env_spec: EnvSpec | None = None
    split: str = "train"
    splits: tuple[str, ...] = ("train", "test")
    max_turns: int | None = None
    on_invalid: OnInvalid = OnInvalid()
    timing: bool = False
    task_key: str = ""

    _ctor: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    _lane: aio.Lane | None = None
    _root_seed: int | None = None  # of the unseeded resets, from make, and how many there were
    _unseeded: int = 0
    _last_seed: int | None = None  # given to reset, where make gave none
    _stream: QuickRandom | None = None  # of the unseeded resets after it, made when needed
    _episode_seed: int = 0
    _content_seed: int = 0
    _generator: Any = None
    # Kept over the episodes and seeded anew on first use in each.
    _rng: QuickRandom | None = None
    _action_rng: QuickRandom | None = None
    _rng_seeded: bool = False
    _action_rng_seeded: bool = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Keep the arguments for `spawn`, so that an author's class needs to do nothing for it."""
        self = super().__new__(cls)
        self._ctor = (args, kwargs)
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._check_twins()

    @classmethod
    def _check_twins(cls) -> None:
        """Refuse a class whose sync and async sides would differ."""
        for sync, twin in TWINS:
            if cls._definer(twin) is not Env and cls._definer(twin) is not cls._definer(sync):
                raise TypeError(
                    f"{cls.__name__} has {twin} of {cls._definer(twin).__name__} and {sync} of {cls._definer(sync).__name__}: the two "
                    f"paths would differ. Define both in one class, or subclass AsyncEnv and define the async side alone"
                )

    @classmethod
    def _definer(cls, name: str) -> type[Any]:
        """Return the class that a method comes from."""
        return next(base for base in cls.__mro__ if name in base.__dict__)

    # -- episodes ------------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode.

        Args:
            seed: Picks the task and all chance in it. Without one, resets follow the stream of the seed given to `make`, else
                of the last seed given here, else a fresh one.
            options: `{"task": key}` or `{"index": i}` (of `split`) plays that task.

        Returns:
            An empty observation and `{"task": key}`: an override returns its own observation, and may begin with this info.

        Raises:
            ContractError: `seed` is not an integer of 0 or more, or the task is not of this environment.
        """
        if seed is None:
            seed = self._next_seed()
        else:
            if type(seed) is not int or seed < 0:
                seed = _checked_seed(seed)
            if self._root_seed is None:
                self._stream = None
                self._last_seed = seed
        self._episode_seed = seed
        split, index = self.split, seed
        if options and (options.get("task") is not None or options.get("index") is not None):
            split, index = self._task_of(options)
        self._content_seed = index if split == "train" else task_seed(split, index)
        self.task_key = f"{split}/{index}"
        self._generator = None
        self._rng_seeded = self._action_rng_seeded = False
        return cast(ObsT, ""), {"task": self.task_key}

    def step(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn.

        Returns:
            Observation, reward, terminated (the task's own end), truncated (a limit or fault), info (a fresh dict).
        """
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    def close(self) -> None:
        """Free what the environment holds; calling it again does nothing."""
        if self._lane is not None:
            self._lane.stop()
            self._lane = None

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Begin an episode, awaiting `reset` on this environment's own thread."""
        return await self._own_lane().call(self.reset, seed, options)

    async def astep(self, action: ActT) -> StepResult[ObsT]:
        """Play one turn, awaiting `step` on this environment's own thread."""
        return await self._own_lane().call(self.step, action)

    async def aclose(self) -> None:
        """Close, awaiting `close` on this environment's own thread."""
        lane, self._lane = self._own_lane(), None
        try:
            await lane.call(self.close)
        finally:
            lane.stop()

    def __exit__(self, *why: object) -> Literal[False]:
        self.close()
        return False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.aclose()

    def _own_lane(self) -> aio.Lane:
        if self._lane is None or not self._lane.alive:
            self._lane = aio.Lane(f"gem-env-{type(self).__name__}")
        return self._lane

    # -- seeds and tasks -----------------------------------------------------------------------------------------------

    def seed_resets(self, seed: int) -> None:
        """Let the k-th reset without a seed take `derive(seed, k)`; what `make(seed=...)` does."""
        self._root_seed, self._unseeded = _checked_seed(seed), 0

    def seed_actions(self, seed: int) -> None:
        """Seed `action_rng` anew until the next reset, such as for another sample of the same episode."""
        if self._action_rng is None:
            self._action_rng = QuickRandom()
        # Apart from every seed of `rng`, which may be this episode's too.
        self._action_rng.seed((seed << 1 | 1) << 200)
        self._action_rng_seeded = True

    def continue_stream(self, other: Env[Any, Any]) -> None:
        """Go on with the unseeded resets where `other` stands: for an environment that takes the place of a broken one."""
        base = other.unwrapped
        self._root_seed, self._unseeded = base._root_seed, base._unseeded
        self._stream, self._last_seed = base._stream, base._last_seed

    def _next_seed(self) -> int:
        if self._root_seed is not None:
            k, self._unseeded = self._unseeded, self._unseeded + 1
            return derive(self._root_seed, k)
        if self._stream is None:
            if self._last_seed is None:
                return fresh_seed()
            self._stream = QuickRandom(self._last_seed + 1 << 300)  # apart from the episode of that seed
        return self._stream.getrandbits(63)

    def _task_of(self, options: Mapping[str, Any]) -> tuple[str, int]:
        if options.get("task") is not None:
            split, row = split_key(options["task"])
        else:
            split, row = self.split, str(options["index"])
        if not (row.isascii() and row.isdigit() and len(row) <= _MAX_DIGITS):
            raise ContractError(f"{self._name}: no task {join_key(split, row)!r:.80}; its tasks are numbered, such as '{split}/0'")
        self.check_split(split)
        return split, int(row)

    def check_split(self, split: str) -> None:
        """Raise `ContractError` where this environment has no such split."""
        if split not in self.splits:
            raise ContractError(f"{self._name} has no split {split!r:.80}; it has {', '.join(self.splits)}")

    @property
    def rng(self) -> random.Random:
        """The episode's `random.Random`, made on first use from the seed."""
        rng = self._rng
        if rng is None:
            rng = self._rng = QuickRandom()
        if not self._rng_seeded:
            rng.seed(self._content_seed)
            self._rng_seeded = True
        return rng

    @property
    def action_rng(self) -> random.Random:
        """The generator of `sample_random_action` and `oracle_action`: using it changes nothing in the episode."""
        rng = self._action_rng
        if rng is None:
            rng = self._action_rng = QuickRandom()
        if not self._action_rng_seeded:
            self.seed_actions(self._episode_seed)
        return rng

    @property
    def _np_random(self) -> Any:  # gymnasium keeps the generator here, made eagerly: 20 us that most episodes never need
        if self._generator is None:
            self._generator = gym_seeding.np_random(self._content_seed)[0]
        return self._generator

    @_np_random.setter
    def _np_random(self, generator: Any) -> None:
        self._generator = generator

    @property
    def _np_random_seed(self) -> int | None:
        return self._content_seed

    @_np_random_seed.setter
    def _np_random_seed(self, seed: int | None) -> None:
        self._content_seed = seed or 0

    def tasks(self, split: str = "train") -> TaskSet:
        """Return the tasks of a split: endless and numbered here, since a seed makes each."""
        self.check_split(split)
        return TaskSet(split, self.task_content)

    def task_content(self, key: str) -> Mapping[str, Any]:
        """Return the content of a task: prompt, gold, and the parameters of the environment."""
        twin = self.spawn()
        try:
            prompt, _ = twin.reset(options={"task": key})
            return {"prompt": prompt, "gold": twin.gold(), "parameters": self._parameters()}
        finally:
            twin.close()

    def _parameters(self) -> dict[str, str]:
        """Return the keywords that the environment was built with, the defaults among them."""
        args, kwargs = self._ctor
        bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
        bound.apply_defaults()
        return {name: repr(_listed(value)) for name, value in list(bound.arguments.items())[1:]}

    def gold(self) -> Any:
        """Return what the current task hides (a secret, an answer) as JSON values, or None."""
        return None

    # -- reference behaviour -------------------------------------------------------------------------------------------

    def sample_random_action(self) -> ActT:
        """Return a well-formed random action for the current state, drawn from `action_rng` alone."""
        rng, space = self.action_rng, self.action_space
        if isinstance(space, Text):
            return cast(ActT, "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(min(8, space.max_length or 8))))
        own = copy.deepcopy(space)  # the class's is shared by all its environments
        own.seed(rng.getrandbits(31))
        return cast(ActT, own.sample())

    def oracle_action(self) -> ActT | None:
        """Return the next action of a reference solution, or None where there is none."""
        return None

    # -- copies --------------------------------------------------------------------------------------------------------

    def get_state(self) -> Any:
        """Return a picklable snapshot of the episode.

        Raises:
            SnapshotUnsupported: this environment takes none.
        """
        raise SnapshotUnsupported(f"{self._name} takes no snapshots; EnvInfo.snapshot says which environments do")

    def set_state(self, state: Any) -> None:
        """Continue from a snapshot that `get_state` of an environment with the same parameters returned.

        Raises:
            ContractError: `state` is of another environment, or not a snapshot.
            SnapshotUnsupported: this environment takes none.
        """
        raise SnapshotUnsupported(f"{self._name} takes no snapshots; EnvInfo.snapshot says which environments do")

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Self:
        """Return a new environment built as this one was, with `overrides` of its keywords.

        Args:
            same_state: Continue from the current state; False: `reset` comes first.
            overrides: Keywords of the class, or `seed` and `split` of `make`.
        """
        args, kwargs = self._ctor
        parameters = list(inspect.signature(type(self).__init__).parameters.values())[1:]
        takes = [p.name for p in parameters]
        own = {name: overrides.pop(name) for name in ("seed", "split") if name in overrides and name not in takes}
        self._check_overrides(overrides, parameters)
        if overrides and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[: len(args)]):
            # One of them may have been given by position.
            args, kwargs = (), {**dict(zip(takes, args, strict=False)), **kwargs}
        twin = type(self)(*args, **{**kwargs, **overrides})
        for name in ("env_spec", "split", "on_invalid", "timing"):
            if name in self.__dict__ and name not in overrides:
                setattr(twin, name, self.__dict__[name])
        if "split" in own:
            twin.check_split(own["split"])
            twin.split = own["split"]
        if "seed" in own:
            twin.seed_resets(own["seed"])
        if same_state:
            twin.set_state(self.get_state())
        return twin

    def _check_overrides(self, overrides: Mapping[str, Any], parameters: list[inspect.Parameter]) -> None:
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for name in overrides:
            if name not in names and not any(p.kind is p.VAR_KEYWORD for p in parameters):
                near = get_close_matches(name, names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise RegistrationError(f"{self._name} takes no keyword {name!r}.{hint} It takes: {', '.join(names) or 'none'}")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lane"}

    @property
    def unwrapped(self) -> Env[Any, Any]:
        """The innermost environment."""
        return self

    @property
    def _name(self) -> str:
        return self.env_spec.id if self.env_spec is not None else type(self).__name__

    def render(self) -> Any:
        """Return None: observations are text already."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>" if self.env_spec is not None else f"<{type(self).__name__}>"

    __str__ = __repr__


def _checked_seed(seed: Any) -> int:
    """Return `seed` as a plain int, or say why it can't be one."""
    try:
        value: int = seed.__index__()
    except (AttributeError, TypeError):
        raise ContractError(f"seed must be an integer, not {type(seed).__name__} {seed!r:.80}") from None
    if value < 0:
        raise ContractError(f"seed must be 0 or more, not {value}")
    return value


def _listed(value: Any) -> Any:
    """Return a value with lists for tuples: a spec that went through JSON is the same."""
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return {key: _listed(item) for key, item in value.items()} if isinstance(value, dict) else value
