"""What travels between a `VectorEnv` and what runs its environments.

A command has a ticket; a result carries the ticket of the command that it answers. A result whose ticket is not the slot's
current one is late, and dropped: nothing can come out of step. Knows nothing of how the two sides are connected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from gem.errors import EnvCrashed
from gem.specs import EnvSpec

__all__ = ["Blueprint", "Command", "Executor", "Lost", "Op", "Report", "Result", "tellable"]

Op: TypeAlias = Literal["reset", "step", "call"]


@dataclass(frozen=True)
class Blueprint:
    """How the environment of a slot is built: what `make` is called with.

    `sources` has more than one entry where a mixture may put different environments into the slot; a reset names which.
    """

    sources: tuple[EnvSpec, ...]
    kwargs: tuple[Mapping[str, Any], ...]
    wrappers: Sequence[Any] | str = ()

    def build(self, source: int) -> Any:
        """Make the environment of `source`."""
        from gem.envs.registration import make

        return make(self.sources[source], wrappers=self.wrappers, **self.kwargs[source])


class Command(NamedTuple):
    """One call on the environment of a slot.

    `data` is the action of a step, `(source, seed, options)` of a reset, and `(name, args, kwargs)` of a call.
    """

    ticket: int
    slot: int
    op: Op
    data: Any = None


class Result(NamedTuple):
    """What a command returned, or the fault that it became.

    `data` is `(observation, reward, terminated, truncated, info)` of a step, `(observation, info)` of a reset, and the value of
    a call. `broken` says that the environment object is given up: the next reset builds another.
    """

    ticket: int
    slot: int
    op: Op
    data: Any
    elapsed_s: float = 0.0
    broken: bool = False
    error: BaseException | None = None


@dataclass(frozen=True)
class Lost:
    """The environments of these slots are gone, with whatever they were doing.

    `guilty` are the slots that may have done it: a fault of theirs. The others lost their environment to a neighbour.
    """

    slots: tuple[int, ...]
    error: BaseException
    guilty: frozenset[int] = frozenset()


Report: TypeAlias = Result | Lost


def tellable(error: BaseException) -> BaseException:
    """Return `error`, or another in its place where its own text can't be had."""
    try:
        str(error)
    except Exception:
        return EnvCrashed(f"{type(error).__name__}, whose text can't be shown")
    return error


class Executor(Protocol):
    """Runs commands somewhere. The only thing that a backend has to provide.

    Attributes:
        waiting: It does nothing but wait (`sync`: for an environment), so that Ctrl-C leaves nothing half done. What is raised then
            leaves it set.
    """

    waiting: bool

    def start(self, blueprints: Sequence[Blueprint]) -> None:
        """Take slots 0, 1, ... on; environments are built by their first reset."""

    def submit(self, commands: Sequence[Command]) -> None:
        """Begin commands, at most one per slot at a time. Never blocks on an environment."""

    def poll(self, timeout_s: float | None) -> list[Report]:
        """Return what has happened; wait for the first report up to `timeout_s` seconds, None for ever."""
        raise NotImplementedError  # a protocol

    def abandon(self, slot: int, error: BaseException) -> None:
        """Give the environment of a slot up while a command runs on it. What is lost with it is reported by `poll`."""

    def began(self, slot: int, sent: float) -> float:
        """Return since when the slot's command, sent at `sent`, may be held to have run, by the monotonic clock.

        That is now while it waits for other slots.
        """
        raise NotImplementedError  # a protocol

    def wake(self) -> None:
        """Let a `poll` that waits on another thread return, or the next one if none does. From any thread."""

    def disown(self) -> None:
        """In a forked child: let go of what is the parent's, and do nothing to it."""

    def close(self, timeout_s: float) -> None:
        """Close the environments and free everything, within `timeout_s` seconds where the environments let it."""
