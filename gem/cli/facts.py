"""`gem info`: what is known of an environment, or of this installation."""

from __future__ import annotations

import json as jsonlib
import platform
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.cli.catalogue import is_pattern, row_of
from gem.cli.screen import say, shown_width
from gem.cli.table import Column, table
from gem.config import Settings, settings
from gem.envs.registration import list_envs, spec
from gem.errors import EnvNotFound

if TYPE_CHECKING:
    from gem_gym_doctor import Report

__all__ = ["info_command", "version_line"]

_PACKAGES = ("gymnasium", "numpy", "httpx", "msgspec", "datasets", "math-verify", "tantivy", "docker")


def version_line() -> str:
    """Return the name and version of this distribution."""
    return f"gem-gym {_version('gem-gym')}"


def info_command(id: str | None, *, json: bool) -> int:
    """Print all about one environment, or about this installation."""
    from gem_gym_doctor import check

    if id is not None and is_pattern(id):
        raise EnvNotFound(f"info takes one id, and {id!r:.120} is a pattern. Its environments: python -m gem list {id!r:.120}")
    if id is not None:
        facts = row_of(spec(id))
        say(jsonlib.dumps(facts, indent=2)) if json else _show_env(facts)
        return 0
    report = check()
    facts = _installation(report)
    if json:
        say(jsonlib.dumps(facts, indent=2))
    else:
        _show_installation(facts)
        _show_report(report)
    return 0


def _show_env(facts: dict[str, Any]) -> None:
    say(facts.pop("id"), "bold")
    description = facts.pop("description")
    if description:
        say(description)
    say()
    rows = [(name, _shown(value)) for name, value in facts.items()]
    for line in table([Column(), Column()], rows, width=shown_width(), last="wrap", indent="  "):
        say(line)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item!r}" for name, item in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, "") else str(value)


def _installation(report: Report) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in ("gem-gym", *_PACKAGES)},
        "environments": len(list_envs()),
        "settings": _settings(),
        "doctor": jsonlib.loads(report.json()),
    }


def _show_installation(facts: dict[str, Any]) -> None:
    width = shown_width()
    say(f"{version_line()}, Python {facts['python']}", "bold")
    say(facts["platform"])
    say(f"{facts['environments']} environments: python -m gem list")
    say()
    say("packages", "bold")
    for line in table([Column(), Column()], [(name, facts["packages"][name]) for name in _PACKAGES], width=width, indent="  "):
        say(line)
    rows = [(f"  {name}", _shown(row["value"]), row["from"], row["help"]) for name, row in facts["settings"].items()]
    heading, *lines = table([Column("settings"), Column("value"), Column("from"), Column("what for")], rows, width=width, last="wrap")
    say()
    say(heading, "bold")
    for line in lines:
        say(line)


def _show_report(report: Report) -> None:
    """Print what the doctor found: whether another package owns files of gem, and what to do."""
    style = {"healthy": "green", "warning": "yellow"}.get(report.status, "red")
    first, *rest = report.text().splitlines()
    say()
    say("installation", "bold")
    say(f"  {first}", style)
    for line in rest:
        # Commands and facts are indented: they stay whole, to be copied.
        long = shown_width() is not None and not line.startswith(" ")
        for part in textwrap.wrap(line, max(shown_width() or 0, 20) - 2) if long else [line]:
            say(f"  {part}".rstrip())
        if not line:
            say()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _settings() -> dict[str, Any]:
    now = settings()
    return {
        row.metadata["variable"]: {
            "value": str(value) if isinstance(value, Path) else value,
            "from": "environment" if row.name in now.origins else "default",
            "help": row.metadata["help"],
        }
        for row in fields(Settings)
        if "variable" in row.metadata
        for value in [getattr(now, row.name)]
    }
