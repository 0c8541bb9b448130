"""Its async reset drops the options."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "async_side_is_the_same"


class Good(Counting):
    """Passes them on."""

    async def areset(self, seed: int | None = None, options: Any = None) -> Any:
        return self.reset(seed, options)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed, options)


class Broken(Counting):
    """Plays the seed's own task when another is asked for."""

    async def areset(self, seed: int | None = None, options: Any = None) -> Any:
        return self.reset(seed)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed, options)
