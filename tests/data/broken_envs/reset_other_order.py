"""Takes the options before the seed."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "reset_takes_seed_and_options"


class Good(Counting):
    """Takes the seed first."""

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=seed, options=options)


class Broken(Counting):
    """Takes the seed second: by position, the seed becomes the options."""

    def reset(self, options: Any = None, seed: Any = None) -> Any:
        return super().reset(seed=seed, options=options)
