"""Frees its lock when it is closed, and can't be closed again."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "close_may_be_repeated"


class Good(Counting):
    """Remembers that it has closed."""

    def close(self) -> None:
        self.__dict__.pop("notes", None)
        super().close()


class Broken(Counting):
    """Deletes what the first reset made, whether it is there or not."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.notes: list[str] = []
        return super().reset(seed, options)

    def close(self) -> None:
        if self.task_key:
            del self.notes
        super().close()
