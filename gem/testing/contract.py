"""`check_env` and `EnvContract`: the contract, run on an environment."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable
from typing import Any, ClassVar

from gem.core import Env
from gem.envs.registration import make
from gem.errors import ContractError
from gem.specs import EnvInfo
from gem.testing.clauses import CLAUSES, Breach
from gem.testing.clauses.base import Subject

__all__ = ["EnvContract", "check_env", "find_breaches"]

Target = Env[Any, Any] | str | Callable[[], Env[Any, Any]]


def _subject(target: Target, info: EnvInfo | None, episodes: int) -> Subject:
    if isinstance(target, str):
        id = target
        build: Callable[[], Env[Any, Any]] = lambda: make(id, checks=False)  # noqa: E731
    elif isinstance(target, Env):
        build = target.unwrapped.spawn
    else:
        build = target
    env = build()
    spec, own = env.env_spec, getattr(env.unwrapped, "info", None)
    name = spec.id if spec is not None else type(env.unwrapped).__name__
    with contextlib.suppress(Exception):  # a close that raises has a clause of its own
        env.close()
    if info is None:
        info = spec.info if spec is not None else own if isinstance(own, EnvInfo) else EnvInfo()
    return Subject(build, info, name, episodes=episodes)


def find_breaches(target: Target, *, info: EnvInfo | None = None, episodes: int = 200) -> dict[str, str]:
    """Return what an environment breaks: the clause's name, and how.

    Args:
        target: An environment (its `spawn` makes fresh ones), an id, or a function that makes a fresh one.
        info: What it declares; by default its spec's, else what its class has as `info`, else `EnvInfo()`.
        episodes: How many episodes measure random play.
    """
    subject = _subject(target, info, episodes)
    broken: dict[str, str] = {}
    for clause in CLAUSES.values():
        if broken.keys() & set(clause.needs):  # the needs of a need are among them
            continue
        how = _judge(clause.name, subject)
        if how is not None:
            broken[clause.name] = how
    return broken


def _judge(name: str, subject: Subject) -> str | None:
    try:
        CLAUSES[name].check(subject)
    except Breach as how:
        return str(how)
    except Exception as why:
        return f"{type(why).__name__}: {why!s:.200}"
    return None


def check_env(target: Target, *, info: EnvInfo | None = None, episodes: int = 200) -> None:
    """Check an environment against every clause of the contract; see `find_breaches`.

    Raises:
        ContractError: at least one is broken; the message lists them.
    """
    broken = find_breaches(target, info=info, episodes=episodes)
    if broken:
        lines = [f"{name}: {how}\n    ({CLAUSES[name].says})" for name, how in broken.items()]
        waiting = sum(bool(broken.keys() & set(clause.needs)) for clause in CLAUSES.values())
        more = f" ({waiting} more not judged while those are)" if waiting else ""
        raise ContractError(f"{len(broken)} of {len(CLAUSES)} clauses broken{more} by {target!r:.80}\n  " + "\n  ".join(lines))


class EnvContract:
    """Test class for an environment: subclass it, and pytest or unittest runs one test per clause.

    ```python
    class TestMyEnv(EnvContract):
        def make(self):
            return gem.make("my-package/my:env", checks=False)
    ```

    Attributes:
        info: What the environment declares, where it has no spec.
        episodes: How many episodes measure random play.
    """

    info: ClassVar[EnvInfo | None] = None
    episodes: ClassVar[int] = 200

    def make(self) -> Env[Any, Any]:
        """Return a fresh environment."""
        raise NotImplementedError(f"{type(self).__name__} defines no make: return a fresh environment from it")


def _add_test(name: str) -> None:
    def test(self: EnvContract) -> None:
        subject = _subject(self.make, self.info, self.episodes)
        clause = CLAUSES[name]
        for need in clause.needs:
            if _judge(need, subject) is not None:
                raise unittest.SkipTest(f"not judged while {need} is broken")
        how = _judge(name, subject)
        if how is not None:
            raise AssertionError(f"{subject.name} breaks {name}: {how}\n({clause.says})")

    test.__name__ = f"test_{name}"
    test.__doc__ = CLAUSES[name].says
    setattr(EnvContract, test.__name__, test)


for _name in CLAUSES:
    _add_test(_name)
