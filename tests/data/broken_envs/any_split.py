"""Has tasks for any split that one may name."""

from __future__ import annotations

from typing import Any

from gem.tasks import TaskSet
from tests.data.broken_envs.counting import Counting

BREAKS = "unknown_task_is_refused"


class Good(Counting):
    """Asks whether there is such a split."""

    def tasks(self, split: str = "train") -> TaskSet:
        self.check_split(split)
        return TaskSet(split, self.task_content)


class Broken(Counting):
    """Does not ask, and makes up the content too."""

    def tasks(self, split: str = "train") -> TaskSet:
        return TaskSet(split, self.content)

    def content(self, key: str) -> Any:
        twin = Counting()
        prompt, _ = twin.reset(options={"task": key if key.startswith(("train/", "test/")) else "train/0"})
        return {"prompt": prompt, "gold": twin.gold(), "parameters": {}}
