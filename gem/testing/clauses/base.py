"""What a clause is, the environment under test, and recorded play."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from gem.core import Env
from gem.spaces import Text
from gem.specs import EnvInfo

__all__ = ["CLAUSES", "Breach", "Clause", "Episode", "Subject", "clause"]

MAX_STEPS = 400
NONSENSE = "I do not know what to do."


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
    """Register a check under its function's name; its docstring is what the clause says, and its needs' needs are its own."""

    def add(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
        later = [need for need in needs if need not in CLAUSES]
        if later:  # clauses are judged in order
            raise ValueError(f"{check.__name__} needs {later}, which stand after it")
        closed = dict.fromkeys(name for need in needs for name in (*CLAUSES[need].needs, need))
        CLAUSES[check.__name__] = Clause(check.__name__, (check.__doc__ or "").strip(), check, tuple(closed))
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

    def seen(self) -> list[str]:
        """Return all that must repeat, a text for each call: wall times do not, and the task's key has clauses of its own."""
        return [_row(self.first, self.first_info), *(_row(*step) for step in self.steps)]


def _row(*result: Any) -> str:
    *rest, info = result
    if isinstance(info, dict):
        info = {name: value for name, value in info.items() if name not in ("timing", "task")}
    # As text NaN equals itself, and what JSON can't hold (`info_is_json` tells) is compared by its type alone.
    try:
        return json.dumps([*rest, info], default=lambda value: type(value).__name__, skipkeys=True)
    except ValueError:  # it holds itself
        return repr(result)


def kept(result: Any) -> Any:
    """Return a copy of what a call returned, which later calls can't change."""
    try:
        return copy.deepcopy(result)
    except Exception:  # it holds a lock or the like: `info_is_json` tells
        return result


Policy = Callable[[Env[Any, Any]], Any]


def random_policy(env: Env[Any, Any]) -> Any:
    """Return the environment's random action."""
    return env.sample_random_action()


def oracle_policy(env: Env[Any, Any]) -> Any:
    """Return the environment's reference action."""
    return env.oracle_action()


def nonsense_policy(env: Env[Any, Any]) -> Any:
    """Return text that is no action."""
    return NONSENSE


def _longest(env: Env[Any, Any]) -> int:
    """Return how many turns an episode is followed for."""
    return max(MAX_STEPS, (env.max_turns or 0) + 1)


@dataclass
class Subject:
    """The environment under test: how a fresh one is made, and what it declares."""

    make: Callable[[], Env[Any, Any]]
    info: EnvInfo
    name: str
    seeds: tuple[int, ...] = (0, 1, 2)
    episodes: int = 200

    @cached_property
    def policies(self) -> list[Policy]:
        """Random play, the oracle's where there is one, and text that is no action where text is read."""
        with self.make() as env:
            reads_text = isinstance(env.action_space, Text)
        oracle = [oracle_policy] if self.info.oracle == "actions" else []
        return [random_policy, *oracle, *([nonsense_policy] if reads_text else [])]

    @property
    def players(self) -> list[Policy]:
        """Random play, and the oracle's where there is one: some faults only show in an episode that is won."""
        return [policy for policy in self.policies if policy is not nonsense_policy]

    @cached_property
    def results(self) -> list[Any]:
        """What resets and steps returned, untouched, with each policy and seed."""
        found: list[Any] = []
        for policy in self.policies:
            for seed in self.seeds:
                with suppress(*([Exception] if policy is nonsense_policy else [])):  # `survives_any_text` tells
                    for result in self._watch(seed, policy):
                        found.append(result)
        return found

    @property
    def steps(self) -> list[Any]:
        """Those of `results` that steps returned."""
        return [result for result in self.results if len(result) == 5]

    @property
    def infos(self) -> list[dict[str, Any]]:
        """The infos of `results`."""
        return [result[-1] for result in self.results]

    def _watch(self, seed: int, policy: Policy) -> Iterator[Any]:
        with self.make() as env:
            yield env.reset(seed=seed)
            for _ in range(_longest(env)):
                action = policy(env)
                if action is None:
                    return
                result: Any = env.step(action)
                yield result
                if not isinstance(result, tuple) or len(result) != 5 or result[2] or result[3]:
                    return

    def play(
        self,
        seed: int | None = 0,
        policy: Policy = random_policy,
        *,
        env: Env[Any, Any] | None = None,
        options: dict[str, Any] | None = None,
        steps: int | None = None,
    ) -> Episode:
        """Play an episode and keep copies of all it returned."""
        own = env is None
        env = self.make() if env is None else env
        try:
            episode = Episode(*kept(env.reset(seed=seed, options=options)))
            most = _longest(env) if steps is None else steps
            while len(episode.steps) < most and not episode.ended:
                action = policy(env)
                if action is None:
                    break
                episode.actions.append(action)
                episode.steps.append(kept(env.step(action)))
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


def expect_same(one: Episode, two: Episode, message: str) -> None:
    """Raise `Breach` unless two episodes show the same."""
    if one.seen() != two.seen():
        raise Breach(f"{message}: {first_difference(one.seen(), two.seen())}")


def first_difference(one: list[str], two: list[str]) -> str:
    """Say where two recorded episodes part."""
    for turn, (a, b) in enumerate(zip_longest(one, two)):
        if a is None or b is None:
            break
        if a != b:
            where = "reset" if turn == 0 else f"step {turn}"
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
            near = slice(max(at - 30, 0), at + 40)
            return f"they part at {where}: ...{a[near]}... and ...{b[near]}..."
    return f"one has {len(one) - 1} steps and the other {len(two) - 1}"
