"""`RecordEpisode`: writes every episode as one line of JSON (`gem.trajectory`)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import Any

from gem.core import Env, Info, StepResult, Wrapper
from gem.errors import ContractError, EnvError
from gem.faults import ErrorInfo
from gem.trajectory import Trajectory, write_trajectories

__all__ = ["RecordEpisode"]


class RecordEpisode(Wrapper[Any, Any, Any, Any]):
    """Records episodes as the caller of this wrapper sees them.

    An episode that a reset or close cuts off after its first turn is recorded too, as not valid, and so is a failed reset. What is
    recorded is copied at once: a caller may go on to change the observations, actions and infos that it has.

    Args:
        env: What is played.
        path: JSON-lines file that each episode is appended to; its folder is made.
        on_episode: Called with each trajectory.
        agent: Name of who plays.

    Raises:
        ContractError: `path` is not a path, or `on_episode` not a function.
    """

    def __init__(
        self,
        env: Env[Any, Any],
        path: str | PathLike[str] | None = None,
        on_episode: Callable[[Trajectory], object] | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(env)
        if path is not None and not isinstance(path, (str, PathLike)):
            raise ContractError(f"{self._name}: path must be a path, not {type(path).__name__} {path!r:.80}")
        if on_episode is not None and not callable(on_episode):
            raise ContractError(f"{self._name}: on_episode must be a function, not {type(on_episode).__name__} {on_episode!r:.80}")
        self._path = None if path is None else Path(path)
        self._on_episode, self._agent = on_episode, agent
        self._episode: Trajectory | None = None
        self._obs: Any = None

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        self._cut_off()
        return self._begin(seed, *self.env.reset(seed=seed, options=options))

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode; see `Env.reset`."""
        self._cut_off()
        return self._begin(seed, *await self.env.areset(seed=seed, options=options))

    def on_step(self, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[Any]:
        """Record the turn, and the episode at its end."""
        if self._episode is not None:
            self._episode.add_turn(self._obs, deepcopy(action), reward, terminated, truncated, deepcopy(info))
            self._obs = deepcopy(obs)
            if terminated or truncated:
                self._finish()
        return obs, reward, terminated, truncated, info

    def close(self) -> None:
        """Record what is left, and close the environment."""
        self._cut_off()
        self.env.close()

    async def aclose(self) -> None:
        """Record what is left, and close the environment."""
        self._cut_off()
        await self.env.aclose()

    def own_state(self) -> Any:
        """Return nothing: a restored episode is not the one that was being recorded."""
        return None

    def set_own_state(self, state: Any) -> None:
        """Drop the recording: its turns are not those that led to the restored state."""
        self._episode = None

    def _begin(self, seed: int | None, obs: Any, info: Info) -> tuple[Any, Info]:
        spec = self.env_spec
        task = info.get("task") or self.task_key or None
        self._episode = Trajectory(
            env_id=self._name,
            env_version=spec.info.version if spec is not None else 1,
            split=task.partition("/")[0] if task else self.split,
            task=task,
            seed=seed,
            agent=self._agent,
        )
        self._obs = deepcopy(obs)
        if "error" in info:
            self._episode.error, self._episode.valid, self._episode.truncated = deepcopy(info["error"]), False, True
            self._finish()
        return obs, info

    def _cut_off(self) -> None:
        if self._episode is not None and self._episode.turns:
            self._episode.fail(ErrorInfo.of(EnvError("the episode was left before its end"), "step"))
            self._finish()
        self._episode = None

    def _finish(self) -> None:
        episode, self._episode = self._episode, None
        if episode is None:
            return
        episode.final_observation = self._obs
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_trajectories(self._path, [episode])
        if self._on_episode is not None:
            self._on_episode(episode)
