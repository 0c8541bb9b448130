"""`random`: well-formed random actions, the floor of every benchmark."""

from __future__ import annotations

from typing import Any

from gem.rollout.agent import AgentAction, EpisodeContext, Session
from gem.trajectory import Trajectory

__all__ = ["RandomAgent"]


class RandomAgent:
    """Plays the environment's `sample_random_action`, seeded per sample."""

    name = "random"

    def start(self, context: EpisodeContext) -> Session:
        """Return a session that draws from the context's seed."""
        return _RandomSession(context)


class _RandomSession:
    def __init__(self, context: EpisodeContext) -> None:
        self._context = context
        self._seeded = False

    async def act(self, observation: Any, info: dict[str, Any]) -> AgentAction:
        if not self._seeded:
            await self._context.call("seed_actions", self._context.seed)
            self._seeded = True
        action = await self._context.call("sample_random_action")
        return AgentAction(action) if isinstance(action, str) else AgentAction("", message=action)

    async def end(self, trajectory: Trajectory) -> None:
        return None
