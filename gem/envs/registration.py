"""The registry: ids, specs and `make`.

Built-in specs are tables of strings, one per family (`gem.envs.<family>.specs`). Packages of third parties add theirs through
the entry-point group `gem.envs` (`gem.envs.plugins`), loaded only when an id is unknown or all are listed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, TypeVar, cast, overload

from gem.config import settings
from gem.core import Env
from gem.envs import plugins
from gem.errors import EnvNotFound, MissingDependency, RegistrationError
from gem.specs import EnvInfo, EnvSpec, OnInvalid, WrapperSpec, entry_point_of, load_entry_point

__all__ = ["ENV_REGISTRY", "WrapperLike", "list_envs", "make", "register", "spec"]

E = TypeVar("E", bound=Callable[..., Any])
WrapperLike = WrapperSpec | str | Callable[[Any], Any]

FAMILIES = ("games",)
# An id with one of these prefixes is built on the spot: `prefix -> module:function(id) -> EnvSpec`. They are not listed.
SCHEMES: dict[str, str] = {"gymnasium:": "gem.integrations.gymnasium:scheme"}

ENV_REGISTRY: dict[str, EnvSpec] = {}


@lru_cache(maxsize=1)
def _load_builtin() -> None:
    for family in FAMILIES:
        for row in import_module(f"gem.envs.{family}.specs").SPECS:
            ENV_REGISTRY.setdefault(row.id, row)


@overload
def register(id: str, entry_point: None = None, **fields: Any) -> Callable[[E], E]: ...
@overload
def register(id: str, entry_point: str | Callable[..., Env[Any, Any]], **fields: Any) -> EnvSpec: ...
def register(
    id: str,
    entry_point: str | Callable[..., Env[Any, Any]] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[WrapperSpec] = (),
    max_turns: int | None = None,
    requires: Sequence[str] = (),
    info: EnvInfo | None = None,
    override: bool = False,
    **env_kwargs: Any,
) -> Any:
    """Register an environment under an id; without an entry point, return a decorator.

    Args:
        id: `[package/]family:name`; a bare name is allowed.
        entry_point: `module:Class`, or the class. One that others can import is stored by name.
        kwargs: Keywords of the entry point, JSON values; `env_kwargs` are added to them.
        wrappers: Put around it, innermost first.
        max_turns: Its turn limit.
        requires: Modules it needs, as `module` or `module=pip name`.
        info: What it declares of itself.
        override: Replace an id that exists.

    Raises:
        RegistrationError: the id exists or is malformed, or a keyword is not a JSON value.
    """
    if entry_point is None:

        def decorate(target: E) -> E:
            register(
                id,
                target,
                kwargs=kwargs,
                wrappers=wrappers,
                max_turns=max_turns,
                requires=requires,
                info=info,
                override=override,
                **env_kwargs,
            )
            return target

        return decorate
    _load_builtin()
    if id in ENV_REGISTRY and not override:
        raise RegistrationError(f"{id!r} is registered already ({ENV_REGISTRY[id].entry_point}). Replace it with override=True")
    if isinstance(id, str) and id.startswith(tuple(SCHEMES)):
        raise RegistrationError(f"{id!r}: ids that begin with {' or '.join(SCHEMES)} are built on the spot and can't be registered")
    if not isinstance(entry_point, str):
        if not callable(entry_point):
            raise RegistrationError(f"{id!r}: the entry point must be 'module:Class' or a callable, not {entry_point!r:.80}")
        entry_point = entry_point_of(entry_point)
    merged = {**(kwargs or {}), **env_kwargs}
    row = EnvSpec(id, entry_point, merged, tuple(wrappers), max_turns, tuple(requires), info or EnvInfo())
    ENV_REGISTRY[id] = row
    return row


def spec(id: str | EnvSpec) -> EnvSpec:
    """Return the spec of an id.

    Raises:
        EnvNotFound: no environment has that id; the message names the nearest.
    """
    if isinstance(id, EnvSpec):
        return id
    if not isinstance(id, str):
        raise EnvNotFound(f"an environment id is a string such as 'game:Sudoku-v0-easy', not {type(id).__name__} {id!r:.80}")
    _load_builtin()
    if id in ENV_REGISTRY:
        return ENV_REGISTRY[id]
    for prefix, factory in SCHEMES.items():
        if id.startswith(prefix):
            return cast(EnvSpec, load_entry_point(factory)(id))
    _load_plugins()
    if id in ENV_REGISTRY:
        return ENV_REGISTRY[id]
    raise EnvNotFound(_not_found(id))


def _not_found(id: str) -> str:
    near = get_close_matches(id, ENV_REGISTRY, n=3, cutoff=0.6)
    if not near:
        stem = (id.partition(":")[2] or id).lower().partition("-v")[0]
        for part in filter(None, (stem, stem[:4])):
            near = near or [known for known in ENV_REGISTRY if part in known.partition(":")[2].lower()][:3]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    family = id.partition(":")[0]
    known_family = any(known.startswith(family + ":") for known in ENV_REGISTRY)
    shown = f"{family}:*" if ":" in id and known_family else "*"
    return f"no environment {id!r:.120}.{hint} All of them: python -m gem list '{shown}'"


def _load_plugins() -> None:
    if settings().plugins:
        for row in plugins.load_all():
            ENV_REGISTRY.setdefault(row.id, row)


def list_envs(pattern: str = "*", *, tags: Iterable[str] = (), offline_only: bool = False) -> list[EnvSpec]:
    """Return the specs whose id matches a shell pattern, sorted by id.

    Args:
        pattern: Such as `game:*`.
        tags: Only those that carry all of these.
        offline_only: Only those that need no network, server or download.
    """
    _load_builtin()
    _load_plugins()
    wanted = set(tags)
    found = (ENV_REGISTRY[id] for id in sorted(ENV_REGISTRY) if fnmatchcase(id, pattern))
    return [row for row in found if wanted <= set(row.info.tags) and (row.info.offline or not offline_only)]


def make(
    id: str | EnvSpec | None = None,
    *,
    env_id: str | EnvSpec | None = None,
    wrappers: Sequence[WrapperLike] | str = (),
    seed: int | None = None,
    split: str | None = None,
    max_turns: int | None = None,
    on_invalid: OnInvalid | str | Mapping[str, Any] | None = None,
    checks: bool = True,
    timing: bool = False,
    **kwargs: Any,
) -> Env[Any, Any]:
    """Build an environment.

    From the inside out: the environment, `Contract`, a `TimeLimit` where the environment has no limit of its own, the spec's
    wrappers, `wrappers`.

    Args:
        id: A registered id, or a spec.
        env_id: The same, by the name that some trainers use.
        wrappers: Wrapper specs, callables that take the environment, or names as `gem.wrappers.build` takes them.
        seed: Seeds the resets that give none.
        split: The split that tasks come from.
        max_turns: Replaces the turn limit.
        on_invalid: What unparseable text does: a mode, or an `OnInvalid`.
        checks: False leaves `Contract` out.
        timing: Adds wall times under `info["timing"]`.
        kwargs: Keywords of the environment, which replace the spec's.

    Raises:
        EnvNotFound: no environment has that id.
        MissingDependency: a package that it needs is not installed.
        RegistrationError: it takes no such keyword.
    """
    if id is not None and env_id is not None and id != env_id:
        raise RegistrationError(f"make was given two environments, {id!r:.80} and env_id={env_id!r:.80}: name one")
    id = env_id if id is None else id
    if id is None:
        raise RegistrationError("make needs an id, such as gem.make('game:Sudoku-v0-easy')")
    row = spec(id)
    _check_requires(row)
    env, own_limit = _construct(row, kwargs, split=split, max_turns=max_turns, on_invalid=on_invalid, timing=timing)
    if seed is not None:
        env.seed_resets(seed)
    if checks:
        env = load_entry_point("gem.wrappers.contract:Contract")(env)
    limit = None if own_limit else (max_turns if max_turns is not None else row.max_turns)
    if limit is not None:
        env = load_entry_point("gem.wrappers.time_limit:TimeLimit")(env, limit)
    if timing:
        env = load_entry_point("gem.wrappers.timed:Timed")(env)
    if not isinstance(wrappers, (str, Sequence)):
        raise RegistrationError(
            f"{row.id}: wrappers must be a list of wrappers, or their names, not {wrappers!r:.80}. Write wrappers=[...]"
        )
    return _wrap(env, [*row.wrappers, *([wrappers] if isinstance(wrappers, str) else wrappers)])


def _construct(row: EnvSpec, kwargs: Mapping[str, Any], **wanted: Any) -> tuple[Env[Any, Any], bool]:
    """Build the innermost environment; say whether it took the turn limit itself."""
    target = load_entry_point(row.entry_point, owner=row.id)
    takes = _keywords(target)
    values = {**row.kwargs, **kwargs}
    own_policy = values.pop("on_invalid", None)
    if wanted["max_turns"] is None:
        wanted["max_turns"] = row.max_turns
    own_limit = takes is not None and "max_turns" in takes
    if wanted["on_invalid"] is not None or own_policy is not None:
        wanted["on_invalid"] = OnInvalid.of(own_policy if wanted["on_invalid"] is None else wanted["on_invalid"])
    later = {}
    for name, value in wanted.items():
        if value is None or (name == "timing" and not value):
            continue
        if takes is not None and name in takes:
            values[name] = value
        else:
            later[name] = value
    _check_keywords(row, values, takes)
    _check_types(row, values, target)
    try:
        env = target(**values)
    except RegistrationError as why:  # it does not know its id yet
        raise RegistrationError(f"{row.id}: {why}") from why
    if not isinstance(env, Env):
        raise RegistrationError(f"{row.id}: its entry point returned {type(env).__name__}, which is not a gem.Env")
    for name in ("split", "on_invalid", "timing"):
        if name in later:
            setattr(env, name, later[name])
    env.env_spec = row
    if wanted["split"] is not None:
        env.check_split(wanted["split"])
    return env, own_limit


@lru_cache(maxsize=1024)
def _keywords(target: Callable[..., Any]) -> frozenset[str] | None:
    """Return the keywords that `target` names, or None where that can't be told (it takes any, or has no signature)."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    # Env.__new__ takes anything; what counts is an __init__ of the class's own.
    if isinstance(target, type) and "__init__" not in {name for base in target.__mro__[:-1] for name in vars(base)}:
        return frozenset()
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters) and not names else frozenset(names)


_MAKE_KEYWORDS = ("wrappers", "seed", "split", "max_turns", "on_invalid", "checks", "timing")


def _check_keywords(row: EnvSpec, values: Mapping[str, Any], takes: frozenset[str] | None) -> None:
    if takes is None:
        return
    unknown = [name for name in values if name not in takes]
    if unknown:
        near = get_close_matches(unknown[0], {*takes, *_MAKE_KEYWORDS}, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise RegistrationError(f"{row.id} takes no keyword {unknown[0]!r}.{hint} It takes: {', '.join(sorted(takes)) or 'none'}")


# Annotations whose values are told apart before the constructor stumbles over them.
_TYPES: dict[str, tuple[type[Any], ...]] = {"int": (Integral,), "float": (Real,), "bool": (bool,), "str": (str,)}


def _check_types(row: EnvSpec, values: Mapping[str, Any], target: Callable[..., Any]) -> None:
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return
    for name, value in values.items():
        annotation = parameters[name].annotation if name in parameters else ""
        wanted = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        if wanted in _TYPES and not isinstance(value, _TYPES[wanted]):
            raise RegistrationError(f"{row.id}: {name} must be of type {wanted}, not {type(value).__name__} {value!r:.80}")


def _check_requires(row: EnvSpec) -> None:
    for need in row.requires:
        module, _, package = need.partition("=")
        if find_spec(module.partition(".")[0]) is None:
            raise MissingDependency(f"{row.id} needs {package or module}. Install it: pip install '{package or module}'")


def _wrap(env: Env[Any, Any], wrappers: Iterable[WrapperLike]) -> Env[Any, Any]:
    for wrapper in wrappers:
        if isinstance(wrapper, WrapperSpec):
            env = load_entry_point(wrapper.entry_point)(env, **wrapper.kwargs)
        elif isinstance(wrapper, str):
            for build in load_entry_point("gem.wrappers:build")(wrapper):
                env = build(env)
        elif callable(wrapper):
            env = wrapper(env)
        else:
            raise RegistrationError(f"{env._name}: a wrapper is a WrapperSpec, a name or a callable, not {wrapper!r:.80}")
        if not isinstance(env, Env):
            raise RegistrationError(f"a wrapper returned {type(env).__name__}, which is not a gem.Env")
    return env
