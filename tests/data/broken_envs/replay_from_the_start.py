"""Replays a snapshot's actions, all but the last."""

from __future__ import annotations

from typing import Any

from gem.errors import ContractError
from gem.specs import EnvInfo
from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_goes_on"


class Good(Counting):
    """Replays all actions."""

    info = EnvInfo(snapshot="replay", oracle="actions", split="content")

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.played: list[Any] = []
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        self.played.append(action)
        return super().step(action)

    def get_state(self) -> Any:
        return {"task": self.task_key, "seed": self._episode_seed, "played": list(self.played)}

    def set_state(self, state: Any) -> None:
        if not isinstance(state, dict) or "played" not in state:
            raise ContractError("not a snapshot of this environment")
        self.reset(state["seed"], {"task": state["task"]})
        for action in self.chosen(state["played"]):
            self.step(action)

    def chosen(self, played: Any) -> Any:
        return played


class Broken(Good):
    """Loses one."""

    def chosen(self, played: Any) -> Any:
        return played[:-1]
