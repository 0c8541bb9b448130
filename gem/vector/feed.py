"""`Feed`: which episode a slot plays next.

Every choice follows from the seed, the slot and the number of the episode in it, so that it depends neither on who was first
nor on the backend. A list of tasks is the exception: it is dealt out in order, as slots become free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gem.errors import ContractError
from gem.seeding import derive, fresh_seed
from gem.vector.mixture import Shares

__all__ = ["Episode", "Feed", "shares_seed"]

# Seeds of tasks and mixtures are apart from those of slots.
_TASKS = 2**32 - 1
_SHARES = 2**32 - 2


@dataclass(frozen=True)
class Episode:
    """An episode to play: its number in the vector, the environment, its seed and its options."""

    id: int
    source: int
    seed: int | None
    options: dict[str, Any] | None


def shares_seed(seed: int, slot: int) -> int:
    """Return the seed of a slot's mixture."""
    return derive(seed, _SHARES, slot)


class Feed:
    """Deals out episodes.

    Args:
        num_envs: How many slots there are.
        seed: Of everything; None: an unpredictable one.
        shares: Picks the environment of each episode.
        tasks: Reset options, dealt out in order; None: endless episodes by seed.
    """

    def __init__(self, num_envs: int, seed: int | None, shares: Sequence[Shares], tasks: Iterable[Mapping[str, Any]] | None = None) -> None:
        self._seed = fresh_seed() if seed is None else seed
        self._shares = shares
        self._counts = [0] * num_envs  # of episodes since the last seed
        self._begun = [0] * num_envs  # of episodes ever
        self._tasks: Iterator[Mapping[str, Any]] | None = None if tasks is None else iter(tasks)
        self._dealt = 0
        # Episodes that a resumed run has to play again, by slot.
        self._again: dict[int, Episode] = {}

    def reseed(self, seed: int) -> None:
        """Begin anew from another seed."""
        self._seed = seed
        self._counts = [0] * len(self._counts)
        self._again = {}
        for slot, share in enumerate(self._shares):
            share.restart(shares_seed(seed, slot))

    def next(self, slot: int) -> Episode | None:
        """Return the next episode of a slot, or None where the tasks are used up.

        Raises:
            ContractError: a task is not a mapping.
            Exception: what the caller's iterable of tasks raises.
        """
        if slot in self._again:
            return self._again.pop(slot)
        if self._tasks is not None:
            options = next(self._tasks, None)
            if options is None:
                return None
            self._dealt += 1
            if not isinstance(options, Mapping):
                raise ContractError(
                    f"task {self._dealt - 1} must be a mapping of reset options, such as {{'task': key}}, not {options!r:.80}"
                )
            seed = derive(self._seed, _TASKS, self._dealt - 1)
        else:
            options, seed = None, derive(self._seed, slot, self._counts[slot])
        return self._episode(slot, seed, options)

    def own(self, slot: int, seed: int | None, options: Mapping[str, Any] | None) -> Episode:
        """Return an episode of the caller's choice. It counts as one of the slot's, but takes no task."""
        return self._episode(slot, derive(self._seed, slot, self._counts[slot]) if seed is None else seed, options)

    def _episode(self, slot: int, seed: int, options: Mapping[str, Any] | None) -> Episode:
        id = self._begun[slot] * len(self._begun) + slot
        self._counts[slot] += 1
        self._begun[slot] += 1
        return Episode(id, self._shares[slot].next(), seed, None if options is None else dict(options))

    def played(self, slot: int, turns: int) -> None:
        """Note the turns of an episode that has ended."""
        self._shares[slot].played(turns)

    def state_dict(self, current: Mapping[int, Episode]) -> dict[str, Any]:
        """Return what `load_state_dict` goes on from; `current` are the episodes that were begun and not finished."""
        unfinished = {**current, **self._again}
        return {
            "seed": self._seed,
            "counts": list(self._counts),
            "begun": list(self._begun),
            "dealt": self._dealt,
            "shares": [share.state() for share in self._shares],
            "unfinished": {str(slot): asdict(episode) for slot, episode in unfinished.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken; what was unfinished is played again, from its beginning.

        Raises:
            ContractError: the state is of a vector with another number of environments, or episodes were begun already.
        """
        if len(state["counts"]) != len(self._counts):
            raise ContractError(f"the state is of {len(state['counts'])} environments, this vector has {len(self._counts)}")
        if any(self._begun):
            raise ContractError("episodes were begun already: load a state into a new vector, before its first reset")
        self._seed, self._counts, self._begun = state["seed"], list(state["counts"]), list(state["begun"])
        if self._tasks is not None:
            for _ in range(state["dealt"] - self._dealt):
                next(self._tasks, None)
        self._dealt = state["dealt"]
        for share, found in zip(self._shares, state["shares"], strict=True):
            share.load(found)
        self._again = {int(slot): Episode(**episode) for slot, episode in state["unfinished"].items()}
