"""`gem check`."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from typing import Any, cast


from gem.cli.screen import screen
from gem.core import Env
from gem.envs.registration import ENV_REGISTRY, list_envs, spec
from gem.errors import EnvNotFound, RegistrationError
from gem.specs import load_entry_point
from gem.testing import find_breaches
from gem.testing.clauses import CLAUSES

__all__ = ["check_command"]


def _targets(target: str) -> dict[str, Any]:
    """Return what is to be checked, by the name to show."""
    if any(sign in target for sign in "*?["):
        found = {row.id: row.id for row in list_envs(target)}
        if not found:
            raise EnvNotFound(f"no environment matches {target!r}. All of them: python -m gem list")
        return found
    module, _, name = target.partition(":")
    list_envs()
    if target not in ENV_REGISTRY and name.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        # A class beside the caller is found as `python -m` would find it.
        sys.path.insert(0, os.getcwd())
        try:
            cls = load_entry_point(target)
        except RegistrationError:
            spec(target)  # says which ids are near
            raise
        if not (isinstance(cls, type) and issubclass(cls, Env)):
            raise RegistrationError(f"{target} is not a subclass of gem.Env")
        return {target: cast(Any, cls)}
    return {target: spec(target).id}


def check_command(target: str, *, episodes: int, json: bool) -> int:
    """Print which clauses of the contract are broken; return 1 where one is."""
    results: dict[str, dict[str, str]] = {}
    console = screen()
    for name, subject in _targets(target).items():
        found = results[name] = find_breaches(subject, episodes=episodes)
        if json:
            continue
        if not found:
            console.print(f"[green]ok[/]      {name}  ({len(CLAUSES)} clauses)")
        for clause, how in found.items():
            console.print(f"[red]broken[/]  {name}  {clause}", end="\n")
            console.print(f"        {how}\n        {CLAUSES[clause].says}", markup=False)
    if json:
        print(jsonlib.dumps(results, indent=2))
    return int(any(results.values()))
