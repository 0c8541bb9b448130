"""What a clause is, the environment under test, and recorded play."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gem.core import Env
from gem.specs import EnvInfo

__all__ = ["CLAUSES", "Breach", "Clause", "Episode", "Subject", "clause"]

MAX_STEPS = 400


class Breach(AssertionError):
    """A clause is broken: the argument says how."""


@dataclass(frozen=True)
class Clause:
    """One demand on an environment: its name, what it says, and the check that raises `Breach`."""

    name: str
    says: str
    check: Callable[[Subject], None]
    needs: tuple[str, ...]


CLAUSES: dict[str, Clause] = {}


def clause(*needs: str) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Register a check under its function's name; its docstring is what the clause says."""

    def add(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CLAUSES[check.__name__] = Clause(check.__name__, (check.__doc__ or "").strip(), check, needs)
        return check

    return add


@dataclass
class Episode:
    """What one episode showed: the reset, the actions, and what each step returned."""

    first: Any
    first_info: dict[str, Any]
    actions: list[Any] = field(default_factory=list)
    steps: list[tuple[Any, float, bool, bool, dict[str, Any]]] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Sum of the rewards."""
        return sum(step[1] for step in self.steps)

    @property
    def ended(self) -> bool:
        """Whether the last step ended it."""
        return bool(self.steps) and bool(self.steps[-1][2] or self.steps[-1][3])

    def seen(self) -> list[Any]:
        """Return all that must repeat: wall times do not."""
        rows: list[Any] = [(self.first, _timeless(self.first_info))]
        return rows + [(obs, reward, terminated, truncated, _timeless(info)) for obs, reward, terminated, truncated, info in self.steps]


def _timeless(info: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in info.items() if name != "timing"}


Policy = Callable[[Env[Any, Any]], Any]


def random_policy(env: Env[Any, Any]) -> Any:
    """Return the environment's random action."""
    return env.sample_random_action()


def oracle_policy(env: Env[Any, Any]) -> Any:
    """Return the environment's reference action."""
    return env.oracle_action()


@dataclass
class Subject:
    """The environment under test: how a fresh one is made, and what it declares."""

    make: Callable[[], Env[Any, Any]]
    info: EnvInfo
    name: str
    seeds: tuple[int, ...] = (0, 1, 2)
    episodes: int = 200

    def play(
        self,
        seed: int | None = 0,
        policy: Policy = random_policy,
        *,
        env: Env[Any, Any] | None = None,
        options: dict[str, Any] | None = None,
        steps: int = MAX_STEPS,
    ) -> Episode:
        """Play an episode and keep copies of all it returned."""
        own = env is None
        env = self.make() if env is None else env
        try:
            episode = Episode(*copy.deepcopy(env.reset(seed=seed, options=options)))
            while len(episode.steps) < steps and not episode.ended:
                action = policy(env)
                if action is None:
                    break
                episode.actions.append(action)
                episode.steps.append(copy.deepcopy(env.step(action)))
            return episode
        finally:
            if own:
                env.close()

    def replay(self, seed: int, actions: list[Any], env: Env[Any, Any] | None = None) -> Episode:
        """Play given actions on a fresh environment (or `env`)."""
        left = iter(actions)
        return self.play(seed, lambda _: next(left, None), env=env)


def expect(holds: bool, message: str) -> None:
    """Raise `Breach` unless it holds."""
    if not holds:
        raise Breach(message)


def first_difference(one: list[Any], two: list[Any]) -> str:
    """Say where two recorded episodes part."""
    for turn, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            where = "reset" if turn == 0 else f"step {turn}"
            return f"they part at {where}: {a!r:.160} and {b!r:.160}"
    return f"one has {len(one) - 1} steps and the other {len(two) - 1}"
