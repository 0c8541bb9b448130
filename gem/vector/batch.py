"""`Batch`: what a `recv` returns, a row per thing that happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "Kind", "Row"]

Kind: TypeAlias = Literal["step", "reset", "call"]


class Row(NamedTuple):
    """One thing that happened in a slot.

    A reset and a call have reward 0 and no flags, but a failed one is truncated and has `info["error"]`; the value of a call is
    `info["value"]`. `actionable` says whether the slot waits for an action now.
    """

    slot: int
    episode_id: int
    obs: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    kind: Kind
    actionable: bool


@dataclass(frozen=True)
class Batch:
    """Rows in the order in which they came in, as columns.

    Attributes:
        slots: Which environment, shape `(n,)`.
        episode_ids: Which episode, unique in a vector, shape `(n,)`.
        obs: Observations.
        reward, terminated, truncated: Shape `(n,)`.
        info: A dict per row.
        kind: `step`, `reset` or `call`.
        actionable: Whether the slot waits for an action; False where its reset is under way or there is none to come.
    """

    slots: NDArray[np.int32]
    episode_ids: NDArray[np.int64]
    obs: list[Any]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    info: list[dict[str, Any]]
    kind: list[Kind]
    actionable: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: list[Row]) -> Batch:
        """Turn rows into columns."""
        slots, ids, obs, reward, terminated, truncated, info, kind, actionable = zip(*rows, strict=True) if rows else ((),) * 9
        return cls(
            np.array(slots, np.int32),
            np.array(ids, np.int64),
            list(obs),
            np.array(reward, np.float64),
            np.array(terminated, np.bool_),
            np.array(truncated, np.bool_),
            list(info),
            list(kind),
            np.array(actionable, np.bool_),
        )

    @property
    def ok(self) -> NDArray[np.bool_]:
        """False for rows that a fault made: no training data. Shape `(n,)`."""
        return np.array(["error" not in info for info in self.info], np.bool_)

    def unzip(self) -> tuple[list[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], list[dict[str, Any]]]:
        """Return the five columns that `step` returns."""
        return self.obs, self.reward, self.terminated, self.truncated, self.info

    def __len__(self) -> int:
        return len(self.obs)

    def __iter__(self) -> Iterator[Row]:
        columns = (self.slots.tolist(), self.episode_ids.tolist(), self.obs, self.reward.tolist(), self.terminated.tolist())
        rest = (self.truncated.tolist(), self.info, self.kind, self.actionable.tolist())
        return (Row(*row) for row in zip(*columns, *rest, strict=True))
