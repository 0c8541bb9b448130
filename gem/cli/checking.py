"""`gem check`."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import textwrap
from difflib import get_close_matches
from typing import Any, cast

from gem.cli.catalogue import is_pattern, matching
from gem.cli.screen import flush, live, say, shown_width
from gem.core import Env
from gem.envs.registration import ENV_REGISTRY, list_envs, spec
from gem.errors import GemError, MissingDependency, RegistrationError
from gem.specs import load_entry_point
from gem.testing import find_breaches
from gem.testing.clauses import CLAUSES

__all__ = ["check_command"]

_MADE = "made"  # stands where a clause does: what cannot be made breaks no clause and keeps none


def check_command(target: str, *, episodes: int, json: bool) -> int:
    """Print which clauses of the contract are broken; return 1 where one is."""
    targets = _targets(target)
    results: dict[str, dict[str, str]] = {}
    skipped: list[str] = []
    for number, (name, subject) in enumerate(targets.items(), 1):
        _now(f"checking {name} ({number} of {len(targets)})")
        try:
            found = find_breaches(subject, episodes=episodes)
        except MissingDependency as why:
            if len(targets) == 1:
                raise
            skipped.append(f"skipped: {why}")
            continue
        except Exception as why:  # an author's environment fails in its own way: that is the answer
            found = {_MADE: f"{type(why).__name__}: {why}"}
        finally:
            _now("")
        results[name] = found
        if not json:
            _show(name, found)
            flush()
    for line in skipped:
        print(line, file=sys.stderr)
    if json:
        say(jsonlib.dumps(results, indent=2))
    elif len(results) > 1:
        broken = sum(map(bool, results.values()))
        say()
        say(f"{broken} of {len(results)} are broken" if broken else f"all {len(results)} keep the contract", "bold")
    return int(any(results.values()))


def _targets(target: str) -> dict[str, Any]:
    """Return what is to be checked, by the name to show."""
    if is_pattern(target):
        return {row.id: row.id for row in matching(target)}
    list_envs()
    module, _, name = target.partition(":")
    if target in ENV_REGISTRY or not name or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        return {target: spec(target).id}
    cls = _load(target)
    if not (isinstance(cls, type) and issubclass(cls, Env)):
        raise RegistrationError(f"{target} is not a subclass of gem.Env")
    return {target: cast(Any, cls)}


def _load(target: str) -> Any:
    # A class beside the caller is found as `python -m` would find it.
    sys.path.insert(0, os.getcwd())
    try:
        return load_entry_point(target)
    except RegistrationError as why:
        near, (module, _, name) = _near(target), target.partition(":")
        if not near and "." not in module and not hasattr(sys.modules.get(module), name):
            spec(target)  # a mistyped id looks the same: this says which ids are near
        raise RegistrationError(f"{why}{near}") from None
    except GemError:
        raise
    except Exception as why:
        raise RegistrationError(f"{target.partition(':')[0]} cannot be imported: {type(why).__name__}: {why}") from None


def _near(target: str) -> str:
    """Return the environments of the module that `target` may have meant."""
    module, _, name = target.partition(":")
    found = [key for key, value in vars(sys.modules.get(module, object)).items() if isinstance(value, type) and issubclass(value, Env)]
    near = get_close_matches(name, found, n=1)
    return f". Did you mean '{module}:{near[0]}'?" if near else ""


def _show(name: str, found: dict[str, str]) -> None:
    if not found:
        say(f"ok      {name}  ({len(CLAUSES)} clauses)", "green")
        return
    say(f"broken  {name}", "red")
    for clause, how in found.items():
        if clause == _MADE:
            lines = [f"it cannot be made: {how}"]
        else:
            lines = [f"{clause}: {how}", f"  ({CLAUSES[clause].says})"]
        width = shown_width()
        for line in lines:
            indent = " " * (len(line) - len(line.lstrip()))
            parts = textwrap.wrap(line.strip(), max(width - 10, 30), break_on_hyphens=False) if width else [line.strip()]
            for part in parts:
                say(f"        {indent}{part}")


def _now(text: str) -> None:
    """Say on a terminal what is going on, until the next line."""
    if live(sys.stderr):
        width = shown_width() or 80
        print(f"\r\x1b[K{text[: width - 1]}", end="", file=sys.stderr, flush=True)
