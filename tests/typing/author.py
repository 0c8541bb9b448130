"""Checked by mypy --strict, never run: what an author and a user of gem write is fully typed."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import gem
from gem.core import Flow, Info, StepResult
from gem.rollout import AgentAction, run
from gem.trajectory import Trajectory


class Guess(gem.Env):
    """Observations and actions are text unless said otherwise."""

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[str, Info]:
        """Begin."""
        _, info = super().reset(seed, options)
        return "guess", info

    def step(self, action: str) -> StepResult[str]:
        """Play."""
        return "no", 0.0, False, False, {}


class Ask(gem.AsyncEnv[list[dict[str, Any]], str]):
    """Observations are messages."""

    async def areset(self, seed: int | None = None, options: Info | None = None) -> tuple[list[dict[str, Any]], Info]:
        """Begin."""
        _, info = await super().areset(seed, options)
        return [{"role": "user", "content": "?"}], info


class Shout(gem.Wrapper):
    """A hook and a flow."""

    def on_reset(self, obs: str, info: Info) -> tuple[str, Info]:
        """Shout."""
        return obs.upper(), info

    async def flow(self, action: str, io: Flow) -> StepResult[str]:
        """Pass on."""
        return await io.step(action)


async def act(observation: Any, info: dict[str, Any]) -> AgentAction | str:
    """Answer."""
    return "hello"


env = Shout(Guess())
obs, info = env.reset(seed=1)
assert_type(obs, str)
assert_type(env.step("x"), tuple[str, float, bool, bool, dict[str, Any]])
assert_type(Ask().reset()[0], list[dict[str, Any]])
assert_type(gem.make("game:Sudoku-v0-easy"), gem.Env[Any, Any])
assert_type(gem.list_envs("game:*"), list[gem.EnvSpec])
assert_type(run("game:Sudoku-v0-easy", act, tasks=2), list[Trajectory])


@gem.register("test:guess")
class Registered(Guess):
    """Stays what it is under the decorator."""


assert_type(Registered().reset(seed=1)[0], str)
