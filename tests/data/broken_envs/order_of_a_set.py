"""Draws a word from a set of texts, whose order is another in each process."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_in_every_process"


WORDS = frozenset("one two three four five six seven eight nine ten eleven twelve".split())


class Good(Counting):
    """Sorts them first."""

    order: Any = sorted

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"{obs} The word of the day is {self.rng.choice(type(self).order(WORDS))}.", info


class Broken(Good):
    """Takes them as they come."""

    order = list
