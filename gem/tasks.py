"""Tasks: what an episode is about, with a key that stays and a hash of its content.

A key is `<split>/<row id or generator index>`. A `TaskSet` enumerates one split: finite, or endless where a generator makes
the tasks. Contents are made only when asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from typing import Any, overload

from gem.errors import ContractError

__all__ = ["Task", "TaskSet", "content_hash", "join_key", "split_key"]


def join_key(split: str, row: int | str) -> str:
    """Return the key of a row of a split."""
    return f"{split}/{row}"


def split_key(key: str) -> tuple[str, str]:
    """Return the split and the row of a key.

    Raises:
        ContractError: `key` is not of the form `<split>/<row>`.
    """
    if isinstance(key, str):
        split, slash, row = key.partition("/")
        if split and slash and row:
            return split, row
    raise ContractError(f"task key {key!r:.80} is not of the form '<split>/<row>', such as 'train/0'")


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the sha256 of the canonical JSON of `content` (prompt, gold and parameters), as 64 hex digits."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Task:
    """One task: its key, and its content when asked for."""

    key: str
    make_content: Callable[[str], Mapping[str, Any]]

    @property
    def split(self) -> str:
        """The split that the task belongs to."""
        return split_key(self.key)[0]

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """What the task consists of: at least `prompt`, `gold` and `parameters`."""
        return self.make_content(self.key)

    @cached_property
    def hash(self) -> str:
        """Hash of the content: equal exactly where the task is the same."""
        return content_hash(self.content)


class TaskSet:
    """The tasks of one split, in a fixed order.

    Args:
        split: Name of the split.
        make_content: Makes the content of the task with a given key.
        rows: Row ids in order; None for an endless generator, whose rows are 0, 1, 2, ...
    """

    def __init__(
        self, split: str, make_content: Callable[[str], Mapping[str, Any]], rows: tuple[int | str, ...] | range | None = None
    ) -> None:
        self.split = split
        self._make_content = make_content
        self._rows = rows

    @property
    def infinite(self) -> bool:
        """Whether the tasks never run out."""
        return self._rows is None

    def __len__(self) -> int:
        if self._rows is None:
            raise TypeError(f"the tasks of split {self.split!r} are endless: take the first n with .first(n)")
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> list[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | list[Task]:
        if isinstance(index, slice):
            stop = index.stop if self._rows is None else len(self._rows)
            if stop is None or (self._rows is None and stop < 0):
                raise IndexError(f"the tasks of split {self.split!r} are endless: a slice of them needs an end of 0 or more")
            return [self[k] for k in range(*index.indices(stop))]
        row = index if self._rows is None else self._rows[index]
        if isinstance(row, int) and row < 0:
            raise IndexError(f"task index {index} is below 0")
        return Task(join_key(self.split, row), self._make_content)

    def __iter__(self) -> Iterator[Task]:
        rows = count() if self._rows is None else self._rows
        return (Task(join_key(self.split, row), self._make_content) for row in rows)

    def first(self, n: int) -> list[Task]:
        """Return the first `n` tasks, or all where there are fewer."""
        return list(islice(self, n))

    def keys(self, n: int) -> list[str]:
        """Return the keys of the first `n` tasks."""
        return [task.key for task in self.first(n)]

    def __repr__(self) -> str:
        size = "endless" if self._rows is None else str(len(self._rows))
        return f"TaskSet({self.split!r}, {size})"
