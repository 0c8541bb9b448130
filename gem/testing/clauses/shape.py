"""Clauses on what the calls take and return."""

from __future__ import annotations

import inspect
import json
import math
from typing import Any

from gem.errors import ContractError
from gem.spaces import is_message
from gem.testing.clauses.base import NONSENSE, Breach, Subject, clause, expect

__all__ = ["PLAYABLE", "SHAPE"]

SHAPE = ("info_is_dict",)
PLAYABLE = (*SHAPE, "flags_are_bools")
# Trainers put these beside the info's own names in one dict.
RESERVED = frozenset({"observation", "reward", "messages", "prompt_ids", "response_ids", "infer_logprobs", "actions_left", "llm_response"})
HOSTILE = (
    "",
    " ",
    "\\boxed{",
    "\\boxed{}",
    NONSENSE,
    "}{" * 200,
    "\0",
    "a\0b\\boxed{\0}",
    "\ud800",
    "\\boxed{\ud800}",
    "9" * 5000,
    "\\boxed{" + "9" * 5000 + "}",
    "²",
    "\\boxed{²}",
    "\\boxed{١ ٢}",
    "x" * 1_000_000,
)
_PLAIN = (str, int, bool, float, type(None))


@clause()
def close_may_be_repeated(subject: Subject) -> None:
    """`close` may be called twice, before the first reset and after it."""
    for played in (False, True):
        env = subject.make()
        if played:
            try:
                env.reset(seed=0)
            except Exception:  # `never_raises` tells
                continue
        try:
            env.close()
            env.close()
        except Exception as why:
            raise Breach(f"close raised {type(why).__name__}: {why!s:.100}") from why


@clause("close_may_be_repeated")
def reset_takes_seed_and_options(subject: Subject) -> None:
    """`reset` takes `seed` and `options`, in this order and by name, and may be called without."""
    calls: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
        ((), {}),
        ((), {"seed": 0}),
        ((), {"seed": 0, "options": None}),
        ((0, None), {}),
    )
    with subject.make() as env:
        signature = inspect.signature(env.unwrapped.reset)
    for args, kwargs in calls:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as why:
            raise Breach(f"reset{signature} cannot be called as reset(seed=None, options=None): {why}") from None
        expect(bound.arguments.get("seed", 0) == 0, f"the first argument of reset{signature} is not the seed")


@clause("reset_takes_seed_and_options")
def never_raises(subject: Subject) -> None:
    """Resets, random play and the oracle's play raise nothing."""
    try:
        with subject.make() as env:
            env.reset()
            env.reset(seed=0, options={})
        _ = subject.results
    except Exception as why:
        raise Breach(f"play raised {type(why).__name__}: {why!s:.200}") from why


@clause("never_raises")
def reset_returns_pair(subject: Subject) -> None:
    """`reset` returns (observation, info)."""
    with subject.make() as env:
        result: Any = env.reset(seed=0)
    expect(isinstance(result, tuple) and len(result) == 2, f"reset returned {result!r:.100}")


@clause("reset_returns_pair")
def step_returns_five(subject: Subject) -> None:
    """`step` returns (observation, reward, terminated, truncated, info)."""
    with subject.make() as env:
        env.reset(seed=0)
        first: Any = env.step(env.sample_random_action())
    for result in (first, *(result for result in subject.results if not isinstance(result, tuple) or len(result) != 2)):
        expect(isinstance(result, tuple) and len(result) == 5, f"step returned {result!r:.100}")


@clause("step_returns_five")
def info_is_dict(subject: Subject) -> None:
    """`info` is a dict with string keys."""
    for info in subject.infos:
        expect(isinstance(info, dict), f"info is a {type(info).__name__}")
        odd = [key for key in info if not isinstance(key, str)]
        expect(not odd, f"info has the key {odd[:1]}, which is not a string")


@clause("step_returns_five")
def flags_are_bools(subject: Subject) -> None:
    """`terminated` and `truncated` are bools (not 0, 1, None or numpy's)."""
    for _, _, terminated, truncated, _ in subject.steps:
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            expect(type(flag) is bool, f"{name} is {flag!r:.60} of type {type(flag).__name__}")


@clause(*PLAYABLE)
def reset_begins_again(subject: Subject) -> None:
    """After an end, `reset` begins a new episode that is not over at once."""
    fresh = [subject.play(seed) for seed in subject.seeds]
    with subject.make() as env:
        subject.play(subject.seeds[0], env=env)
        try:
            later = [subject.play(seed, env=env) for seed in subject.seeds]
        except Exception as why:
            raise Breach(f"an episode after an end raised {type(why).__name__}: {why!s:.100}") from why
    expect(any(episode.ended for episode in later) or not any(episode.ended for episode in fresh), "episodes after an end never end")
    turns = [max(len(episode.steps) for episode in episodes) for episodes in (fresh, later)]
    expect(turns[1] > 1 or turns[0] <= 1, "episodes after an end are over at once")


@clause(*SHAPE)
def info_is_json(subject: Subject) -> None:
    """`json.dumps(info, allow_nan=False)` works, and what is read back is what was written (tuples are lists)."""
    for info in subject.infos:
        try:
            json.dumps(info, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as why:
            raise Breach(f"info {info!r:.100} is not JSON: {why}") from None
        odd = _odd_part(info)
        expect(odd is None, f"info {info!r:.100} has {odd}, which JSON does not keep as it is")


def _odd_part(value: Any) -> str | None:
    """Name the first part that JSON would turn into another type: what numpy derives from float and str, a key that is a number."""
    if type(value) is dict:
        odd = [key for key in value if type(key) is not str]
        return f"the key {odd[0]!r}" if odd else next(filter(None, map(_odd_part, value.values())), None)
    if type(value) in (list, tuple):
        return next(filter(None, map(_odd_part, value)), None)
    return None if type(value) in _PLAIN else f"a {type(value).__module__}.{type(value).__qualname__}"


@clause("reset_begins_again")
def info_is_fresh(subject: Subject) -> None:
    """Every `info` is a dict of its own that later calls leave alone, all the way down."""
    _expect_unchanged(subject, -1, "an info")


@clause("step_returns_five")
def observation_in_space(subject: Subject) -> None:
    """An observation is text, or a list of chat messages, as `observation_space` says, and of one kind throughout."""
    with subject.make() as env:
        space = env.observation_space
    kinds: set[bool] = set()
    for obs, *_ in subject.results:
        kind = isinstance(obs, str) or (isinstance(obs, list) and all(map(is_message, obs)))
        expect(kind, f"the observation {obs!r:.80} is neither text nor chat messages")
        expect(space.contains(obs), f"the observation {obs!r:.80} is not in {space}")
        kinds.add(isinstance(obs, str))
    expect(len(kinds) == 1, "some observations are text and some are chat messages")


@clause("reset_begins_again", "observation_in_space")
def observation_is_not_aliased(subject: Subject) -> None:
    """An observation that was returned does not change later."""
    _expect_unchanged(subject, 0, "an observation")


def _expect_unchanged(subject: Subject, place: int, what: str) -> None:
    """Raise `Breach` where a later call changes one part of what a call returned, or returns a dict again."""
    seen: list[tuple[Any, str]] = []
    with subject.make() as env:
        for seed in subject.seeds[:2]:
            result: Any = env.reset(seed=seed)
            for _ in range(10):
                part = result[place]
                expect(not isinstance(part, dict) or all(part is not other for other, _ in seen), "two calls returned the same info dict")
                seen.append((part, repr(part)))
                if len(result) == 5 and (result[2] or result[3]):
                    break
                result = env.step(env.sample_random_action())
                for part, shown in seen:
                    expect(repr(part) == shown, f"a later call changed {what} that was returned before: {shown:.80} became {part!r:.80}")


@clause(*SHAPE)
def info_avoids_reserved_names(subject: Subject) -> None:
    """`info` uses none of the names that trainers keep for themselves."""
    for info in subject.infos:
        taken = RESERVED & info.keys()
        expect(not taken, f"info uses the reserved name {min(taken, default='')!r}")


@clause(*SHAPE)
def wall_times_only_when_asked(subject: Subject) -> None:
    """`info` has no wall times unless `make(..., timing=True)` asked for them."""
    for info in subject.infos:
        expect("timing" not in info, "info has 'timing' though nobody asked for it")


@clause(*SHAPE)
def invalid_action_says_why(subject: Subject) -> None:
    """`info["invalid_action"]`, where there is one, is `{"reason": text, "hint": text}`."""
    for info in subject.infos:
        found = info.get("invalid_action", {"reason": "", "hint": ""})
        fine = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("reason", "hint"))
        expect(fine, f"invalid_action is {found!r:.100}")


@clause("step_returns_five")
def actions_are_text(subject: Subject) -> None:
    """Random and oracle actions are text, or a chat message, or in `action_space`."""
    for name in ("sample_random_action", *(["oracle_action"] if subject.info.oracle == "actions" else [])):
        with subject.make() as env:
            env.reset(seed=0)
            action: Any = getattr(env, name)()
            fine = isinstance(action, (str, dict)) or action is None or env.action_space.contains(action)
            expect(fine, f"{name} returned {action!r:.80}, a {type(action).__name__}")


@clause("step_returns_five")
def reward_is_float(subject: Subject) -> None:
    """A reward is a float (not an int, a bool, an array, or None)."""
    for _, reward, *_ in subject.steps:
        expect(type(reward) is float, f"a reward is {reward!r:.60} of type {type(reward).__name__}")


@clause("step_returns_five")
def reward_is_finite(subject: Subject) -> None:
    """A reward is finite."""
    for _, reward, *_ in subject.steps:
        expect(not isinstance(reward, float) or math.isfinite(reward), f"a reward is {reward}")


@clause("flags_are_bools")
def ends_in_one_way(subject: Subject) -> None:
    """`terminated` and `truncated` are never both true."""
    for _, _, terminated, truncated, _ in subject.steps:
        expect(not (terminated and truncated), "terminated and truncated are both true")


@clause(*SHAPE, "observation_in_space", "reward_is_finite")
def survives_any_text(subject: Subject) -> None:
    """Text that means nothing (empty, huge, NUL, half a surrogate pair) is a result, not an exception."""
    for text in HOSTILE:
        with subject.make() as env:
            env.reset(seed=0)
            try:
                result: Any = env.step(text)
            except Exception as why:
                if isinstance(why, ContractError) and not env.action_space.contains(text):
                    continue  # a typed refusal of what its space does not hold
                raise Breach(f"the action {text!r:.40} raised {type(why).__name__}: {why!s:.100}") from why
        expect(isinstance(result, tuple) and len(result) == 5, f"the action {text!r:.40} gave {result!r:.80}")
