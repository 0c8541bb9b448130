"""Environments that do what their actions say, well or badly, for tests of what runs them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from typing import Any

import numpy as np

from gem.core import AsyncEnv, Env
from gem.spaces import Messages

# Lets go of all that hang in this process, so that no test leaves a thread behind.
RELEASE = threading.Event()
HANG_S = 300.0


class BadText(Exception):
    """Can't even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class BadPickle(Exception):
    """Can't be sent."""

    def __reduce__(self) -> Any:
        raise RuntimeError("no pickle")


class BadUnpickle(Exception):
    """Can be sent, and not be read: its constructor wants more than pickle gives it."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} {b}")


class Unpicklable:
    """Can't be sent."""

    def __reduce__(self) -> Any:
        raise TypeError("no pickle of this")


class Unreadable:
    """Can be sent, and not be read."""

    def __reduce__(self) -> Any:
        return _refuse, ()


def _refuse() -> None:
    raise ValueError("not to be read")


ERRORS: dict[str, Any] = {
    "raise": lambda: RuntimeError("as asked"),
    "badtext": BadText,
    "badpickle": BadPickle,
    "badunpickle": lambda: BadUnpickle(1, 2),
    "sysexit": lambda: SystemExit(3),
    "interrupt": KeyboardInterrupt,
    "cancelled": asyncio.CancelledError,
}
INFOS: dict[str, Any] = {
    "unpicklable": Unpicklable(),
    "unreadable": Unreadable(),
    "tuple": (1, (2, "3")),
    "bigint": 2**80,
    "surrogate": "half a pair: \ud83d",
    "error": "a text where a fault would be",
}
GARBAGE: dict[str, Any] = {
    "none": None,
    "four": ("", 0.0, False, {}),
    "text": "abcde",
    "reward": ("", "much", False, False, {}),
    "info": ("", 0.0, False, False, ["no", "dict"]),
    "flags": ("", 0.0, np.array([True, False]), False, {}),
}


class _Script:
    """What both kinds share: a game that ends after `turns` turns (by the seed where that is 0), with the turn as reward."""

    seed = turn = last = 0

    def _begin(self, seed: int | None, turns: int) -> tuple[str, dict[str, Any]]:
        assert seed is not None
        self.seed, self.turn = seed, 0
        self.last = turns or 1 + seed % 3
        return f"{seed}/0", {"seed": seed, "turn": 0}

    def _answer(self, action: str) -> Any:
        """Do at once what the action says; a wait is returned as `("wait", seconds)`."""
        verb, _, rest = action.partition(" ")
        if verb in ERRORS:
            raise ERRORS[verb]()
        if verb == "exit":
            os._exit(3)
        if verb in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if verb == "kill" else signal.SIGSTOP)
        if verb == "garbage":
            return GARBAGE[rest]
        self.turn += 1
        info: dict[str, Any] = {"seed": self.seed, "turn": self.turn}
        obs = f"{self.seed}/{self.turn} {action}"
        if verb == "big":
            obs = "x" * int(rest)
        if verb == "info":
            info["error" if rest == "error" else "odd"] = INFOS[rest]
        over = verb == "end" or action == "info error" or self.turn >= self.last
        return obs, float(self.turn), over and verb != "cut", verb == "cut", info

    def where(self) -> int:
        return os.getpid()

    def thread(self) -> str:
        return threading.current_thread().name

    def add(self, a: int, b: int = 0) -> int:
        return a + b

    def fail(self, how: str) -> None:
        raise ERRORS[how]()

    def give(self, value: Any) -> Any:
        return value


def _seconds(action: str) -> float:
    verb, _, rest = action.partition(" ")
    return HANG_S if verb == "hang" else float(rest) if verb == "sleep" else 0.0


def _pause(seconds: float) -> None:
    if seconds:
        RELEASE.wait(seconds)


async def _apause(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not RELEASE.is_set():
        await asyncio.sleep(min(0.02, end - time.monotonic()))


class Puppet(_Script, Env):
    """Does what its actions say. `options={"do": action}` makes reset do it."""

    def __init__(self, turns: int = 3, broken: str = "", closed: str = "") -> None:
        _pause(_seconds(broken))
        if broken and not broken.startswith("sleep"):
            self._answer(broken)
        self.turns, self.closed = turns, closed

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        _, info = super().reset(seed, options)
        obs, own = self._begin(self._episode_seed, self.turns)
        do = (options or {}).get("do", "")
        if do:
            _pause(_seconds(do))
            self._answer(do)
            self.turn = 0
        return obs, {**info, **own}

    def step(self, action: str) -> Any:
        _pause(_seconds(action))
        return self._answer(action)

    def wait(self, seconds: float) -> None:
        _pause(seconds)

    def close(self) -> None:
        if self.closed:
            with open(self.closed, "a") as file:
                file.write(f"{threading.current_thread().name}\n")
        super().close()


class AsyncPuppet(_Script, AsyncEnv):
    """The same, with coroutines."""

    def __init__(self, turns: int = 3, broken: str = "", closed: str = "") -> None:
        if broken:
            self._answer(broken)
        self.turns, self.closed = turns, closed

    async def areset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        _, info = await super().areset(seed, options)
        obs, own = self._begin(self._episode_seed, self.turns)
        do = (options or {}).get("do", "")
        if do:
            await _apause(_seconds(do))
            self._answer(do)
            self.turn = 0
        return obs, {**info, **own}

    async def astep(self, action: str) -> Any:
        await _apause(_seconds(action))
        return self._answer(action)

    async def wait(self, seconds: float) -> None:
        await _apause(seconds)

    async def aclose(self) -> None:
        if self.closed:
            with open(self.closed, "a") as file:
                file.write(f"{threading.current_thread().name}\n")


class Reusing(Env):
    """Returns the same list and the same dicts again and again, changed."""

    observation_space = Messages()

    def __init__(self) -> None:
        self._talk: list[dict[str, Any]] = []
        self._infos: list[dict[str, Any]] = [{"deep": {"turn": 0}}, {"deep": {"turn": 0}}]
        self._turn = 0

    def _info(self) -> dict[str, Any]:
        info = self._infos[self._turn % 2]
        info["deep"]["turn"] = self._turn
        return info

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed, options)
        self._turn = 0
        self._talk.clear()
        self._talk.append({"role": "user", "content": "begin"})
        return self._talk, self._info()

    def step(self, action: str) -> Any:
        self._turn += 1
        self._talk[0]["content"] = f"turn {self._turn}"
        return self._talk, 1.0, self._turn == 3, False, self._info()


class Crowded(Env):
    """Counts how many of its kind are in reset at once."""

    now = most = 0
    lock = threading.Lock()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        with Crowded.lock:
            Crowded.now += 1
            Crowded.most = max(Crowded.most, Crowded.now)
        time.sleep(0.01)
        with Crowded.lock:
            Crowded.now -= 1
        return super().reset(seed, options)

    def step(self, action: str) -> Any:
        return "", 0.0, True, False, {}

    def record(self) -> int:
        return Crowded.most


IDS = {
    "test:puppet": ("tests.vector.envs:Puppet", {"blocking": "cpu"}),
    "test:puppet-io": ("tests.vector.envs:Puppet", {"blocking": "io"}),
    "test:puppet-none": ("tests.vector.envs:Puppet", {"blocking": "none"}),
    "test:async": ("tests.vector.envs:AsyncPuppet", {"blocking": "io"}),
    "test:reusing": ("tests.vector.envs:Reusing", {}),
    "test:crowded": ("tests.vector.envs:Crowded", {"blocking": "io"}),
    "test:missing": ("no_such_module_anywhere:Env", {}),
}
