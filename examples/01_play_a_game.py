"""Play one game by hand, then let the reference player and the random player play it too.

An action is the text that a model would write: what counts is in the last \\boxed{} of it.
"""

from collections.abc import Callable
from typing import Any

import gem


def play(env: gem.Env, choose: Callable[[str], str | None]) -> tuple[float, dict[str, Any]]:
    """Play one episode with `choose(observation)` and return the sum of its rewards and its last info."""
    observation, info = env.reset(seed=7)
    total = 0.0
    while True:
        action = choose(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        print(f"  {action:<60} -> {observation.splitlines()[0]}")
        total += reward
        if terminated or truncated:
            return total, info


class Halving:
    """Guesses the middle of what is left, as a person would."""

    def __init__(self) -> None:
        self.low, self.high, self.last = 1, 50, 0

    def __call__(self, observation: str) -> str:
        if "higher than" in observation:
            self.low = self.last + 1
        elif "lower than" in observation:
            self.high = self.last - 1
        self.last = (self.low + self.high) // 2
        return f"Between {self.low} and {self.high}, so \\boxed{{{self.last}}}."


def main() -> None:
    with gem.make("game:GuessTheNumber-v0-hard") as env:
        observation, info = env.reset(seed=7)
        print(f"task {info['task']}\n{observation}\n")
        players = {
            "halving": Halving(),
            "oracle": lambda _: env.oracle_action(),
            "random": lambda _: env.sample_random_action(),
        }
        for name, choose in players.items():
            print(name)
            total, info = play(env, choose)
            print(f"  success {info['success']}, reward {total:.2f}\n")


if __name__ == "__main__":
    main()
