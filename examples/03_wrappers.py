"""Change an environment from outside: with hooks, and with a flow.

Hooks change what goes in and out. A `flow` may skip a turn of the environment, repeat it, or await something else. Either way
one body serves `step` and `astep`.
"""

import asyncio

import gem
from gem.wrappers import EpisodeStats


class TurnsLeft(gem.Wrapper):
    """Hooks: says in every observation how many turns are left."""

    def __init__(self, env):
        super().__init__(env)
        self._turn = 0

    def on_reset(self, obs, info):
        self._turn = 0
        return self._told(obs), info

    def on_step(self, action, obs, reward, terminated, truncated, info):
        self._turn += 1
        return self._told(obs), reward, terminated, truncated, info

    def own_state(self):  # part of every snapshot
        return self._turn

    def set_own_state(self, state):
        self._turn = state

    def _told(self, obs):
        return f"{obs}\nTurns left: {self.max_turns - self._turn}"


class Friend(gem.Wrapper):
    """A flow: `ask` is answered by a friend, costs 0.1 and no turn of the game."""

    def __init__(self, env, price=0.1):
        super().__init__(env)
        self._price, self._asked = price, 0

    def on_reset(self, obs, info):
        self._asked = 0
        return f"{obs}\nYou may also write: ask", info

    async def flow(self, action, io):
        if action != "ask":
            return await io.step(action)
        self._asked += 1
        advice = await io.run(self._phone())  # on the sync path too
        return f"Your friend says: {advice}", -self._price, False, False, {"friend.asked": self._asked}

    async def _phone(self):
        await asyncio.sleep(0.01)
        return self.env.oracle_action()

    def own_state(self):
        return self._asked

    def set_own_state(self, state):
        self._asked = state


def player(observation):
    """Ask once, then do as the friend says."""
    return observation.removeprefix("Your friend says: ") if observation.startswith("Your friend") else "ask"


def play(env):
    """Play an episode with plain calls."""
    observation, info = env.reset(seed=3)
    print(observation)
    while True:
        action = player(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        print(f"> {action}\n{observation}   ({reward:+.1f})")
        if terminated or truncated:
            return info


async def aplay(env):
    """Play the same episode with awaited calls."""
    observation, info = await env.areset(seed=3)
    while True:
        observation, _, terminated, truncated, info = await env.astep(player(observation))
        if terminated or truncated:
            return info


def main():
    # From the inside out: the game, Contract (put on by make), then the wrappers in this order.
    with gem.make("game:GuessTheNumber-v0-easy", wrappers=[TurnsLeft, Friend, EpisodeStats]) as env:
        print(env, "\n")
        info = play(env)
        again = asyncio.run(aplay(env))
        print(f"\nreturn {info['stats.return']:.1f} in {info['stats.turns']} steps; the async path gives the same: {info == again}")


if __name__ == "__main__":
    main()
