"""Tells all right answers as a set, which has no JSON and so no hash."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_hashes_are_stable"


class Good(Counting):
    """Tells them as a list."""

    kind: Any = list

    def gold(self) -> Any:
        return type(self).kind((str(self.wanted), f"{self.wanted:,}"))


class Broken(Good):
    """Tells them as a set."""

    kind = set
