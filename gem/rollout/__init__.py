"""Rollouts: agents play environments, and each episode becomes a `Trajectory`.

`agent` says what an agent is, `agents` has some, `driver` lets them play.
"""

from gem.rollout.agent import Agent, AgentAction, EpisodeContext, Session, as_agent
from gem.rollout.driver import arun, run, stream

__all__ = ["Agent", "AgentAction", "EpisodeContext", "Session", "arun", "as_agent", "run", "stream"]
