"""Seeds: how one number becomes the seeds of many episodes, tasks and policies.

Nothing here reads or writes the global state of `random` or `numpy`.
"""

from __future__ import annotations

import secrets
import zlib

from gem.errors import ContractError

__all__ = ["check_seed", "derive", "fresh_seed", "key_seed", "task_seed"]

_OTHER_SPLITS = 1 << 95  # above every seed of the train stream, which is the index itself
_SEED_BITS = 63


def check_seed(seed: int) -> int:
    """Return `seed` as a plain int, or say why it can't be one.

    Raises:
        ContractError: `seed` is not an integer, or is negative.
    """
    try:
        value = seed.__index__()
    except AttributeError:
        raise ContractError(f"seed must be an integer, not {type(seed).__name__} {seed!r:.80}") from None
    if value < 0:
        raise ContractError(f"seed must be 0 or more, not {value}")
    return value


def derive(seed: int, *key: int) -> int:
    """Derive an independent seed in [0, 2**63) for the child `key` of `seed`.

    Source: `numpy.random.SeedSequence(seed, spawn_key=key)`, its first 64-bit word shifted right by one.
    """
    from numpy.random import SeedSequence

    return int(SeedSequence(seed, spawn_key=key).generate_state(1, "uint64")[0] >> 1)


def task_seed(split: str, index: int) -> int:
    """Seed of the content of task `index` of a split; the streams of two splits never meet."""
    if split == "train":
        return index
    return (index << 96) | _OTHER_SPLITS | zlib.crc32(split.encode())


def key_seed(seed: int, key: str) -> int:
    """Seed of the environment that plays task `key` in a run seeded with `seed`."""
    return derive(seed, zlib.crc32(key.encode()), len(key))


def fresh_seed() -> int:
    """Return an unpredictable seed from the operating system."""
    return secrets.randbits(_SEED_BITS)
