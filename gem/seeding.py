"""Seeds: how one number becomes the seeds of many episodes, tasks and policies.

Nothing here reads or writes the global state of `random` or `numpy`.
"""

from __future__ import annotations

import _random
import random
import secrets
import struct
import zlib
from hashlib import blake2b
from typing import Any

__all__ = ["QuickRandom", "derive", "fresh_seed", "key_seed", "task_seed"]

_OTHER_SPLITS = 1 << 95  # above every seed of the train stream, which is the index itself
_SEED_BITS = 63
_WORDS = struct.Struct("<8Q")
_TO_FLOAT = 2.0**-53
_twister_random, _twister_bits, _twister_seed = _random.Random.random, _random.Random.getrandbits, _random.Random.seed


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


class QuickRandom(random.Random):
    """A `random.Random` that is seeded in no time.

    Seeding the Mersenne twister costs as much as three turns of a small game, and most episodes draw a few numbers. Here the
    first eight draws come from a hash of the seed (BLAKE2b, 64 bits each); only the ninth seeds the twister.
    """

    # What is left of the hash; None once the twister has taken over.
    _words: list[int] | None = None
    _first = 0

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Begin anew from the integer `a`, or from the operating system's randomness."""
        self._first = fresh_seed() if a is None else a
        self._words = list(_WORDS.unpack(blake2b(b"%x" % self._first).digest()))
        self.gauss_next = None

    def random(self) -> float:
        """Return the next float in [0, 1)."""
        words = self._words
        if words:
            return (words.pop() >> 11) * _TO_FLOAT
        if words is not None:
            self._twist()
        return _twister_random(self)

    def getrandbits(self, k: int, /) -> int:
        """Return `k` random bits."""
        words = self._words
        if words and 0 <= k <= 64:
            return words.pop() >> (64 - k)
        if words is not None:
            self._twist()
        return _twister_bits(self, k)

    def _twist(self) -> None:
        """Go over to the twister."""
        self._words = None
        _twister_seed(self, self._first)

    def getstate(self) -> tuple[Any, ...]:
        """Return what `setstate` goes on from."""
        words = self._words
        return self._first, words and tuple(words), self.gauss_next, super().getstate() if words is None else None

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Go on from what `getstate` returned."""
        self._first, words, self.gauss_next, twister = state
        if twister is not None:
            super().setstate(twister)
        self._words = None if twister is not None else list(words or ())
