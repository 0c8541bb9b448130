"""`Contract`: catches an environment or a caller that breaks the contract, where it happens.

`make` puts it innermost. It looks at types only and costs about a microsecond a step; `gem.testing.check_env` looks deeper.
"""

from __future__ import annotations

from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError, ResetNeeded
from gem.spaces import Messages

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
        self._obs_type: type[Any] | None = None  # of all its life: a reset does not change it

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

    def sample_random_action(self) -> Any:
        """Return the environment's random action."""
        return self.env.sample_random_action()

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
        if self.env.action_space.contains(action):
            return
        raise ContractError(
            f"{self._name}: an action is the model's text or message (a dict with 'content'), not {type(action).__name__} {action!r:.80}"
        )

    def _check_options(self, options: Any) -> None:
        if not isinstance(options, dict):
            raise ContractError(f"{self._name}: reset options must be a dict, not {type(options).__name__} {options!r:.80}")

    # -- the environment -----------------------------------------------------------------------------------------------

    def _checked_reset(self, result: Any) -> tuple[Any, Info]:
        if type(result) is not tuple or len(result) != 2:
            raise self._breach(f"reset must return (observation, info), not {result!r:.80}")
        obs, info = result
        if type(obs) is not str or self._obs_type is not str:
            self._check_obs(obs)
        if type(info) is not dict or info is self._last_info:
            self._check_info(info)
        self._last_info = info
        if info:
            self._check_items(info)
        self._phase = _RUNNING
        return obs, info

    def _checked_step(self, result: Any) -> StepResult[Any]:
        if type(result) is not tuple or len(result) != 5:
            raise self._breach(f"step must return (observation, reward, terminated, truncated, info), not {result!r:.80}")
        obs, reward, terminated, truncated, info = result
        if type(obs) is not str or self._obs_type is not str:
            self._check_obs(obs)
        if type(reward) is not float or reward * 0.0 != 0.0:
            self._check_reward(reward)
        if terminated is True:
            if truncated is not False:
                self._check_flags(terminated, truncated)
            self._phase = _ENDED
        elif terminated is not False or (truncated is not False and truncated is not True):
            self._check_flags(terminated, truncated)
        elif truncated:
            self._phase = _ENDED
        if type(info) is not dict or info is self._last_info:
            self._check_info(info)
        self._last_info = info
        if info:
            self._check_items(info)
        return result

    def _check_obs(self, obs: Any) -> None:
        kind = str if isinstance(obs, str) else type(obs)
        if self._obs_type is not None and kind is not self._obs_type:
            raise self._breach(
                f"an observation of type {kind.__name__} after one of {self._obs_type.__name__}: one kind for its whole life"
            )
        space = self.env.observation_space
        fits = not isinstance(space, Messages) if kind is str else space.contains(obs)
        if not fits:
            raise self._breach(f"the observation {obs!r:.80} is not in {space}")
        self._obs_type = kind

    def _check_reward(self, reward: Any) -> None:
        if type(reward) is float:
            raise self._breach(f"reward {reward} is not finite")
        raise self._breach(f"reward must be a float, not {type(reward).__name__} {reward!r:.80}")

    def _check_flags(self, terminated: Any, truncated: Any) -> None:
        if terminated is True and truncated is True:
            raise self._breach("terminated and truncated are both true: an episode ends in one way")
        raise self._breach(f"terminated and truncated must be bools, not {terminated!r:.80} and {truncated!r:.80}")

    def _check_info(self, info: Any) -> None:
        if type(info) is not dict:
            raise self._breach(f"info must be a dict, not {type(info).__name__}")
        raise self._breach("info is the same dict as last time: return a fresh one, since callers keep it")

    def _check_items(self, info: Info) -> None:
        for key, value in info.items():
            if type(key) is not str or type(value) not in _SCALARS:
                fault = _unlike_json({key: value}, 0)
                if fault is not None:
                    raise self._breach(f"info{fault}")

    def _breach(self, what: str) -> ContractError:
        return ContractError(f"{self._name}: {what}")


def _unlike_json(value: Any, depth: int) -> str | None:
    """Say what in `value` JSON can't hold, from where it is, or return None. By type alone: it runs at every step."""
    kind = type(value)
    if kind in _SCALARS or (kind is float and value * 0.0 == 0.0):
        return None
    if depth > _MAX_DEPTH:
        return f" is nested deeper than {_MAX_DEPTH}, or holds itself"
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                return f" has the key {key!r:.40}, which is not a string"
            fault = _unlike_json(item, depth + 1)
            if fault is not None:
                return f"[{key!r:.40}]{fault}"
        return None
    if kind in (list, tuple):
        for n, item in enumerate(value):
            fault = _unlike_json(item, depth + 1)
            if fault is not None:
                return f"[{n}]{fault}"
        return None
    return f" is {value}, which JSON can't hold" if kind is float else f" is a {kind.__module__}.{kind.__name__}, which JSON can't hold"
