"""Plays another task where there is none of that name."""

from __future__ import annotations

from typing import Any

from gem.errors import ContractError
from tests.data.broken_envs.counting import Counting

BREAKS = "unknown_task_is_refused"


class Good(Counting):
    """Refuses it."""


class Broken(Counting):
    """Falls back to the seed."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        try:
            return super().reset(seed, options)
        except ContractError:
            return super().reset(seed)
