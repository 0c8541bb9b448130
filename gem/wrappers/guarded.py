"""`Guarded`: turns an environment's exceptions into faulted results, so that a rollout goes on.

The rollout driver and the trainers' adapters use it; the vector workers have the same around their loop. Nothing else in the
house catches what an environment raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError, EnvCrashed, ResetNeeded
from gem.events import emit
from gem.faults import Phase, fault_reset, fault_step
from gem.spaces import Messages

__all__ = ["Guarded"]

_log = logging.getLogger("gem.wrappers.guarded")


class Guarded(Wrapper[Any, Any, Any, Any]):
    """Returns a faulted result (`info["error"]`, truncated) where the environment raises.

    A broken environment object is never used again: the next reset builds a new one. So is one whose call was interrupted or
    cancelled: nobody knows how far it came. A `ResetNeeded` passes, since it is the caller's own mistake.

    Args:
        env: What may raise.
        close_timeout: How many seconds the next reset waits for a broken environment to close; then it is left behind.

    Raises:
        ContractError: `close_timeout` is not a number of seconds.
    """

    def __init__(self, env: Env[Any, Any], close_timeout: float = 5.0) -> None:
        super().__init__(env)
        if not isinstance(close_timeout, (int, float)) or not 0 <= close_timeout <= threading.TIMEOUT_MAX:
            raise ContractError(f"{self._name}: close_timeout must be a number of seconds, not {close_timeout!r:.80}")
        self._close_timeout = close_timeout
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
            self._last_obs = self._empty()
            return fault_reset(self._last_obs, error)
        except BaseException:
            self._broken = True
            raise

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        try:
            if self._broken:
                await self._areplace()
            return self._begun(*await self.env.areset(seed=seed, options=options))
        except Exception as error:
            self._note(error, "reset")
            self._last_obs = self._empty()
            return fault_reset(self._last_obs, error)
        except BaseException:
            self._broken = True
            raise

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
        except BaseException:
            self._broken = True
            raise

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
        except BaseException:
            self._broken = True
            raise

    def get_state(self) -> Any:
        """Return a snapshot of the wrapped environment and of this wrapper.

        Raises:
            ResetNeeded: the environment broke, so that there is no state worth keeping.
        """
        if self._broken:
            raise ResetNeeded(f"{self._name}: the environment broke, and a snapshot of it would be of no use. Call reset first")
        return super().get_state()

    def set_state(self, state: Any) -> None:
        """Continue from a snapshot, on a new environment where this one is broken."""
        if self._broken:
            self._replace()
        super().set_state(state)

    def own_state(self) -> Any:
        """Return the last observation."""
        return self._last_obs

    def set_own_state(self, state: Any) -> None:
        """Take the last observation."""
        self._last_obs = state

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
        # On a thread of its own: what is broken may well hang, and its successor must come all the same.
        closing = threading.Thread(target=_close_quietly, args=(self.env,), name="gem-close", daemon=True)
        closing.start()
        closing.join(self._close_timeout)
        self._succeed()

    async def _areplace(self) -> None:
        closing = asyncio.ensure_future(_aclose_quietly(self.env))
        await asyncio.wait({closing}, timeout=self._close_timeout)
        closing.cancel()  # a no-op where it has ended; not awaited, since it may not heed it
        self._succeed()

    def _succeed(self) -> None:
        old = self.env
        self.env = old.spawn()
        self.env.unwrapped.continue_stream(old.unwrapped)
        self._ctor = ((self.env,), {"close_timeout": self._close_timeout})  # which else would keep the broken one alive
        self._broken = False
        emit("restart", env_id=self._name)


def _close_quietly(env: Env[Any, Any]) -> None:
    with contextlib.suppress(Exception):
        env.close()


async def _aclose_quietly(env: Env[Any, Any]) -> None:
    with contextlib.suppress(Exception):
        await env.aclose()
