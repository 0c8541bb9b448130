"""Which environments there are: `gem list`, and ids by pattern for the other commands."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from gem.cli.screen import say, shown_width
from gem.cli.table import Column, table
from gem.envs.registration import list_envs
from gem.errors import EnvNotFound
from gem.specs import EnvSpec

__all__ = ["is_pattern", "list_command", "matching", "row_of"]


_TELLING = 3  # so many letters of a pattern tell what was meant


def is_pattern(text: str) -> bool:
    """Say whether `text` is a shell pattern, not an id."""
    return any(sign in text for sign in "*?[")


def matching(pattern: str, *, offline: bool = False) -> list[EnvSpec]:
    """Return the environments whose id matches a shell pattern.

    Raises:
        EnvNotFound: none does; the message names what is near.
    """
    rows = list_envs(pattern, offline_only=offline)
    if rows:
        return rows
    if offline and list_envs(pattern):
        raise EnvNotFound(f"no environment that matches {pattern!r:.120} works offline. Leave out --offline to see them")
    raise EnvNotFound(f"no environment matches {pattern!r:.120}.{_near(pattern)} All of them: python -m gem list")


def _near(pattern: str) -> str:
    ids = [row.id for row in list_envs()]
    bare = pattern.strip("*?").lower()
    if len(bare) >= _TELLING and any(bare in id.lower() for id in ids):
        found = next(id for id in ids if bare in id.lower())
        start = found.lower().index(bare)
        return f" Did you mean '*{found[start : start + len(bare)]}*'?"
    near = get_close_matches(pattern, ids, n=3, cutoff=0.6)
    if near:
        return f" Did you mean {' or '.join(map(repr, near))}?"
    families = sorted({id.partition(":")[0] for id in ids if ":" in id})
    family = get_close_matches(pattern.partition(":")[0], families, n=1)
    return f" Did you mean '{family[0]}:{pattern.partition(':')[2] or '*'}'?" if family else ""


def row_of(row: EnvSpec) -> dict[str, Any]:
    """Return what is known of an environment without building it."""
    return {
        "id": row.id,
        "entry_point": row.entry_point if isinstance(row.entry_point, str) else repr(row.entry_point),
        "kwargs": dict(row.kwargs),
        "wrappers": [wrapper.entry_point for wrapper in row.wrappers],
        "requires": list(row.requires),
        "max_turns": row.kwargs.get("max_turns") if row.max_turns is None else row.max_turns,
        **asdict(row.info),
    }


def list_command(pattern: str, *, json: bool, offline: bool) -> int:
    """Print the environments whose id matches."""
    rows = matching(pattern, offline=offline)
    if json:
        say(jsonlib.dumps([row_of(row) for row in rows], indent=2))
        return 0
    width = shown_width()
    cells = [(row.id, row.info.description + " (needs the network)" * (not row.info.offline)) for row in rows]
    heading, *lines = table([Column("id"), Column("what it is")], cells, width=width)
    say(heading, "bold")
    for line in lines:
        say(line)
    if width is not None:
        say()
        say(f"{len(rows)} environment{'s' * (len(rows) != 1)}. More about one: python -m gem info ID", "dim")
    return 0
