"""Returns its list of messages, and appends to it."""

from __future__ import annotations

import copy
from typing import Any

from gem.spaces import Messages
from tests.data.broken_envs.counting import Counting

BREAKS = "observation_is_not_aliased"


class Good(Counting):
    """Returns copies."""

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
        return copy.deepcopy(self.messages)


class Broken(Good):
    """Returns the list itself."""

    def told(self) -> Any:
        return self.messages
