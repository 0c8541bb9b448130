"""Both ways between gem and gymnasium.

Importing this module registers every gem environment with gymnasium: `game:Sudoku-v0-easy` becomes
`gymnasium.make("gem/game_Sudoku-v0-easy-v0")`. The other way, `gem.make("gymnasium:CartPole-v1")` is a gymnasium environment played by text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from gem.core import Env, Info, StepResult
from gem.envs.registration import list_envs, make
from gem.errors import EnvNotFound, RegistrationError
from gem.parsing import last_boxed, message_text
from gem.specs import EnvInfo, EnvSpec, OnInvalid

__all__ = ["GymnasiumEnv", "make_env", "register_all", "scheme"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_MAX_ACTION = 10_000
_MAX_DEPTH = 20


def gymnasium_id(id: str, namespace: str = "gem") -> str:
    """Return the gymnasium id of a gem id; `:` and `/` become `_`, since gymnasium splits ids there."""
    return f"{namespace}/{re.sub(r'[:/]', '_', id)}-v0"


def make_env(gem_id: str, **kwargs: Any) -> Env[Any, Any]:
    """Build a gem environment for `gymnasium.make`."""
    kwargs.pop("render_mode", None)
    return make(gem_id, **kwargs)


def register_all(namespace: str = "gem") -> list[str]:
    """Register every listed environment with gymnasium, and return the gymnasium ids. Registering again changes nothing."""
    ids = []
    for row in list_envs():
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
    return EnvSpec(id, "gem.integrations.gymnasium:GymnasiumEnv", {"gym_id": gym_id}, info=info)


class GymnasiumEnv(Env[str, str]):
    """A gymnasium environment played by text.

    Args:
        gym_id: Its id, or a gymnasium environment.
        describe: Turns an observation into text; by default the environment's text rendering if it has one, else the numbers.
        parse_action: Turns text into an action, or None where it is none; by default a number, numbers, or text, by the space.
        format_action: Turns an action into text.
        prompt: What the first observation begins with; by default what actions look like.

    Raises:
        RegistrationError: the action space can't be written as text, and no `parse_action` is given.
    """

    on_invalid = OnInvalid("retry")
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
        self._retries = 0

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin an episode; see `Env.reset`."""
        _, info = super().reset(seed, options)
        self._retries = 0
        obs, told = self.inner.reset(seed=self._content_seed)
        return f"{self._prompt}\n\n{self._text(obs)}".lstrip(), {**jsonable(told), **info}

    def step(self, action: Any) -> StepResult[str]:
        """Play one turn; see `Env.step`."""
        parsed = self._read(message_text(action))
        if parsed is None:
            self._retries += 1
            over = self.on_invalid.ends(self._retries)
            info: Info = {"invalid_action": {"reason": "there is no action of the right form in it", "hint": self._prompt}}
            return f"Your answer could not be read. {self._prompt}", self.on_invalid.reward, over, False, info
        obs, reward, terminated, truncated, told = self.inner.step(parsed)
        return self._text(obs), float(reward), bool(terminated), bool(truncated and not terminated), jsonable(told)

    def close(self) -> None:
        """Close the gymnasium environment."""
        self.inner.close()
        super().close()

    def sample_random_action(self) -> str:
        """Return a sample of the action space as text."""
        self._space.seed(self.action_rng.getrandbits(31))
        action = self._space.sample()
        text = self._format(action) if self._format is not None else _written(action)
        return text if self._parse is not None else f"\\boxed{{{text}}}"

    def _read(self, text: str) -> Any:
        if self._parse is not None:
            return self._parse(text)
        boxed = last_boxed(text)
        return _parsed(self._space, (text if boxed is None else boxed).strip())

    def _text(self, obs: Any) -> str:
        if self._describe is not None:
            return self._describe(obs)
        if isinstance(obs, str):
            return obs
        if self.inner.render_mode == "ansi":
            return str(self.inner.render()).strip()
        return str(jsonable(obs))


def _make_inner(gym_id: str, kwargs: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    made = gymnasium.make(gym_id, **kwargs)
    if "render_mode" not in kwargs and "ansi" in made.metadata.get("render_modes", ()):
        made.close()
        made = gymnasium.make(gym_id, render_mode="ansi", **kwargs)
    return made


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
        return "Your action is text."
    kind = "numbers" if isinstance(space, gymnasium.spaces.Box) else "whole numbers"
    return f"Your action is {int(np.prod(space.shape or (1,)))} {kind}, separated by spaces."


def _parsed(space: gymnasium.Space[Any], text: str) -> Any:
    """Return the action that `text` writes, or None where it is none of the space."""
    if isinstance(space, gymnasium.spaces.Text):
        return text if space.contains(text) else None
    words = re.split(r"[\s,;]+", text[:_MAX_ACTION].strip(" []()"))
    if not all(_NUMBER.fullmatch(word) for word in words):
        return None
    numbers = [float(word) for word in words]
    if isinstance(space, gymnasium.spaces.Discrete):
        action: Any = int(numbers[0]) if len(numbers) == 1 and numbers[0].is_integer() else None
        return action if action is not None and space.contains(action) else None
    if len(numbers) != int(np.prod(space.shape or (1,))):
        return None
    if not isinstance(space, gymnasium.spaces.Box) and not all(number.is_integer() for number in numbers):
        return None
    action = np.array(numbers).astype(space.dtype).reshape(space.shape)
    return action if space.contains(action) else None


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
    if depth > _MAX_DEPTH:
        return repr(value)[:_MAX_ACTION]
    if isinstance(value, dict):
        return {str(key): jsonable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, depth + 1) for item in value]
    if isinstance(value, float) and value * 0.0 != 0.0:
        return repr(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return repr(value)


register_all()
