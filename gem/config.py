"""Settings: the one place that reads `GEM_*` environment variables.

They are read once, into a frozen `Settings`, and passed on; workers and environments read none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from gem.errors import GemError

__all__ = ["Settings", "settings"]


def _flag(text: str) -> bool:
    if text.lower() in {"1", "true", "yes", "on"}:
        return True
    if text.lower() in {"", "0", "false", "no", "off"}:
        return False
    raise ValueError("expected 1 or 0")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError("expected a number above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError("expected 0 or more")
    return value


def _setting(variable: str, default: Any, parse: Callable[[str], Any], help: str) -> Any:
    return field(default=default, metadata={"variable": variable, "parse": parse, "help": help})


@dataclass(frozen=True)
class Settings:
    """What `GEM_*` variables set. `origins` maps a field to the variable that set it."""

    runs_dir: Path = _setting("GEM_RUNS_DIR", Path("runs"), Path, "Folder under which `gem eval` writes a run.")
    plugins: bool = _setting("GEM_PLUGINS", True, _flag, "Load the entry points `gem.envs` of other packages.")
    http_timeout_s: float = _setting("GEM_HTTP_TIMEOUT", 30.0, _positive, "Seconds one HTTP attempt may take.")
    http_deadline_s: float = _setting("GEM_HTTP_DEADLINE", 120.0, _positive, "Seconds a request may take, retries included.")
    http_retries: int = _setting("GEM_HTTP_RETRIES", 4, _count, "Retries of a failed HTTP request.")
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings out of `environ`.

        Raises:
            GemError: a value cannot be read; the message names its variable.
        """
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for row in fields(cls):
            variable = row.metadata.get("variable")
            if variable is None or variable not in environ:
                continue
            try:
                values[row.name] = row.metadata["parse"](environ[variable])
            except ValueError as why:
                raise GemError(f"{variable}={environ[variable]!r} cannot be read: {why}. {row.metadata['help']}") from None
            origins[row.name] = variable
        return cls(**values, origins=origins)


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return this process's settings, read on the first call."""
    return Settings.from_environ(os.environ)
