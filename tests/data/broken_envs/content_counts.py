"""Numbers the contents that it makes, and so hashes one task to many values."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "task_hashes_are_stable"


class Good(Counting):
    """Says what kind of task it is."""

    def task_content(self, key: str) -> Any:
        return {**super().task_content(key), "kind": "counting"}


class Broken(Counting):
    """Says which copy of it this is."""

    copies = 0

    def task_content(self, key: str) -> Any:
        Broken.copies += 1
        return {**super().task_content(key), "copy": Broken.copies}
