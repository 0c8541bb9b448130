"""Deletes its notes when it is closed, and can't be closed again."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "close_may_be_repeated"


class Good(Counting):
    """Deletes them where there are any."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.notes: list[str] = []
        return super().reset(seed, options)

    def close(self) -> None:
        self.__dict__.pop("notes", None)
        super().close()


class Broken(Good):
    """Deletes them whenever there was a reset."""

    def close(self) -> None:
        if self.task_key:
            del self.notes
        super().close()
