"""Both ways between gem and gymnasium.

Every gem environment is a `gymnasium.Env`; importing the bridge also gives it an id there. And a gymnasium environment can be
played by text.
"""

import gymnasium

import gem
from gem.integrations.gymnasium import gymnasium_id, register_all

ARROWS = {"left": 0, "down": 1, "right": 2, "up": 3}


def gem_in_gymnasium() -> None:
    """Make a gem game with `gymnasium.make`."""
    register_all()
    env = gymnasium.make(gymnasium_id("game:Hangman-v0-easy"))
    observation, info = env.reset(seed=5)
    print(f"{env.spec.id}: {info['task']}, actions are {env.action_space}")
    total, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(env.unwrapped.oracle_action())
        total, over = total + reward, terminated or truncated
    print(f"  {observation} Reward {total:.2f}\n")
    env.close()


def gymnasium_in_gem() -> None:
    """Play a gymnasium environment by text: numbers by default."""
    with gem.make("gymnasium:CartPole-v1", seed=0) as env:
        observation, _ = env.reset()
        print(f"CartPole-v1\n{observation}")
        print(f"  {env.sample_random_action()} -> {env.step(env.sample_random_action())[0]}")
        print(f"  what? -> {env.step('what?')[4]['invalid_action']['reason']}\n")


def gymnasium_with_words() -> None:
    """Play one with words of our own: how observations and actions are written is up to the caller."""
    env = gem.make(
        "gymnasium:FrozenLake-v1",
        is_slippery=False,
        describe=lambda cell: f"You stand in row {cell // 4}, column {cell % 4} of a frozen lake with holes. Row 3, column 3 is the goal.",
        parse_action=lambda text: ARROWS.get(text.strip().lower()),
        format_action=lambda number: next(word for word, value in ARROWS.items() if value == number),
        prompt="Write left, down, right or up.",
    )
    with env:
        observation, _ = env.reset(seed=0)
        print(observation)
        for action in ["down", "down", "right", "right", "down", "right"]:
            observation, reward, terminated, _, _ = env.step(action)
            print(f"  {action} -> {observation} ({reward})")
        print(f"  over: {terminated}")


def main() -> None:
    gem_in_gymnasium()
    gymnasium_in_gem()
    gymnasium_with_words()


if __name__ == "__main__":
    main()
