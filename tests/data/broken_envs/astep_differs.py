"""Writes its step twice, and forgets to strip the text in one."""

from __future__ import annotations

from typing import Any

from gem.parsing import message_text
from tests.data.broken_envs.counting import Counting

BREAKS = "async_side_is_the_same"


class Good(Counting):
    """Writes it once."""

    def step(self, action: Any) -> Any:
        return super().step(message_text(action).strip(" ."))

    async def astep(self, action: Any) -> Any:
        return self.step(action)

    def sample_random_action(self) -> str:
        return f" {super().sample_random_action()}."


class Broken(Good):
    """Writes it twice."""

    def step(self, action: Any) -> Any:
        return super().step(message_text(action).strip(" ."))

    async def astep(self, action: Any) -> Any:
        return Counting.step(self, action)
