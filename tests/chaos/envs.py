"""Environments that write down each step that they take, and fail when their action says so."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

from gem.core import AsyncEnv, Env

RELEASE = threading.Event()
HANG_S = 120.0
TURNS = 4


class BadText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Unpicklable:
    def __reduce__(self) -> Any:
        raise TypeError("no pickle of this")


def fails_at_reset(seed: int) -> bool:
    """Say whether the reset of this seed raises."""
    return seed % 29 == 0


class _Ledger:
    slot = seed = turn = 0
    folder = ""

    def _begin(self, seed: int) -> tuple[str, dict[str, Any]]:
        self.seed, self.turn = seed, 0
        if fails_at_reset(seed):
            raise RuntimeError("as its seed says")
        return f"{seed}/0", {"seed": seed}

    def _before(self, action: str) -> None:
        self.turn += 1
        if action == "raise":
            raise RuntimeError("as asked")
        if action == "badtext":
            raise BadText
        if action == "exit":
            os._exit(3)

    def _after(self, action: str) -> Any:
        reward = self.turn + 0.5
        file = os.open(os.path.join(self.folder, f"{self.slot}"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, f"{self.slot} {self.seed} {self.turn} {action} {reward}\n".encode())
        os.close(file)
        if action == "late":
            raise RuntimeError("after it was done")
        info = {"odd": Unpicklable()} if action == "unpicklable" else {}
        return f"{self.seed}/{self.turn} {action}", reward, self.turn == TURNS, False, info


class Ledger(_Ledger, Env):
    """Writes to `folder/slot` what it does, once it is done."""

    def __init__(self, folder: str, slot: int) -> None:
        self.folder, self.slot = folder, slot

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed, options)
        return self._begin(self._episode_seed)

    def step(self, action: str) -> Any:
        self._before(action)
        if action == "hang":
            RELEASE.wait(HANG_S)
        return self._after(action)


class AsyncLedger(_Ledger, AsyncEnv):
    """The same, with coroutines."""

    def __init__(self, folder: str, slot: int) -> None:
        self.folder, self.slot = folder, slot

    async def areset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        await super().areset(seed, options)
        await asyncio.sleep(0)
        return self._begin(self._episode_seed)

    async def astep(self, action: str) -> Any:
        self._before(action)
        await asyncio.sleep(HANG_S if action == "hang" else 0)
        return self._after(action)
