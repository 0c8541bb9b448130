"""Seeds numpy's global generator with a constant in every reset."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.data.broken_envs.counting import Counting

BREAKS = "leaves_global_random_alone"


class Good(Counting):
    """Leaves numpy alone."""


class Broken(Counting):
    """The state after an episode is the one that the episode before left."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(0)
        return super().reset(seed, options)
