"""Specs: what an environment is called, how it is built, and what it declares of itself.

A spec holds JSON values only, so that it travels to workers and into results. Live objects (a tokenizer, a data set) are
overrides given to `make`. Knows nothing of the registry (`gem.envs.registration`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from typing import Any, Literal

from gem.errors import MissingDependency, RegistrationError

__all__ = ["EnvInfo", "EnvSpec", "OnInvalid", "WrapperSpec", "entry_point_of", "load_entry_point"]

_ID = re.compile(r"(?:[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]+(?::(?:[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.+-]+)?")
_ENTRY_POINT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class EnvInfo:
    """What an environment declares of itself; `gem.testing.EnvContract` checks it.

    Attributes:
        description: One line.
        domain: Such as `games`, `math`, `terminal`.
        version: Rises when rewards, prompts or rows change.
        deterministic: The same seed and actions give the same episode.
        snapshot: `exact` (`set_state` continues bit for bit), `replay` (by repeating the actions) or `none`.
        oracle: `actions` (`oracle_action` wins), `solve` (a reference solution is run) or `none`.
        oracle_sees: `transcript` (what the agent saw) or `state` (hidden state too).
        split: How train and test differ: by `content`, or by `seed` where there are few starts.
        blocking: What a step waits for: `none`, `cpu` or `io`.
        reward_range: Least and greatest sum of rewards over an episode.
        offline: Needs no network, server or download.
        license: Of the tasks.
        tags: Free words for `list_envs`.
    """

    description: str = ""
    domain: str = ""
    version: int = 1
    deterministic: bool = True
    snapshot: Literal["exact", "replay", "none"] = "none"
    oracle: Literal["actions", "solve", "none"] = "none"
    oracle_sees: Literal["transcript", "state"] = "state"
    split: Literal["content", "seed"] = "seed"
    blocking: Literal["none", "cpu", "io"] = "none"
    reward_range: tuple[float, float] = (0.0, 1.0)
    offline: bool = True
    license: str = "Apache-2.0"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class OnInvalid:
    """What text that cannot be parsed does to an episode.

    Attributes:
        mode: `end` terminates the episode; `retry` keeps it going, with the reason in the observation.
        reward: Paid each time.
        max_retries: How often an episode may retry; the next one ends it. None: without limit.
    """

    mode: Literal["end", "retry"] = "end"
    reward: float = 0.0
    max_retries: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("end", "retry"):
            raise RegistrationError(f"on_invalid mode must be 'end' or 'retry', not {self.mode!r:.80}")
        if isinstance(self.reward, bool) or not isinstance(self.reward, (int, float)) or self.reward * 0.0 != 0.0:
            raise RegistrationError(f"on_invalid reward must be a finite number, not {self.reward!r:.80}")
        if self.max_retries is not None and (not isinstance(self.max_retries, int) or self.max_retries < 0):
            raise RegistrationError(f"on_invalid max_retries must be None, or 0 or more, not {self.max_retries!r:.80}")
        object.__setattr__(self, "reward", float(self.reward))

    def ends(self, times: int) -> bool:
        """Say whether the `times`-th unreadable text of an episode ends it."""
        return self.mode == "end" or (self.max_retries is not None and times > self.max_retries)

    @classmethod
    def of(cls, value: OnInvalid | str | Mapping[str, Any]) -> OnInvalid:
        """Read a policy: as it is, by its mode, or from a mapping of its fields."""
        if isinstance(value, OnInvalid):
            return value
        if isinstance(value, str):
            return cls(mode=value)  # type: ignore[arg-type]  # checked above
        try:
            return cls(**value)
        except TypeError:
            raise RegistrationError(f"on_invalid takes mode, reward and max_retries, not {value!r:.200}") from None


@dataclass(frozen=True)
class WrapperSpec:
    """A wrapper by name: `entry_point` is `module:Class`, called with the environment and `kwargs`."""

    entry_point: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EnvSpec:
    """How one environment is built.

    Attributes:
        id: `[package/]family:name`; a bare name is allowed.
        entry_point: `module:Class`, or a live callable that returns an environment.
        kwargs: Keywords of the entry point; JSON values.
        wrappers: Put around it, innermost first.
        max_turns: The entry point's own limit where it takes one, else a `TimeLimit`.
        requires: Modules that must be importable, as `module` or `module=pip name`.
        info: What the environment declares.
    """

    id: str
    entry_point: str | Callable[..., Any]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: tuple[WrapperSpec, ...] = ()
    max_turns: int | None = None
    requires: tuple[str, ...] = ()
    info: EnvInfo = field(default_factory=EnvInfo)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise RegistrationError(f"id {self.id!r:.80} is not of the form '[package/]family:name', such as 'game:Sudoku-v0-easy'")
        if isinstance(self.entry_point, str) and not _ENTRY_POINT.fullmatch(self.entry_point):
            raise RegistrationError(f"{self.id}: entry point {self.entry_point!r:.80} is not of the form 'package.module:Class'")
        if not isinstance(self.info, EnvInfo):
            raise RegistrationError(f"{self.id}: info must be an EnvInfo, not {type(self.info).__name__}")
        try:
            text = json.dumps(dict(self.kwargs), allow_nan=False)
        except (TypeError, ValueError) as why:
            raise RegistrationError(f"{self.id}: kwargs must be JSON values ({why}). Give live objects to make(...) instead") from None
        # A copy in JSON's own types: what is read back from JSON is then equal, and nobody else holds it.
        object.__setattr__(self, "kwargs", json.loads(text))

    def to_json(self) -> str:
        """Return the spec as one JSON object.

        Raises:
            RegistrationError: the entry point is a live callable, which only cloudpickle can carry.
        """
        if not isinstance(self.entry_point, str):
            raise RegistrationError(
                f"{self.id}: its entry point is a live object; register it as 'package.module:Class' to write it as JSON"
            )
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> EnvSpec:
        """Read a spec that `to_json` wrote; unknown fields are passed over."""
        raw = json.loads(text)
        info = _known(EnvInfo, raw.get("info", {}))
        info.update({name: tuple(info[name]) for name in ("reward_range", "tags") if name in info})
        wrappers = tuple(WrapperSpec(**_known(WrapperSpec, row)) for row in raw.get("wrappers", ()))
        values = _known(cls, raw) | {"info": EnvInfo(**info), "wrappers": wrappers}
        values["requires"] = tuple(values.get("requires", ()))
        return cls(**values)


def _known(cls: type[Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    names = {row.name for row in fields(cls)}
    return {name: value for name, value in raw.items() if name in names}


def load_entry_point(entry_point: str | Callable[..., Any], *, owner: str = "") -> Callable[..., Any]:
    """Import what `module:qualname` names; a callable is returned as it is.

    Raises:
        MissingDependency: the module needs a package that is not installed.
        RegistrationError: the module or the name does not exist.
    """
    if not isinstance(entry_point, str):
        return entry_point
    module_name, _, qualname = entry_point.partition(":")
    where = f"{owner}: " if owner else ""
    try:
        value: Any = import_module(module_name)
    except ModuleNotFoundError as why:
        missing = why.name or module_name
        if module_name == missing or module_name.startswith(missing + "."):
            raise RegistrationError(f"{where}no module {missing!r} for entry point {entry_point!r}. Is its package installed?") from None
        raise MissingDependency(f"{where}{module_name} needs {missing}. Install it: pip install {missing}") from why
    for name in qualname.split("."):
        if not hasattr(value, name):
            raise RegistrationError(f"{where}{module_name} has no {qualname!r} (entry point {entry_point!r})")
        value = getattr(value, name)
    if not callable(value):
        raise RegistrationError(f"{where}{entry_point} is a {type(value).__name__}, not a class or function")
    return value  # type: ignore[no-any-return]


def entry_point_of(target: Callable[..., Any]) -> str | Callable[..., Any]:
    """Return `module:qualname` where another process can import `target` by it, else `target` itself."""
    module = getattr(target, "__module__", "__main__")
    qualname = getattr(target, "__qualname__", "<locals>")
    if module == "__main__" or "<" in qualname:
        return target
    return f"{module}:{qualname}"
