"""Which slots a caller means, and whether what it gives fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from gem.errors import ContractError

__all__ = ["checked_seed", "chosen_slots", "resets", "slots_of"]


def chosen_slots(slots: Sequence[int] | None, num_envs: int) -> list[int]:
    """Return the numbers of the slots; all where none are named.

    Raises:
        ContractError: one is unknown, named twice or not a number.
    """
    if slots is None:
        return list(range(num_envs))
    try:
        chosen = [index(number) for number in slots]
    except TypeError:
        raise ContractError(f"slots are whole numbers from 0 to {num_envs - 1}, not {slots!r:.80}") from None
    unknown = [number for number in chosen if not 0 <= number < num_envs]
    if unknown:
        raise ContractError(f"no slot {unknown[0]}: there are slots 0 to {num_envs - 1}")
    if len(set(chosen)) != len(chosen):
        raise ContractError(f"slot {next(n for n in chosen if chosen.count(n) > 1)} is named twice")
    return chosen


def slots_of(actions: Sequence[Any] | Mapping[int, Any], slots: Sequence[int] | None, num_envs: int) -> list[int]:
    """Return the slots that actions are for.

    Raises:
        ContractError: there are too many or too few, or they are no sequence.
    """
    if isinstance(actions, Mapping):
        if slots is not None:
            raise ContractError("actions by slot name their slots themselves: leave slots= out")
        return chosen_slots(list(actions), num_envs)
    if isinstance(actions, (str, bytes)) or not hasattr(actions, "__len__"):
        raise ContractError(f"actions must be a sequence with one action per slot, or a dict by slot, not {actions!r:.40}")
    chosen = chosen_slots(slots, num_envs)
    if len(actions) != len(chosen):
        raise ContractError(f"{len(actions)} actions for {len(chosen)} slots")
    return chosen


def resets(
    slots: Sequence[int] | None, seed: Any, options: Any, num_envs: int
) -> tuple[int | None, list[tuple[int, int | None, Mapping[str, Any] | None]]]:
    """Return the seed that is for the whole vector, if one is, and `(slot, seed, options)` of each reset.

    Raises:
        ContractError: a slot is unknown, a seed is none, or there are too many or too few of them.
    """
    chosen = chosen_slots(slots, num_envs)
    anew = checked_seed(seed) if hasattr(seed, "__index__") else None
    seeds = _spread("seed", None if anew is not None else seed, int, len(chosen))
    each = _spread("options", options, Mapping, len(chosen))
    return anew, list(zip(chosen, map(checked_seed, seeds), each, strict=True))


def _spread(name: str, given: Any, kind: type[Any], count: int) -> list[Any]:
    if given is None or isinstance(given, kind):
        return [given] * count
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise ContractError(f"{name} must be one for all slots or a sequence with one per slot, not {given!r:.80}")
    if len(given) != count:
        raise ContractError(f"{len(given)} values of {name} for {count} slots")
    return list(given)


def checked_seed(seed: Any) -> int | None:
    """Return a seed as an `int`.

    Raises:
        ContractError: it is not a whole number of 0 or more.
    """
    if seed is None:
        return None
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ContractError(f"a seed is a whole number of 0 or more, not {seed!r:.80}")
    return number
