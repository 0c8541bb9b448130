"""Goes on with the very list that is in the snapshot, which then can't serve again."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "snapshot_is_a_copy"


class Good(Counting):
    """Saves a copy of what it heard, and takes a copy back."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.heard: list[Any] = []
        return super().reset(seed, options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.heard.append(action)
        return f"{obs} I have heard {len(self.heard)} answers.", reward, terminated, truncated, info

    def get_state(self) -> Any:
        return {**super().get_state(), "heard": list(self.heard)}

    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.heard = list(state["heard"])


class Broken(Good):
    """Takes the list itself back."""

    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.heard = state["heard"]
