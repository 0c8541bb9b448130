"""Agents by name. Each module has one; `get` makes it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, cast

from gem.errors import RegistrationError
from gem.rollout.agent import Agent
from gem.specs import load_entry_point

__all__ = ["NAMES", "get"]

NAMES: dict[str, str] = {
    "oracle": "gem.rollout.agents.oracle:OracleAgent",
    "random": "gem.rollout.agents.random:RandomAgent",
}


def get(name: str, **options: Any) -> Agent:
    """Make the agent of a name.

    Raises:
        RegistrationError: there is none of that name.
    """
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise RegistrationError(f"no agent {name!r:.80}.{hint} There are {', '.join(sorted(NAMES))}")
    return cast(Agent, load_entry_point(NAMES[name])(**options))
