"""Clauses on what the calls take and return."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from gem.errors import ContractError
from gem.spaces import is_message
from gem.testing.clauses.base import Breach, Subject, clause, expect

__all__ = ["SHAPE"]

SHAPE = ("reset_returns_pair", "step_returns_five", "never_raises", "info_is_dict")
# Trainers put these beside the info's own names in one dict.
RESERVED = frozenset({"observation", "reward", "messages", "prompt_ids", "response_ids", "infer_logprobs", "actions_left", "llm_response"})
HOSTILE = (
    "",
    " ",
    "\\boxed{",
    "\\boxed{}",
    "no box here",
    "}{" * 200,
    "a\0b\\boxed{\0}",
    "\\boxed{\ud800}",
    "\\boxed{" + "9" * 5000 + "}",
    "\\boxed{١ ٢}",
    "x" * 1_000_000,
)


def _each_step(subject: Subject, look: Callable[[Any], None], *, seeds: int = 3, limit: int = 40) -> None:
    """Call `look` with what each step of random play returned."""
    for seed in subject.seeds[:seeds]:
        env = subject.make()
        try:
            env.reset(seed=seed)
            for _ in range(limit):
                result = env.step(env.sample_random_action())
                look(result)
                if result[2] or result[3]:
                    break
        finally:
            env.close()


@clause()
def reset_returns_pair(subject: Subject) -> None:
    """`reset` returns (observation, info)."""
    with subject.make() as env:
        result: Any = env.reset(seed=0)
    expect(isinstance(result, tuple) and len(result) == 2, f"reset returned {result!r:.100}")


@clause("reset_returns_pair")
def reset_takes_seed_and_options(subject: Subject) -> None:
    """`reset` takes `seed` and `options`, by position and by name, and may be called without."""
    calls: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
        ((0, None), {}),
        ((), {"seed": 0, "options": None}),
        ((), {}),
        ((), {"seed": None, "options": {}}),
    )
    for args, kwargs in calls:
        env = subject.make()
        try:
            env.reset(*args, **kwargs)
        except TypeError as why:
            raise Breach(f"reset(seed=None, options=None) cannot be called: {why}") from None
        finally:
            env.close()


@clause("reset_returns_pair")
def never_raises(subject: Subject) -> None:
    """A step of random play raises nothing."""
    env = subject.make()
    try:
        for seed in subject.seeds:
            env.reset(seed=seed)
            for _ in range(40):
                result: Any = env.step(env.sample_random_action())
                if not isinstance(result, tuple) or len(result) != 5 or result[2] or result[3]:
                    break
    except Exception as why:
        raise Breach(f"random play raised {type(why).__name__}: {why}") from why
    finally:
        env.close()


@clause("reset_returns_pair", "never_raises")
def step_returns_five(subject: Subject) -> None:
    """`step` returns (observation, reward, terminated, truncated, info)."""
    with subject.make() as env:
        env.reset(seed=0)
        result: Any = env.step(env.sample_random_action())
    expect(isinstance(result, tuple) and len(result) == 5, f"step returned {result!r:.100}")


@clause("step_returns_five")
def info_is_dict(subject: Subject) -> None:
    """`info` is a dict with string keys."""
    infos = [subject.make().reset(seed=0)[1]]
    _each_step(subject, lambda result: infos.append(result[4]))
    for info in infos:
        expect(isinstance(info, dict), f"info is a {type(info).__name__}")
        odd = next((key for key in info if not isinstance(key, str)), None)
        expect(odd is None, f"info has the key {odd!r}, which is not a string")


@clause(*SHAPE)
def info_is_json(subject: Subject) -> None:
    """`json.dumps(info, allow_nan=False)` works."""
    episode_infos = [subject.make().reset(seed=0)[1]]
    _each_step(subject, lambda result: episode_infos.append(result[4]))
    for info in episode_infos:
        try:
            json.dumps(info, allow_nan=False)
        except (TypeError, ValueError) as why:
            raise Breach(f"info {info!r:.100} is not JSON: {why}") from None


@clause(*SHAPE)
def info_is_fresh(subject: Subject) -> None:
    """Every `info` is a dict of its own, all the way down, that later calls leave alone."""
    with subject.make() as env:
        _, before = env.reset(seed=0)
        shown = repr(before)
        for _ in range(5):
            _, _, terminated, truncated, info = env.step(env.sample_random_action())
            expect(info is not before, "two calls returned the same info dict")
            expect(repr(before) == shown, f"a later call changed an info that was returned before: {shown:.80} became {before!r:.80}")
            before, shown = info, repr(info)
            if terminated or truncated:
                break
        env.reset(seed=1)
        expect(repr(before) == shown, "a reset changed an info that was returned before")


@clause(*SHAPE)
def info_avoids_reserved_names(subject: Subject) -> None:
    """`info` uses none of the names that trainers keep for themselves."""

    def look(result: Any) -> None:
        taken = RESERVED & result[4].keys()
        expect(not taken, f"info uses the reserved name {min(taken, default='')!r}")

    _each_step(subject, look)


@clause("step_returns_five")
def observation_in_space(subject: Subject) -> None:
    """An observation is text, or a list of chat messages, as `observation_space` says."""

    def look(obs: Any) -> None:
        kind = isinstance(obs, str) or (isinstance(obs, list) and all(map(is_message, obs)))
        expect(kind, f"the observation {obs!r:.80} is neither text nor chat messages")
        expect(subject_space.contains(obs), f"the observation {obs!r:.80} is not in {subject_space}")

    with subject.make() as env:
        subject_space = env.observation_space
        look(env.reset(seed=0)[0])
    _each_step(subject, lambda result: look(result[0]))


@clause("step_returns_five", "observation_in_space")
def observation_is_not_aliased(subject: Subject) -> None:
    """An observation that was returned does not change later."""
    with subject.make() as env:
        obs, _ = env.reset(seed=0)
        shown = repr(obs)
        for _ in range(5):
            after, _, terminated, truncated, _ = env.step(env.sample_random_action())
            expect(repr(obs) == shown, f"a later call changed an observation that was returned before: {shown:.80} became {obs!r:.80}")
            obs, shown = after, repr(after)
            if terminated or truncated:
                break


@clause("step_returns_five")
def reward_is_float(subject: Subject) -> None:
    """A reward is a float (not an int, a bool, an array, or None)."""
    _each_step(
        subject, lambda result: expect(type(result[1]) is float, f"a reward is {result[1]!r:.60} of type {type(result[1]).__name__}")
    )


@clause("reward_is_float")
def reward_is_finite(subject: Subject) -> None:
    """A reward is finite."""
    _each_step(subject, lambda result: expect(math.isfinite(result[1]), f"a reward is {result[1]}"))


@clause("step_returns_five")
def flags_are_bools(subject: Subject) -> None:
    """`terminated` and `truncated` are bools (not 0, 1, None or numpy's)."""

    def look(result: Any) -> None:
        for name, flag in (("terminated", result[2]), ("truncated", result[3])):
            expect(type(flag) is bool, f"{name} is {flag!r:.60} of type {type(flag).__name__}")

    _each_step(subject, look)


@clause("flags_are_bools")
def ends_in_one_way(subject: Subject) -> None:
    """`terminated` and `truncated` are never both true."""
    _each_step(subject, lambda result: expect(not (result[2] and result[3]), "terminated and truncated are both true"), limit=400)


@clause(*SHAPE)
def wall_times_only_when_asked(subject: Subject) -> None:
    """`info` has no wall times unless `make(..., timing=True)` asked for them."""
    _each_step(subject, lambda result: expect("timing" not in result[4], "info has 'timing' though nobody asked for it"))


@clause(*SHAPE)
def invalid_action_says_why(subject: Subject) -> None:
    """`info["invalid_action"]`, where there is one, is `{"reason": text, "hint": text}`."""
    for text in HOSTILE[:5]:
        with subject.make() as env:
            env.reset(seed=0)
            try:
                found = env.step(text)[4].get("invalid_action")
            except Exception:  # the clause below tells that one
                return
        if found is not None:
            fine = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("reason", "hint"))
            expect(fine, f"invalid_action is {found!r:.100}")


@clause(*SHAPE, "observation_in_space")
def survives_any_text(subject: Subject) -> None:
    """Text that means nothing (empty, huge, NUL, half a surrogate pair) is a result, not an exception."""
    for text in HOSTILE:
        env = subject.make()
        try:
            env.reset(seed=0)
            result: Any = env.step(text)
            expect(result[0] is not None and math.isfinite(result[1]), f"the action {text!r:.40} gave {result!r:.80}")
        except ContractError:
            pass  # a typed refusal that says what to do
        except Breach:
            raise
        except Exception as why:
            raise Breach(f"the action {text!r:.40} raised {type(why).__name__}: {why!s:.100}") from why
        finally:
            env.close()
