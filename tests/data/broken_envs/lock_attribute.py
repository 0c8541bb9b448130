"""Keeps a lock, which neither pickle nor deepcopy can hold."""

from __future__ import annotations

import threading
from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "pickle_goes_on"


class Broken(Counting):
    """Saves the lock too."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def step(self, action: Any) -> Any:
        with self.lock:
            return super().step(action)


class Good(Broken):
    """Leaves it out and makes it anew."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.Lock())

    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.lock = threading.Lock()
