"""`gem list` and `gem info`."""

from __future__ import annotations

import json as jsonlib
import platform
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich.table import Table

from gem.cli.screen import screen
from gem.config import Settings, settings
from gem.envs.registration import list_envs, spec
from gem.errors import EnvNotFound
from gem.specs import EnvSpec

__all__ = ["info_command", "list_command"]


def _row(row: EnvSpec) -> dict[str, Any]:
    entry = row.entry_point if isinstance(row.entry_point, str) else repr(row.entry_point)
    return {"id": row.id, "entry_point": entry, "kwargs": dict(row.kwargs), "max_turns": row.max_turns, **asdict(row.info)}


def list_command(pattern: str, *, json: bool, offline: bool) -> int:
    """Print the environments whose id matches; exit code 2 where none does."""
    rows = list_envs(pattern, offline_only=offline)
    if not rows:
        raise EnvNotFound(f"no environment matches {pattern!r}. All of them: python -m gem list")
    if json:
        print(jsonlib.dumps([_row(row) for row in rows], indent=2))
        return 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", no_wrap=True)
    table.add_column("what it is", overflow="ellipsis", no_wrap=True)
    table.add_column("oracle")
    table.add_column("snapshot")
    for row in rows:
        table.add_row(row.id, row.info.description, row.info.oracle, row.info.snapshot)
    screen().print(table)
    return 0


def info_command(id: str | None, *, json: bool) -> int:
    """Print all about one environment, or about this installation."""
    facts = _installation() if id is None else _row(spec(id))
    if json:
        print(jsonlib.dumps(facts, indent=2, default=str))
        return 0
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if isinstance(value, dict) and value:
            for key, item in value.items():
                table.add_row(f"{name}.{key}", _shown(item))
        else:
            table.add_row(name, _shown(value))
    screen().print(table)
    return 0


def _shown(value: Any) -> str:
    if isinstance(value, dict) and {"value", "from"} <= value.keys():
        return f"{value['value']}  ({value['from']}; {value['help']})"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, {}, "") else str(value)


def _installation() -> dict[str, Any]:
    from gem_gym_doctor import check

    packages = {}
    for name in ("gem-gym", "gymnasium", "numpy", "httpx", "msgspec"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "environments": len(list_envs()),
        "settings": _settings(),
        "doctor": check().summary,
    }


def _settings() -> dict[str, Any]:
    now = settings()
    return {
        row.metadata["variable"]: {
            "value": str(getattr(now, row.name)),
            "from": "environment" if row.name in now.origins else "default",
            "help": row.metadata["help"],
        }
        for row in fields(Settings)
        if "variable" in row.metadata
    }
