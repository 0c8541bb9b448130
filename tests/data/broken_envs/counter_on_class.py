"""Numbers its episodes with a counter of the class, and shows the number."""

from __future__ import annotations

from typing import Any

from tests.data.broken_envs.counting import Counting

BREAKS = "same_seed_same_episode"


class Good(Counting):
    """Shows the same in each."""

    episodes = 1

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, info = super().reset(seed, options)
        return f"Episode {self.episodes}. {obs}", info


class Broken(Good):
    """Counts for all environments of the process."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        type(self).episodes += 1
        return super().reset(seed, options)
