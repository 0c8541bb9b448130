"""Returns a new list of the same messages: a caller that edits one edits the next observation."""

from __future__ import annotations

from typing import Any

from gem.spaces import Messages
from tests.data.broken_envs.counting import Counting

BREAKS = "results_are_the_callers"


class Good(Counting):
    """Returns copies all the way down."""

    observation_space = Messages()

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        self.messages = [{"role": "user", "content": obs}]
        return self.told(), info

    def step(self, action: Any) -> Any:
        obs, *rest = super().step(action)
        self.messages.append({"role": "user", "content": obs})
        return self.told(), *rest

    def told(self) -> Any:
        return [dict(message) for message in self.messages]


class Broken(Good):
    """Copies the list alone."""

    def told(self) -> Any:
        return list(self.messages)
