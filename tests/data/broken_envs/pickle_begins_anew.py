"""Is pickled by its class alone."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "pickle_goes_on"


class Good(Counting):
    """Is pickled with what it has."""


class Broken(Counting):
    """Is made anew, and reset to the same task."""

    def __reduce__(self) -> Any:
        return made, (self.task_key,)


def made(key: str) -> Any:
    """Return one at the beginning of a task."""
    env = Broken()
    env.reset(options={"task": key})
    return env
