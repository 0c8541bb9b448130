"""`Contract`: catches an environment or a caller that breaks the contract, where it happens.

`make` puts it innermost. It looks at types only and costs about a microsecond a step; `gem.testing.check_env` looks deeper.
"""

from __future__ import annotations

from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError, ResetNeeded

__all__ = ["Contract"]

_ENDED, _RUNNING, _NEW = 0, 1, 2
_SCALARS = frozenset({str, int, bool, type(None)})
_MAX_DEPTH = 20


class Contract(Wrapper[Any, Any, Any, Any]):
    """Raises `ContractError` for a breach of the environment, and for a misuse by its caller.

    Raises:
        ResetNeeded: `step` before `reset`, or after the end.
        ContractError: an action that is neither text nor a message; an observation, reward, flag or info of the wrong type; the
            same info dict twice; both ends at once.
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        super().__init__(env)
        self._phase = _NEW
        self._last_info: Info | None = None
        self._obs_type: type[Any] | None = None

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        if options is not None:
            self._check_options(options)
        self._phase = _NEW
        return self._checked_reset(self.env.reset(seed=seed, options=options))

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        if options is not None:
            self._check_options(options)
        self._phase = _NEW
        return self._checked_reset(await self.env.areset(seed=seed, options=options))

    def step(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        if self._phase != _RUNNING or type(action) is not str:
            self._check_call(action)
        return self._checked_step(self.env.step(action))

    async def astep(self, action: Any) -> StepResult[Any]:
        """Play one turn; see `Env.step`."""
        if self._phase != _RUNNING or type(action) is not str:
            self._check_call(action)
        return self._checked_step(await self.env.astep(action))

    def own_state(self) -> Any:
        """Return the phase of the episode and the kind of its observations."""
        return self._phase, self._obs_type

    def set_own_state(self, state: Any) -> None:
        """Take what `own_state` returned."""
        self._phase, self._obs_type = state
        self._last_info = None

    # -- the caller ----------------------------------------------------------------------------------------------------

    def _check_call(self, action: Any) -> None:
        if self._phase == _NEW:
            raise ResetNeeded(f"{self._name}: step before reset. Call reset first")
        if self._phase == _ENDED:
            raise ResetNeeded(f"{self._name}: the episode is over. Call reset before the next step")
        if isinstance(action, str) or (isinstance(action, dict) and isinstance(action.get("content", ""), (str, list, type(None)))):
            return
        if self.env.unwrapped.action_space.contains(action):
            return
        raise ContractError(
            f"{self._name}: an action is the model's text, or its message (a dict with 'content'), not {type(action).__name__} {action!r:.80}"
        )

    def _check_options(self, options: Any) -> None:
        if not isinstance(options, dict):
            raise ContractError(f"{self._name}: reset options must be a dict, not {type(options).__name__} {options!r:.80}")

    # -- the environment -----------------------------------------------------------------------------------------------

    def _checked_reset(self, result: Any) -> tuple[Any, Info]:
        if type(result) is not tuple or len(result) != 2:
            raise self._breach(f"reset must return (observation, info), not {result!r:.80}")
        obs, info = result
        self._obs_type = str if isinstance(obs, str) else type(obs)
        if not isinstance(obs, str):
            self._check_obs(obs)
        self._check_info(info)
        self._phase = _RUNNING
        return obs, info

    def _checked_step(self, result: Any) -> StepResult[Any]:
        if type(result) is not tuple or len(result) != 5:
            raise self._breach(f"step must return (observation, reward, terminated, truncated, info), not {result!r:.80}")
        obs, reward, terminated, truncated, info = result
        if type(obs) is not self._obs_type:
            self._check_obs(obs)
        if type(reward) is not float or reward * 0.0 != 0.0:
            reward = self._checked_reward(reward)
        if terminated is True:
            if truncated is not False:
                self._check_flags(terminated, truncated)
            self._phase = _ENDED
        elif truncated is True:
            self._phase = _ENDED
        elif terminated is not False or truncated is not False:
            self._check_flags(terminated, truncated)
        if type(info) is not dict or info is self._last_info:
            self._check_info(info)
        self._last_info = info
        for value in info.values():
            if type(value) not in _SCALARS:
                self._check_info(info, fresh=False)
                break
        return obs, reward, terminated, truncated, info

    def _check_obs(self, obs: Any) -> None:
        kind = str if isinstance(obs, str) else type(obs)
        if kind is not self._obs_type:
            raise self._breach(
                f"an observation of type {kind.__name__} after one of {getattr(self._obs_type, '__name__', None)}: one kind for its whole life"
            )
        if kind is not str and not self.env.unwrapped.observation_space.contains(obs):
            raise self._breach(f"the observation {obs!r:.80} is not in {self.env.unwrapped.observation_space}")

    def _checked_reward(self, reward: Any) -> float:
        if type(reward) is float:
            raise self._breach(f"reward {reward} is not finite")
        if type(reward) is int:
            return float(reward)
        raise self._breach(f"reward must be a float, not {type(reward).__name__} {reward!r:.80}")

    def _check_flags(self, terminated: Any, truncated: Any) -> None:
        if terminated is True and truncated is True:
            raise self._breach("terminated and truncated are both true: an episode ends in one way")
        raise self._breach(f"terminated and truncated must be bools, not {terminated!r:.80} and {truncated!r:.80}")

    def _check_info(self, info: Any, *, fresh: bool = True) -> None:
        if type(info) is not dict:
            raise self._breach(f"info must be a dict, not {type(info).__name__}")
        if fresh and info is self._last_info:
            raise self._breach("info is the same dict as last time: return a fresh one, since callers keep it")
        self._last_info = info
        self._walk(info, "info", 0)

    def _walk(self, value: Any, where: str, depth: int) -> None:
        kind = type(value)
        if kind in _SCALARS:
            return
        if kind is float:
            if value * 0.0 != 0.0:
                raise self._breach(f"{where} is {value}, which JSON can't hold")
        elif depth > _MAX_DEPTH:
            raise self._breach(f"{where} is nested deeper than {_MAX_DEPTH}, or holds itself")
        elif kind is dict:
            for key, item in value.items():
                if type(key) is not str:
                    raise self._breach(f"{where} has the key {key!r:.40}, which is not a string")
                self._walk(item, f"{where}[{key!r:.40}]", depth + 1)
        elif kind in (list, tuple):
            for item in value:
                self._walk(item, f"an item of {where}", depth + 1)
        else:
            raise self._breach(f"{where} is a {kind.__module__}.{kind.__name__}, which JSON can't hold")

    def _breach(self, what: str) -> ContractError:
        return ContractError(f"{self._name}: {what}")
