"""The two ways to use an environment, behind one face, and whole episodes played on either."""

from __future__ import annotations

import asyncio
import copy
from typing import Any


class Sync:
    """Calls `reset`, `step` and `close`."""

    name = "sync"

    def reset(self, env: Any, *args: Any, **kwargs: Any) -> Any:
        return env.reset(*args, **kwargs)

    def step(self, env: Any, action: Any) -> Any:
        return env.step(action)

    def close(self, env: Any) -> None:
        env.close()


class Async:
    """Awaits `areset`, `astep` and `aclose` on a loop that is not gem's own."""

    name = "async"

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def reset(self, env: Any, *args: Any, **kwargs: Any) -> Any:
        return self.loop.run_until_complete(env.areset(*args, **kwargs))

    def step(self, env: Any, action: Any) -> Any:
        return self.loop.run_until_complete(env.astep(action))

    def close(self, env: Any) -> None:
        self.loop.run_until_complete(env.aclose())


Path = Sync | Async


def play(path: Path, env: Any, actions: list[Any], *, seed: int = 1) -> list[Any]:
    """Return copies of what reset and each step returned, up to the end of the episode."""
    seen = [copy.deepcopy(path.reset(env, seed=seed))]
    return seen + go_on(path, env, actions)


def go_on(path: Path, env: Any, actions: list[Any]) -> list[Any]:
    """Return copies of what each step returned, up to the end of the episode."""
    seen: list[Any] = []
    for action in actions:
        seen.append(copy.deepcopy(path.step(env, action)))
        if seen[-1][2] or seen[-1][3]:
            break
    return seen


def text_of(obs: Any) -> str:
    """Return the text of an observation of either kind."""
    from gem.parsing import message_text

    return message_text(obs)
