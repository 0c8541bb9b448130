"""Tells wall times to everyone."""

from __future__ import annotations

import time
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "wall_times_only_when_asked"


class Good(Counting):
    """Tells them where they are wanted."""

    def wanted_by(self) -> bool:
        return self.timing

    def step(self, action: Any) -> Any:
        began = time.perf_counter()
        obs, reward, terminated, truncated, info = super().step(action)
        if self.wanted_by():
            info["timing"] = {"step_s": time.perf_counter() - began}
        return obs, reward, terminated, truncated, info


class Broken(Good):
    """Does not ask."""

    def wanted_by(self) -> bool:
        return True
