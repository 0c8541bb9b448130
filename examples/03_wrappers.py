"""Change an environment from outside: with hooks, and with a flow.

Hooks change what goes in and out. A `flow` may skip a turn of the environment, repeat it, or await something else. Either way
one body serves `step` and `astep`.
"""

import asyncio
from typing import Any

import gem
from gem.core import Flow, Info, StepResult
from gem.wrappers import EpisodeStats


class TurnsLeft(gem.Wrapper):
    """Hooks: says in every observation how many turns are left."""

    def __init__(self, env: gem.Env) -> None:
        super().__init__(env)
        self._turn = 0

    def on_reset(self, obs: str, info: Info) -> tuple[str, Info]:
        self._turn = 0
        return self._told(obs), info

    def on_step(self, action: str, obs: str, reward: float, terminated: bool, truncated: bool, info: Info) -> StepResult[str]:
        self._turn += 1
        return self._told(obs), reward, terminated, truncated, info

    def own_state(self) -> int:  # part of every snapshot
        return self._turn

    def set_own_state(self, state: int) -> None:
        self._turn = state

    def _told(self, obs: str) -> str:
        return f"{obs}\nTurns left: {self.max_turns - self._turn}"


class Friend(gem.Wrapper):
    """A flow: `ask` is answered by a friend, costs 0.1 and no turn of the game."""

    def __init__(self, env: gem.Env, price: float = 0.1) -> None:
        super().__init__(env)
        self._price, self._asked = price, 0

    def on_reset(self, obs: str, info: Info) -> tuple[str, Info]:
        self._asked = 0
        return f"{obs}\nYou may also write: ask", info

    async def flow(self, action: str, io: Flow) -> StepResult[str]:
        if action != "ask":
            return await io.step(action)
        self._asked += 1
        advice = await io.run(self._phone())  # on the sync path too
        return f"Your friend says: {advice}", -self._price, False, False, {"friend.asked": self._asked}

    async def _phone(self) -> str | None:
        await asyncio.sleep(0.01)
        return self.env.oracle_action()

    def own_state(self) -> int:
        return self._asked

    def set_own_state(self, state: int) -> None:
        self._asked = state


def player(observation: str) -> str:
    """Ask once, then do as the friend says."""
    return observation.removeprefix("Your friend says: ") if observation.startswith("Your friend") else "ask"


def play(env: gem.Env) -> dict[str, Any]:
    """Play an episode with plain calls."""
    observation, info = env.reset(seed=3)
    print(observation)
    while True:
        action = player(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        print(f"> {action}\n{observation}   ({reward:+.1f})")
        if terminated or truncated:
            return info


async def aplay(env: gem.Env) -> dict[str, Any]:
    """Play the same episode with awaited calls."""
    observation, info = await env.areset(seed=3)
    while True:
        observation, _, terminated, truncated, info = await env.astep(player(observation))
        if terminated or truncated:
            return info


def main() -> None:
    # From the inside out: the game, Contract (put on by make), then the wrappers in this order.
    with gem.make("game:GuessTheNumber-v0-easy", wrappers=[TurnsLeft, Friend, EpisodeStats]) as env:
        print(env, "\n")
        info = play(env)
        again = asyncio.run(aplay(env))
        print(f"\nreturn {info['stats.return']:.1f} in {info['stats.turns']} steps; the async path gives the same: {info == again}")


if __name__ == "__main__":
    main()
