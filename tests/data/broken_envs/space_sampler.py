"""Samples from its action space, which all instances share and nobody seeds."""

from __future__ import annotations

from typing import Any

from gem.spaces import Text
from tests.data.broken_envs.counting import Counting

BREAKS = "random_action_is_repeatable"


class Numbers(Text):
    """Texts of digits."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return str(self.np_random.integers(1, 1_000_001))


class Good(Counting):
    """Seeds a space of its own in each reset."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        result = super().reset(seed, options)
        self.action_space = Numbers(seed=self._episode_seed)
        return result

    def sample_random_action(self) -> str:
        return self.action_space.sample()


class Broken(Counting):
    """Keeps the space of the class."""

    action_space = Numbers()

    def sample_random_action(self) -> str:
        return self.action_space.sample()
