"""Seeds numpy's global generator in reset and draws from it, so that seeds do work."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Uses numpy's generator of this environment."""

    def _next(self) -> None:
        self.wanted = int(self.np_random.integers(1, 1_000_001))


class Broken(Counting):
    """Uses numpy's generator of the process."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(seed)
        return super().reset(seed, options)

    def _next(self) -> None:
        self.wanted = int(np.random.randint(1, 1_000_001))
