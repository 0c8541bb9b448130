"""Appends to a list that all instances share; each reset clears it."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "instances_do_not_share"


class Good(Counting):
    """Makes a list of its own."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.forget()
        return super().reset(seed, options)

    def forget(self) -> None:
        self.asked: list[int] = []

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        self.asked.append(self.wanted)
        return f"{obs} That is number {len(self.asked)}.", reward, terminated, truncated, info


class Broken(Good):
    """Takes the default of the constructor, which is made once."""

    def __init__(self, asked: list[int] = []) -> None:
        super().__init__()
        self.asked = asked

    def forget(self) -> None:
        self.asked.clear()
