"""A small sound environment that the broken ones are made from."""

from __future__ import annotations

from typing import Any

from gem.core import Env, ExactSnapshot
from gem.parsing import message_text
from gem.specs import EnvInfo

INFO = EnvInfo(snapshot="exact", oracle="actions", oracle_sees="state", split="content", reward_range=(0.0, 1.0))


class Counting(ExactSnapshot, Env):
    """Say the next number, which is shown, with a random one added: five times right wins."""

    info = INFO
    max_turns = 8

    def __init__(self) -> None:
        self.right = self.turn = 0
        self.wanted = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        _, info = super().reset(seed, options)
        self.right = self.turn = 0
        self._next()
        return f"Add one to each number. {self.shown}", info

    def _next(self) -> None:
        self.wanted = self.rng.randrange(1_000_000) + 1

    @property
    def shown(self) -> str:
        return f"Now: {self.wanted - 1}"

    def step(self, action: Any) -> Any:
        self.turn += 1
        text = message_text(action).strip()
        info: dict[str, Any] = {}
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            info["invalid_action"] = {"reason": "not a number", "hint": "answer with digits"}
        reward = 0.0
        if text == str(self.wanted):
            self.right += 1
            reward = 0.2
        self._next()
        over = self.right == 5 or self.turn == self.max_turns
        if over:
            info["success"] = self.right == 5
        return self.shown, reward, over, False, info

    def gold(self) -> Any:
        return self.wanted

    def sample_random_action(self) -> str:
        return str(self.action_rng.randrange(1, 1_000_001))

    def oracle_action(self) -> str | None:
        return str(self.wanted)
