"""Both ways between gem and gymnasium.

Importing this module registers every gem environment with gymnasium: `game:Sudoku-v0-easy` becomes
`gymnasium.make("gem/game_Sudoku-v0-easy-v0")`. The other way, `gem.make("gymnasium:CartPole-v1")` is a gymnasium environment that
is played by text.
"""

from __future__ import annotations

import copy
import math
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from typing_extensions import Self

from gem.core import Env, Info, StepResult
from gem.envs.games.moves import clean
from gem.envs.registration import list_envs, make
from gem.errors import EnvNotFound, MissingDependency, RegistrationError
from gem.parsing import last_boxed, message_text
from gem.specs import EnvInfo, EnvSpec, OnInvalid

__all__ = ["GymnasiumEnv", "build", "make_env", "register_all", "scheme"]

_GROUND = re.compile(r"\x1b\[4\dm(.*?)\x1b\[0m")
_CODES = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_WHOLE = re.compile(r"[+-]?\d{1,30}")
_MAX_ACTION = 10_000
_MAX_DEPTH = 20
_MAX_SPANS = 16
# Names that mean something to gem and to trainers: gymnasium's own values of these names go to `gymnasium.<name>`.
_RESERVED = frozenset(
    {"task", "prefix", "suffix", "metrics", "metrics_agg_mode", "success", "invalid_action", "error", "sandbox", "sampling"}
    | {"final_obs", "final_info", "timing", "observation", "reward", "messages", "prompt_ids", "response_ids"}
    | {"infer_logprobs", "actions_left", "llm_response"}
)


def gymnasium_id(id: str, namespace: str = "gem") -> str:
    """Return the gymnasium id of a gem id; `:`, `/` and `+` become `_`, since gymnasium splits ids there or refuses them.

    Of two ids that become the same, the one that is registered later gets a number of its own.
    """
    name = re.sub(r"[:/+]", "_", id)
    found = gymnasium.registry.get(f"{namespace}/{name}-v0")
    if found is not None and found.kwargs.get("gem_id") != id:
        name = f"{name}-{zlib.crc32(id.encode()):08x}"
    return f"{namespace}/{name}-v0"


def make_env(gem_id: str, **kwargs: Any) -> Env[Any, Any]:
    """Build a gem environment for `gymnasium.make`."""
    kwargs.pop("render_mode", None)
    return make(gem_id, **kwargs)


def register_all(namespace: str = "gem") -> list[str]:
    """Register every listed environment with gymnasium, and return the gymnasium ids. Registering again changes nothing."""
    ids = []
    # `family:name` first: a third party's `family/name` must not take its place.
    for row in sorted(list_envs(), key=lambda row: ("/" in row.id, ":" not in row.id, row.id)):
        id = gymnasium_id(row.id, namespace)
        if id not in gymnasium.registry:
            entry = "gem.integrations.gymnasium:make_env"
            gymnasium.register(
                id, entry_point=entry, kwargs={"gem_id": row.id}, disable_env_checker=True, nondeterministic=not row.info.deterministic
            )
        ids.append(id)
    return ids


def scheme(id: str) -> EnvSpec:
    """Return the spec of `gymnasium:<gymnasium id>`.

    Raises:
        EnvNotFound: gymnasium has no such environment.
    """
    gym_id = id.partition(":")[2]
    try:
        found = gymnasium.spec(gym_id)
    except gymnasium.error.Error as why:
        raise EnvNotFound(f"no environment {id!r:.120}: {why}") from None
    info = EnvInfo(
        description=f"gymnasium's {gym_id}",
        domain="gymnasium",
        reward_range=(-float("inf"), float("inf")),
        deterministic=not found.nondeterministic,
    )
    # Its own time limit is gymnasium's wrapper, which GymnasiumEnv keeps.
    return EnvSpec(id, "gem.integrations.gymnasium:build", {"gym_id": gym_id}, info=info)


def build(**kwargs: Any) -> GymnasiumEnv:
    """Build a `GymnasiumEnv`; it names no keywords, so that `make` passes on those of the gymnasium environment."""
    return GymnasiumEnv(**kwargs)


class GymnasiumEnv(Env[str, str]):
    """A gymnasium environment played by text.

    Args:
        gym_id: Its id, or a gymnasium environment. `spawn` makes one anew from its spec, or copies one that has none.
        describe: Turns an observation into text; by default the environment's text rendering if it has one, else the numbers.
        parse_action: Turns text into an action, or None where it is none; by default a number, numbers, or text, by the space.
        format_action: Turns an action into text.
        prompt: What the first observation begins with; by default what actions look like.
        kwargs: Of the gymnasium environment.

    Raises:
        EnvNotFound: gymnasium has no such environment.
        MissingDependency: it needs a package that is not installed.
        RegistrationError: it takes no such keyword, or the action space can't be written as text and no `parse_action` is given.
    """

    on_invalid = OnInvalid("retry", max_retries=10)
    splits = ("train",)

    def __init__(
        self,
        gym_id: str | gymnasium.Env[Any, Any],
        describe: Callable[[Any], str] | None = None,
        parse_action: Callable[[str], Any] | None = None,
        format_action: Callable[[Any], str] | None = None,
        prompt: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.inner = _make_inner(gym_id, kwargs) if isinstance(gym_id, str) else gym_id
        self._space = self.inner.action_space
        if parse_action is None and not isinstance(self._space, _READABLE):
            raise RegistrationError(f"{gym_id}: actions of {self._space} can't be read from text by themselves: pass parse_action=")
        self._describe, self._parse, self._format = describe, parse_action, format_action
        self._prompt = f"{_form(self._space)} Write it in \\boxed{{}}." if prompt is None else prompt
        self.max_turns = self.inner.spec.max_episode_steps if self.inner.spec is not None else None
        self._retries = self._turn = 0
        self._closed = False

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin an episode; see `Env.reset`."""
        _, info = super().reset(seed, options)
        self._retries = self._turn = 0
        obs, told = self.inner.reset(seed=self._content_seed)
        return f"{self._prompt}\n\n{self._text(obs)}".lstrip(), {**_told(told), **info}

    def step(self, action: Any) -> StepResult[str]:
        """Play one turn; see `Env.step`."""
        parsed = self._read(message_text(action))
        self._turn += 1
        if parsed is None:
            return self._unreadable()
        obs, reward, terminated, truncated, told = self.inner.step(parsed)
        value: Any = reward  # of an array's one element, too
        paid = float(value.item() if isinstance(value, np.ndarray) else value)
        late = self.max_turns is not None and self._turn >= self.max_turns  # unreadable turns count, which gymnasium does not see
        return self._text(obs), paid, bool(terminated), bool((truncated or late) and not terminated), _told(told)

    def _unreadable(self) -> StepResult[str]:
        self._retries += 1
        over = self.on_invalid.ends(self._retries)
        late = self.max_turns is not None and self._turn >= self.max_turns
        info: Info = {
            "invalid_action": {"kind": "unreadable", "reason": "there is no action of the right form in it", "hint": self._prompt}
        }
        return f"Your answer could not be read. {self._prompt}", self.on_invalid.reward, over, late and not over, info

    def close(self) -> None:
        """Close the gymnasium environment."""
        closed, self._closed = self._closed, True
        try:
            if not closed:
                self.inner.close()
        finally:
            super().close()

    def spawn(self, *, same_state: bool = False, **overrides: Any) -> Self:
        """Return a new environment built as this one was; see `Env.spawn`."""
        args, kwargs = ctor = self._ctor
        given = args[0] if args else kwargs["gym_id"]
        if not isinstance(given, str):  # two must not play on one
            rest = {name: value for name, value in kwargs.items() if name != "gym_id"}
            self._ctor = ((_anew(given), *args[1:]), rest)
        try:
            return super().spawn(same_state=same_state, **overrides)
        finally:
            self._ctor = ctor

    def sample_random_action(self) -> str:
        """Return a sample of the action space as text."""
        self._space.seed(self.action_rng.getrandbits(31))
        action = self._space.sample()
        text = self._format(action) if self._format is not None else _written(action)
        if self._parse is not None:
            return text
        boxed = f"\\boxed{{{text}}}"
        # A brace or backslash of a text space may end or break the box.
        return boxed if not isinstance(action, str) or self._read(boxed) == action else text

    def _read(self, text: str) -> Any:
        if self._parse is not None:
            return self._parse(text)
        boxed = last_boxed(text)
        return _parsed(self._space, text if boxed is None else boxed if isinstance(self._space, gymnasium.spaces.Text) else clean(boxed))

    def _text(self, obs: Any) -> str:
        if self._describe is not None:
            return self._describe(obs)
        if isinstance(obs, str):
            return obs
        if self.inner.render_mode == "ansi":
            return _without_colours(str(self.inner.render())).strip()
        return str(jsonable(obs))


def _without_colours(text: str) -> str:
    """Return text without terminal codes; what stood on a coloured ground, such as the player's place, is put in brackets."""
    return _CODES.sub("", _GROUND.sub(r"[\1]", text))


def _make_inner(gym_id: str, kwargs: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    try:
        made = gymnasium.make(gym_id, **kwargs)
        if "render_mode" not in kwargs and "ansi" in made.metadata.get("render_modes", ()):
            made.close()
            made = gymnasium.make(gym_id, render_mode="ansi", **kwargs)
    except gymnasium.error.DependencyNotInstalled as why:
        raise MissingDependency(f"gymnasium:{gym_id} needs a package: {why}") from None
    except gymnasium.error.UnregisteredEnv as why:
        raise EnvNotFound(f"gymnasium has no environment {gym_id!r:.120}: {why}") from None
    except TypeError as why:
        raise RegistrationError(f"gymnasium:{gym_id} can't be built: {why}") from why
    return made


def _anew(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return copy.deepcopy(env) if env.spec is None else gymnasium.make(env.spec)


def _told(info: dict[str, Any]) -> Info:
    """Return gymnasium's info as one of gem's."""
    found: Info = {}
    for name, value in jsonable(info).items():
        reserved = name in _RESERVED and not (name == "success" and isinstance(value, bool))
        found[f"gymnasium.{name}" if reserved else name] = value
    return found


_READABLE = (
    gymnasium.spaces.Discrete,
    gymnasium.spaces.MultiDiscrete,
    gymnasium.spaces.MultiBinary,
    gymnasium.spaces.Box,
    gymnasium.spaces.Text,
)


def _form(space: gymnasium.Space[Any]) -> str:
    if isinstance(space, gymnasium.spaces.Discrete):
        return f"Your action is a whole number from {space.start} to {space.start + space.n - 1}."
    if isinstance(space, gymnasium.spaces.Text):
        return f"Your action is text of {space.min_length} to {space.max_length} of these characters: {space.characters!r}."
    low, high = _bounds(space)
    floats = np.issubdtype(low.dtype, np.floating)
    kind = ("number" if floats else "whole number") + "s" * (low.size != 1)
    return f"Your action is {low.size} {kind}{', separated by spaces' * (low.size != 1)}{_spans(low, high)}."


def _bounds(space: gymnasium.Space[Any]) -> tuple[Any, Any]:
    if isinstance(space, gymnasium.spaces.Box):
        return space.low.ravel(), space.high.ravel()
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return space.start.ravel(), (space.start + (space.nvec - 1)).ravel()
    return np.zeros(int(np.prod(space.shape or (1,))), int), np.ones(int(np.prod(space.shape or (1,))), int)


def _spans(low: Any, high: Any) -> str:
    spans = [_span(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    if not any(spans):
        return ""
    if len(set(spans)) == 1:
        return f"{', each' * (len(spans) > 1)} {spans[0]}"
    return ": " + ", ".join(span or "any" for span in spans[:_MAX_SPANS]) + ", ..." * (len(spans) > _MAX_SPANS)


def _span(low: float, high: float) -> str:
    return " ".join(f"{word} {value}" for word, value in (("from", low), ("to", high)) if math.isfinite(value))


def _parsed(space: gymnasium.Space[Any], text: str) -> Any:
    """Return the action that `text` writes, or None where it is none of the space."""
    if isinstance(space, gymnasium.spaces.Text):
        return next((found for found in (text, text.strip()) if space.contains(found)), None)
    words = re.split(r"[\s,;]+", text[:_MAX_ACTION].strip().strip(" []()"))
    if not all(_NUMBER.fullmatch(word) for word in words):
        return None
    # Beyond 2**53 a float is another whole number.
    numbers = [int(word) if _WHOLE.fullmatch(word) else float(word) for word in words]
    if len(numbers) != int(np.prod(space.shape or (1,))):
        return None
    action = _array(numbers, np.dtype(space.dtype))
    if action is None or not space.contains(action.reshape(space.shape)):
        return None
    return int(action[0]) if isinstance(space, gymnasium.spaces.Discrete) else action.reshape(space.shape)


def _array(numbers: Sequence[float], dtype: np.dtype[Any]) -> Any:
    """Return the numbers as an array, or None where one of them does not fit its type."""
    if np.issubdtype(dtype, np.floating):
        with np.errstate(over="ignore"):
            found = np.array(numbers, float).astype(dtype)
        return found if np.isfinite(found).all() else None
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not all(low <= number <= high and number == int(number) for number in numbers):
        return None
    return np.array([int(number) for number in numbers], dtype)


def _written(action: Any) -> str:
    if isinstance(action, str):
        return action
    return " ".join(repr(value) for value in np.asarray(action).ravel().tolist())


def jsonable(value: Any, depth: int = 0) -> Any:
    """Return `value` in JSON's types: arrays as lists, what is not finite or not data as text."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # plain, where it is an Enum's member too
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value) if value * 0.0 == 0.0 else repr(float.__float__(value))
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return _jsonable_items(value, depth + 1) if depth <= _MAX_DEPTH else f"<{type(value).__name__}>"
    if getattr(type(value), "__repr__") is object.__repr__:  # which holds an address, another one each time  # noqa: B009
        return f"<{type(value).__qualname__}>"
    return repr(value)[:_MAX_ACTION]


def _jsonable_items(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {str(key): jsonable(item, depth) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(item, depth) for item in value), key=repr)
    return [jsonable(item, depth) for item in value]


register_all()
