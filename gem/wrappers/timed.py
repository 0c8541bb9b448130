"""`Timed`: wall times of an environment's calls, for `make(..., timing=True)`."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from gem.core import Info, StepResult, Wrapper

__all__ = ["Timed"]


class Timed(Wrapper[Any, Any, Any, Any]):
    """Adds `info["timing"]["reset_s"]` or `["step_s"]`, in seconds."""

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        start = perf_counter()
        obs, info = self.env.reset(seed=seed, options=options)
        return obs, _with(info, "reset_s", start)

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        start = perf_counter()
        obs, info = await self.env.areset(seed=seed, options=options)
        return obs, _with(info, "reset_s", start)

    def step(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        start = perf_counter()
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated, truncated, _with(info, "step_s", start)

    async def astep(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        start = perf_counter()
        obs, reward, terminated, truncated, info = await self.env.astep(action)
        return obs, reward, terminated, truncated, _with(info, "step_s", start)


def _with(info: Info, name: str, start: float) -> Info:
    return {**info, "timing": {**info.get("timing", {}), name: perf_counter() - start}}
