"""`oracle`: the environment's own reference solution, the ceiling of every benchmark."""

from __future__ import annotations

from typing import Any

from gem.errors import EnvError
from gem.rollout.agent import AgentAction, EpisodeContext, Session
from gem.trajectory import Trajectory

__all__ = ["OracleAgent"]


class OracleAgent:
    """Plays the environment's `oracle_action`."""

    name = "oracle"

    def start(self, context: EpisodeContext) -> Session:
        """Return a session that asks the environment."""
        return _OracleSession(context)


class _OracleSession:
    def __init__(self, context: EpisodeContext) -> None:
        self._context = context

    async def act(self, observation: Any, info: dict[str, Any]) -> AgentAction:
        action = await self._context.call("oracle_action")
        if action is None:
            raise EnvError(f"{self._context.env_id}, task {self._context.task}: its oracle has no next action")
        return AgentAction(action) if isinstance(action, str) else AgentAction("", message=action)

    async def end(self, trajectory: Trajectory) -> None:
        return None
