"""Keeps a lambda, which pickle can't hold."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "pickle_goes_on"


def exact(text: str, wanted: int) -> bool:
    """Say whether it is the number."""
    return text == str(wanted)


class Good(Counting):
    """Keeps a function of its module."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.judge: Any = exact
        return super().reset(seed, options)


class Broken(Counting):
    """Keeps a lambda."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.judge: Any = lambda text, wanted: text == str(wanted)
        return super().reset(seed, options)
