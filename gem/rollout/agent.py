"""What an agent is: it starts a session for each episode, and the session acts."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from gem.errors import ContractError, RegistrationError
from gem.trajectory import Call, Trajectory

__all__ = ["Act", "Agent", "AgentAction", "EpisodeContext", "Session", "as_agent"]


@dataclass(frozen=True)
class AgentAction:
    """What an agent answers: its text, its message where the endpoint gives one, and its tokens where it is known."""

    text: str
    message: dict[str, Any] | None = None
    prompt_ids: list[int] | None = None
    token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    finish_reason: str | None = None
    policy_version: int | str | None = None

    def calls(self) -> list[Call]:
        """Return the model's call behind this action, or nothing where no model is."""
        if self.token_ids is None and self.finish_reason is None:
            return []
        mask = None if self.token_ids is None else [1] * len(self.token_ids)
        return [
            Call(
                prompt_ids=self.prompt_ids,
                completion_ids=self.token_ids,
                mask=mask,
                logprobs=self.logprobs,
                finish_reason=self.finish_reason,
                policy_version=self.policy_version,
            )
        ]


@dataclass(frozen=True)
class EpisodeContext:
    """The episode that a session is for.

    Attributes:
        env_id: The environment's id.
        task: Key of the task.
        sample: Which of the samples of this task it is, from 0.
        seed: The agent's own seed: it differs between samples, where the environment's is the same.
        group: Name that the samples of one task share.
        call: `await call(name, *args)` calls a method of the environment, wherever that runs.
    """

    env_id: str
    task: str
    sample: int
    seed: int
    group: str
    call: Callable[..., Awaitable[Any]] = field(repr=False)


@runtime_checkable
class Session(Protocol):
    """Plays one episode."""

    async def act(self, observation: Any, info: dict[str, Any]) -> AgentAction:
        """Answer an observation."""

    async def end(self, trajectory: Trajectory) -> None:
        """Hear how the episode went."""


@runtime_checkable
class Agent(Protocol):
    """Starts a session for each episode; `name` stands in results."""

    name: str

    def start(self, context: EpisodeContext) -> Session:
        """Return a session for the episode of `context`."""


Act = Callable[[Any, dict[str, Any]], Awaitable["AgentAction | str"]]


class _BareSession:
    def __init__(self, act: Act) -> None:
        self._act = act

    async def act(self, observation: Any, info: dict[str, Any]) -> AgentAction:
        coming = self._act(observation, info)
        if not inspect.isawaitable(coming):
            raise ContractError(f"{self._act!r:.80} returned {type(coming).__name__}: an agent is an async function, or has start(context)")
        answer = await coming
        return AgentAction(answer) if isinstance(answer, str) else answer

    async def end(self, trajectory: Trajectory) -> None:
        return None


class _BareAgent:
    def __init__(self, act: Act) -> None:
        self.name = getattr(act, "__name__", type(act).__name__)
        self._act = act

    def start(self, context: EpisodeContext) -> Session:
        return _BareSession(self._act)


def as_agent(agent: Agent | Act) -> Agent:
    """Return `agent`, or an agent around a bare `async def act(observation, info)`.

    Raises:
        RegistrationError: it is neither.
    """
    if isinstance(agent, type):
        raise RegistrationError(f"an agent is an object, and {agent.__name__} is a class: pass {agent.__name__}(...)")
    if isinstance(agent, Agent):
        return agent
    if callable(agent):
        return _BareAgent(agent)
    raise RegistrationError(f"an agent has start(context), or is an async function act(observation, info); {agent!r:.80} is neither")
