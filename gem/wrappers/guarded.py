"""`Guarded`: turns an environment's exceptions into faulted results, so that a rollout goes on.

The rollout driver and the trainers' adapters use it; the vector workers have the same around their loop. Nothing else in the
house catches what an environment raises.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from gem.core import Info, StepResult, Wrapper
from gem.errors import EnvCrashed, ResetNeeded
from gem.events import emit
from gem.faults import Phase, fault_reset, fault_step
from gem.spaces import Messages

__all__ = ["Guarded"]

_log = logging.getLogger("gem.wrappers.guarded")


class Guarded(Wrapper[Any, Any, Any, Any]):
    """Returns a faulted result (`info["error"]`, truncated) where the environment raises.

    A broken environment object is never used again: the next reset builds a new one. A `ResetNeeded` passes, since it is the
    caller's own mistake.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._last_obs: Any = self._empty()
        self._broken = False

    def _empty(self) -> Any:
        return [] if isinstance(self.observation_space, Messages) else ""

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        try:
            if self._broken:
                self._replace()
            return self._begun(*self.env.reset(seed=seed, options=options))
        except Exception as error:
            self._note(error, "reset")
            return fault_reset(self._empty(), error)

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        try:
            if self._broken:
                await self._areplace()
            return self._begun(*await self.env.areset(seed=seed, options=options))
        except Exception as error:
            self._note(error, "reset")
            return fault_reset(self._empty(), error)

    def step(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        if self._broken:
            return self._still_broken()
        try:
            return self._stepped(self.env.step(action))
        except ResetNeeded:
            raise
        except Exception as error:
            self._note(error, "step")
            return fault_step(self._last_obs, error)

    async def astep(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        if self._broken:
            return self._still_broken()
        try:
            return self._stepped(await self.env.astep(action))
        except ResetNeeded:
            raise
        except Exception as error:
            self._note(error, "step")
            return fault_step(self._last_obs, error)

    def own_state(self) -> Any:
        """Return the last observation."""
        return self._last_obs

    def set_own_state(self, state: Any) -> None:
        """Take the last observation."""
        self._last_obs, self._broken = state, False

    def _begun(self, obs: Any, info: Info) -> tuple[Any, Info]:
        self._last_obs = obs
        return obs, info

    def _stepped(self, result: StepResult[Any]) -> StepResult[Any]:
        self._last_obs = result[0]
        return result

    def _still_broken(self) -> StepResult[Any]:
        return fault_step(self._last_obs, EnvCrashed(f"{self._name}: the environment broke before. Call reset, which builds it anew"))

    def _note(self, error: Exception, phase: Phase) -> None:
        self._broken = True
        _log.warning("%s: %s in %s: %s", self._name, type(error).__name__, phase, error)
        _log.debug("where it came from", exc_info=error)
        emit("fault", env_id=self._name, phase=phase, type=type(error).__name__, message=str(error))

    def _replace(self) -> None:
        old = self.env
        with contextlib.suppress(Exception):  # what is broken may well fail to close; its successor must come all the same
            old.close()
        self._succeed(old)

    async def _areplace(self) -> None:
        old = self.env
        with contextlib.suppress(Exception):
            await old.aclose()
        self._succeed(old)

    def _succeed(self, old: Any) -> None:
        self.env = old.spawn()
        self.env.unwrapped.continue_stream(old.unwrapped)
        self._broken = False
        emit("restart", env_id=self._name)
