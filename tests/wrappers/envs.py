"""Small environments for tests of wrappers: one game, as text and as messages, sync and async, and one that fails on demand."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from gem.core import AsyncEnv, Env, ExactSnapshot
from gem.parsing import message_text
from gem.spaces import Messages
from gem.specs import OnInvalid

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


class Game(ExactSnapshot):
    """Guess a digit: a miss costs 1/16 and says whether to go up or down, the eighth loses, a hit pays 1."""

    on_invalid = OnInvalid("retry")

    def __init__(self, tries: int = 8) -> None:
        self.tries = tries
        self.turn = 0
        self.hidden = 0

    def begin(self) -> Any:
        self.turn = 0
        self.hidden = self.rng.randrange(10)
        return self.show(f"guess a digit, game {self.rng.randrange(1000)}")

    def play(self, action: Any) -> Any:
        self.turn += 1
        text = message_text(action).strip()
        info: dict[str, Any] = {"metrics": {"turn": self.turn}}
        if len(text) != 1 or not text.isascii() or not text.isdigit():
            info["invalid_action"] = {"reason": "not a digit", "hint": "such as 7"}
            said, won = "a digit!", False
        else:
            said = "lower" if int(text) > self.hidden else "higher" if int(text) < self.hidden else "right"
            won = said == "right"
        over = won or self.turn == self.tries
        if over:
            info["success"] = won
        return self.show(f"{said} {self.turn}"), 1.0 if won else -0.0625, over, False, info

    def show(self, text: str) -> Any:
        return text

    def oracle_action(self) -> str:
        return str(self.hidden)

    def sample_random_action(self) -> str:
        return str(self.action_rng.randrange(10))

    def miss(self) -> str:
        return str((self.hidden + 1) % 10)


class Pictured:
    """The game's text as a message, with an image beside it."""

    observation_space = Messages()

    def show(self, text: str) -> Any:
        return [{"role": "user", "content": [{"type": "text", "text": text}, {**IMAGE, "image_url": dict(IMAGE["image_url"])}]}]


class TextGame(Game, Env):
    def reset(self, seed=None, options=None):
        _, info = super().reset(seed, options)
        return self.begin(), info

    def step(self, action):
        return self.play(action)


class MessageGame(Pictured, TextGame):
    pass


class AsyncTextGame(Game, AsyncEnv):
    async def areset(self, seed=None, options=None):
        _, info = await super().areset(seed, options)
        await asyncio.sleep(0)
        return self.begin(), info

    async def astep(self, action):
        await asyncio.sleep(0)
        return self.play(action)


class AsyncMessageGame(Pictured, AsyncTextGame):
    pass


GAMES = (TextGame, MessageGame, AsyncTextGame, AsyncMessageGame)
TWINS = ((TextGame, AsyncTextGame), (MessageGame, AsyncMessageGame))


def closing(make: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Yield `make`, and close what it made: the body of a fixture."""
    made: list[Any] = []

    def build(*args: Any, **kwargs: Any) -> Any:
        made.append(make(*args, **kwargs))
        return made[-1]

    yield build
    for env in made:
        env.close()


_PLANS: WeakValueDictionary[int, Plan] = WeakValueDictionary()


@dataclass(eq=False)
class Plan:
    """What goes wrong, shared by all the environments that replace each other, copies too: call number -> what it raises."""

    raises: dict[int, BaseException] = field(default_factory=dict)
    calls: int = 0
    built: int = 0
    closed: int = 0

    def __post_init__(self) -> None:
        _PLANS[id(self)] = self

    def __reduce__(self) -> Any:
        return _plan, (id(self),)

    def __repr__(self) -> str:
        return f"Plan({id(self)})"

    def call(self) -> None:
        self.calls += 1
        if self.calls in self.raises:
            raise copy.copy(self.raises[self.calls])  # a raised one would hold frames, and they the environment


def _plan(key: int) -> Plan:
    return _PLANS[key]


class Failing:
    """Mixed into a game: every reset and step first asks the plan."""

    def __init__(self, plan: Plan, tries: int = 8) -> None:
        super().__init__(tries)
        self.plan = plan
        plan.built += 1

    def begin(self) -> Any:
        self.plan.call()
        return super().begin()

    def play(self, action: Any) -> Any:
        self.plan.call()
        return super().play(action)


class FailingTextGame(Failing, TextGame):
    def close(self):
        self.plan.closed += 1
        super().close()


class FailingMessageGame(Failing, MessageGame):
    def close(self):
        self.plan.closed += 1
        super().close()


class FailingAsyncTextGame(Failing, AsyncTextGame):
    async def aclose(self):
        self.plan.closed += 1


class FailingAsyncMessageGame(Failing, AsyncMessageGame):
    async def aclose(self):
        self.plan.closed += 1


FAILING = (FailingTextGame, FailingMessageGame, FailingAsyncTextGame, FailingAsyncMessageGame)


class Scripted(Env):
    """Returns what it is told to: the first of `results` at reset, then one a step; an exception is raised."""

    def __init__(self, *results: Any, space: Any = None) -> None:
        self.results = list(results)
        self.actions: list[Any] = []
        if space is not None:
            self.observation_space = space

    def next(self) -> Any:
        result = self.results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        return self.next()

    def step(self, action):
        self.actions.append(action)
        return self.next()


class AsyncScripted(AsyncEnv):
    """`Scripted`, with coroutines."""

    __init__ = Scripted.__init__
    next = Scripted.next

    async def areset(self, seed=None, options=None):
        await super().areset(seed, options)
        await asyncio.sleep(0)
        return self.next()

    async def astep(self, action):
        await asyncio.sleep(0)
        self.actions.append(action)
        return self.next()


SCRIPTED = (Scripted, AsyncScripted)
