"""Environments that are simple, slow or broken on purpose, for tests of what runs environments."""

from __future__ import annotations

import asyncio

from gem.core import AsyncEnv, Env, Info, StepResult
from gem.parsing import message_text

__all__ = ["CrashEnv", "EchoEnv", "SlowEnv"]


class EchoEnv(Env):
    """Answers each action with itself, and ends with reward 1 after `turns` turns."""

    def __init__(self, turns: int = 3) -> None:
        self.turns = turns
        self.turn = 0

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin; see `Env.reset`."""
        _, info = super().reset(seed, options)
        self.turn = 0
        return f"say anything ({self.rng.randrange(1000)})", info

    def step(self, action: str) -> StepResult[str]:
        """Echo; see `Env.step`."""
        self.turn += 1
        over = self.turn >= self.turns
        return message_text(action), float(over), over, False, {}


class CrashEnv(EchoEnv):
    """Raises `RuntimeError` at turn `crash_at`, or at reset where that is 0."""

    def __init__(self, crash_at: int = 2, turns: int = 3) -> None:
        super().__init__(turns)
        self.crash_at = crash_at

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin, or crash."""
        if self.crash_at == 0:
            raise RuntimeError("crashed at reset, as asked")
        return super().reset(seed, options)

    def step(self, action: str) -> StepResult[str]:
        """Echo, or crash."""
        if self.turn + 1 == self.crash_at:
            raise RuntimeError(f"crashed at turn {self.crash_at}, as asked")
        return super().step(action)


class SlowEnv(AsyncEnv):
    """Awaits `delay_s` seconds in every call, then does as `EchoEnv`."""

    def __init__(self, delay_s: float = 0.01, turns: int = 3) -> None:
        self.delay_s, self.turns, self.turn = delay_s, turns, 0

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin; see `Env.reset`."""
        _, info = await super().areset(seed, options)
        await asyncio.sleep(self.delay_s)
        self.turn = 0
        return f"say anything ({self.rng.randrange(1000)})", info

    async def astep(self, action: str) -> StepResult[str]:
        """Echo; see `Env.step`."""
        await asyncio.sleep(self.delay_s)
        self.turn += 1
        over = self.turn >= self.turns
        return message_text(action), float(over), over, False, {}
