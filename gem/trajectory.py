"""Trajectories: one episode as data, the same for recording, evaluation, replay and export.

One trajectory is one JSON line (schema 1). Readers pass over unknown fields; `schema` rises on any other change, and every
older one stays readable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec

from gem.errors import GemError
from gem.faults import ErrorInfo
from gem.parsing import message_text

__all__ = ["SCHEMA", "Call", "Trajectory", "Turn", "read_trajectories", "write_trajectories"]

SCHEMA = 1


class Call(msgspec.Struct, kw_only=True):
    """One call of a model, token-exact; a field is None where the endpoint did not say.

    `mask` has a 1 for each completion token that the model chose, and `logprobs` its natural logarithms.
    """

    prompt_ids: list[int] | None = None
    completion_ids: list[int] | None = None
    mask: list[int] | None = None
    logprobs: list[float] | None = None
    finish_reason: str | None = None
    policy_version: int | str | None = None


class Turn(msgspec.Struct, kw_only=True):
    """One turn: the observation that the agent saw, what it did, and what came of it."""

    index: int
    observation: Any
    action: str | None = None
    message: dict[str, Any] | None = None
    calls: list[Call] = []
    reward: float = 0.0
    info: dict[str, Any] = {}
    error: dict[str, Any] | None = None
    timing: dict[str, float] = {}


class Trajectory(msgspec.Struct, kw_only=True):
    """One episode. `reward` is the sum over the turns; `valid` is False where a fault cut it off."""

    schema: int = SCHEMA
    env_id: str
    env_version: int = 1
    split: str = "train"
    task: str | None = None
    sample: int = 0
    seed: int | None = None
    group: str | None = None
    agent: str = ""
    success: bool | None = None
    reward: float = 0.0
    valid: bool = True
    error: dict[str, Any] | None = None
    terminated: bool = False
    truncated: bool = False
    metrics: dict[str, int | float] = {}
    turns: list[Turn] = []
    final_observation: Any = None
    timing: dict[str, float] = {}

    def add_turn(
        self,
        observation: Any,
        action: Any,
        reward: float,
        terminated: bool,
        truncated: bool,
        info: dict[str, Any],
        *,
        calls: list[Call] | None = None,
    ) -> Turn:
        """Append a turn and take its end, success, metrics and fault over.

        Args:
            observation: What the agent saw before it acted.
            action: Its text, or its message.
            reward: Of this turn; a fault's placeholder counts for nothing.
            terminated: The task's own end.
            truncated: Ended by a limit or a fault.
            info: Of the step.
            calls: The model's calls behind the action.
        """
        error = info.get("error")
        kept = {name: value for name, value in info.items() if name not in ("error", "timing")}
        turn = Turn(
            index=len(self.turns),
            observation=observation if isinstance(observation, str) else deepcopy(observation),
            action=message_text(action),
            message=action if isinstance(action, dict) else None,
            calls=calls or [],
            reward=reward,
            info=kept,
            error=error,
            timing=info.get("timing", {}),
        )
        self.turns.append(turn)
        self.reward += reward
        self.terminated, self.truncated = terminated, truncated
        self.metrics.update(info.get("metrics", {}))
        if "success" in info:
            self.success = info["success"]
        if error is not None:
            self.error, self.valid, self.success = error, False, None
        return turn

    def fail(self, error: ErrorInfo) -> None:
        """Mark the episode as cut off by a fault: it is not a result, and its reward counts for nothing."""
        self.error = error.to_json()
        self.valid, self.terminated, self.truncated, self.success = False, False, True, None

    def to_json(self) -> str:
        """Return the trajectory as one line of JSON.

        Raises:
            GemError: a reward is not finite.
        """
        if not all(math.isfinite(turn.reward) for turn in self.turns):
            raise GemError(f"{self.env_id}, task {self.task}: a reward is not finite")
        try:
            return msgspec.json.encode(self).decode()
        except UnicodeEncodeError:
            # A model's text may hold half of a surrogate pair, which UTF-8 can't.
            return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(self))).decode()

    @classmethod
    def from_json(cls, line: str | bytes) -> Trajectory:
        """Read a line that `to_json` wrote, of this schema or an older one.

        Raises:
            GemError: the line is not a trajectory, or its schema is newer than this version reads.
        """
        try:
            found = msgspec.json.decode(line, type=cls)
        except (msgspec.DecodeError, msgspec.ValidationError) as why:
            raise GemError(f"not a trajectory line: {why}") from None
        if found.schema > SCHEMA:
            raise GemError(f"trajectory schema {found.schema} is newer than {SCHEMA}, the newest that this version reads: upgrade gem-gym")
        return found


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


def write_trajectories(path: str | Path, trajectories: Iterable[Trajectory]) -> None:
    """Append trajectories to a JSON-lines file."""
    with open(path, "a", encoding="utf-8") as file:
        for trajectory in trajectories:
            file.write(trajectory.to_json() + "\n")


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSON-lines file.

    Raises:
        GemError: a line cannot be read; its number is named.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield Trajectory.from_json(line)
                except GemError as why:
                    raise GemError(f"{path}:{number}: {why}") from None
