"""Begins a generator from the hash of a text, which is another in each process."""

from __future__ import annotations

import random
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_in_every_process"


class Good(Counting):
    """Begins it from the text itself."""

    def _next(self) -> None:
        self.wanted = random.Random(self.start()).randrange(1_000_000) + 1

    def start(self) -> Any:
        return f"{self.task_key} {self.turn}"


class Broken(Good):
    """Begins it from the hash."""

    def start(self) -> Any:
        return hash(super().start())
