"""Guarded turns what an environment raises into a faulted result, and builds a new environment for the next episode."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
import weakref

import pytest

from gem import events
from gem.errors import ContractError, EnvError, GradingError, ResetNeeded, StepTimeout
from gem.spaces import Messages
from gem.trajectory import Trajectory
from gem.wrappers import ConcatHistory, Contract, EpisodeStats, Guarded, RecordEpisode, TimeLimit
from tests.wrappers.envs import AsyncTextGame, FailingTextGame, Plan, Scripted, TextGame
from tests.wrappers.paths import play
from tests.wrappers.suite import GUESSES, WrapperSuite


class TestGuardedIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return Guarded(env)


class TestGuardedAroundTheStackOfMake(WrapperSuite):
    def wrap(self, env):
        return Guarded(TimeLimit(Contract(env), 8))


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL, "gem.wrappers.guarded")


def faulted(**raises):
    """Return a plan whose calls `_n` raise."""
    return Plan({int(name.strip("_")): error for name, error in raises.items()})


# -- what a fault looks like ---------------------------------------------------------------------------------------------


def test_an_exception_in_step_is_a_truncated_result_with_the_last_observation_and_the_error(failing, path):
    env = Guarded(failing(faulted(_3=RuntimeError("the box broke"))))
    path.reset(env, seed=1)
    seen, *_ = path.step(env, "x")
    obs, reward, terminated, truncated, info = path.step(env, "x")
    assert (obs, reward, terminated, truncated) == (seen, 0.0, False, True)
    assert type(reward) is float
    assert info == {"error": {"type": "RuntimeError", "message": "the box broke", "phase": "step", "retryable": False}}


def test_at_the_first_step_the_last_observation_is_that_of_reset(failing, path):
    env = Guarded(failing(faulted(_2=RuntimeError("boom"))))
    first, _ = path.reset(env, seed=1)
    assert path.step(env, "x")[0] == first


def test_an_exception_in_reset_is_an_empty_observation_of_the_same_kind_and_the_error(failing, path):
    env = Guarded(failing(faulted(_1=ValueError("no such map"))))
    obs, info = path.reset(env, seed=1)
    assert obs == ([] if isinstance(env.observation_space, Messages) else "")
    assert env.observation_space.contains(obs)
    assert info == {"error": {"type": "ValueError", "message": "no such map", "phase": "reset", "retryable": False}}


def test_history_around_text_has_messages_as_its_empty_observation(path):
    env = Guarded(ConcatHistory(FailingTextGame(faulted(_1=ValueError("boom"))), "messages"))
    assert path.reset(env)[0] == []
    path.close(env)


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (StepTimeout("slow"), True),
        (GradingError("unsure"), True),
        (OSError("gone"), True),
        (EnvError("odd"), False),
        (KeyError("k"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_says_whether_the_same_call_may_succeed_later(path, error, retryable):
    env = Guarded(FailingTextGame(faulted(_2=error)))
    path.reset(env)
    told = path.step(env, "x")[4]["error"]
    assert (told["type"], told["retryable"]) == (type(error).__name__, retryable)
    path.close(env)


def test_a_breach_of_the_contract_is_a_fault(scripted, path):
    env = Guarded(Contract(scripted(("begin", {}), ("", float("nan"), False, False, {}))))
    path.reset(env)
    obs, reward, terminated, truncated, info = path.step(env, "x")
    assert (obs, reward, terminated, truncated) == ("begin", 0.0, False, True)
    assert info["error"]["type"] == "ContractError"


def test_a_reset_of_a_task_that_does_not_exist_is_a_fault(game, path):
    env = Guarded(Contract(game()))
    _, info = path.reset(env, options={"task": "nowhere/3"})
    assert info["error"]["type"] == "ContractError"
    assert "nowhere" in info["error"]["message"]
    assert "error" not in path.reset(env)[1]


def test_a_faulted_episode_is_not_valid_for_a_trajectory(path):
    env = Guarded(FailingTextGame(faulted(_3=RuntimeError("boom"))))
    episode = Trajectory(env_id="t")
    obs, _ = path.reset(env)
    for _ in range(2):
        obs, *rest = path.step(env, "x")
        episode.add_turn(obs, "x", *rest)
    assert (episode.valid, episode.truncated, episode.terminated, episode.reward) == (False, True, False, -0.0625)
    path.close(env)


# -- what passes ---------------------------------------------------------------------------------------------------------


def test_a_step_before_reset_or_after_the_end_is_the_callers_own_mistake_and_passes(game, path):
    env = Guarded(Contract(game(tries=1)))
    with pytest.raises(ResetNeeded, match="before reset"):
        path.step(env, "x")
    episode = play(path, env, ["x"])
    assert episode[-1][2]
    inner = env.unwrapped
    with pytest.raises(ResetNeeded, match="over"):
        path.step(env, "x")
    assert "error" not in path.reset(env)[1]
    assert env.unwrapped is inner, "a caller's mistake must not cost the environment"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), SystemExit(3)], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("call", [1, 2], ids=["reset", "step"])
def test_what_is_no_exception_of_the_environment_passes_and_the_next_reset_builds_anew(error, call, both):
    plan = faulted(**{f"_{call}": error})
    env = Guarded(FailingTextGame(plan))
    sync, _ = both
    with pytest.raises(type(error)):
        play(sync, env, ["x"])
    assert "error" not in sync.reset(env)[1]
    assert plan.built == 2
    sync.close(env)


async def test_a_cancelled_step_passes_the_cancellation_and_the_half_stepped_environment_is_not_used_again():
    gate = asyncio.Event()

    class Waiting(AsyncTextGame):
        async def astep(self, action):
            if action == "wait":
                gate.set()
                await asyncio.Event().wait()
            return await super().astep(action)

    env = Guarded(Waiting())
    await env.areset(seed=1)
    first = env.unwrapped
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(env.astep("wait"), 0.02)
    _, info = await env.areset(seed=1)
    assert "error" not in info
    assert env.unwrapped is not first
    await env.aclose()


async def test_a_step_that_hangs_on_the_environments_own_thread_costs_its_episode_alone():
    release = threading.Event()

    class Hanging(TextGame):
        def step(self, action):
            if action == "hang":
                release.wait(5)
            return super().step(action)

    env = Guarded(Hanging(), close_timeout=0.02)
    await env.areset(seed=1)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(env.astep("hang"), 0.02)
    began = time.perf_counter()
    _, info = await env.areset(seed=1)
    assert "error" not in info
    assert time.perf_counter() - began < 2
    release.set()
    await env.aclose()


# -- what comes after ----------------------------------------------------------------------------------------------------


def test_the_next_reset_closes_the_broken_environment_and_builds_a_new_one(failing, path):
    plan = faulted(_3=RuntimeError("boom"))
    env = Guarded(failing(plan))
    play(path, env, ["x", "x"])
    broken = env.unwrapped
    assert (plan.built, plan.closed) == (1, 0)
    episode = play(path, env, ["x"] * 3)
    assert env.unwrapped is not broken
    assert (plan.built, plan.closed) == (2, 1)
    assert not any("error" in row[-1] for row in episode)


def test_the_new_environment_plays_as_an_unbroken_one_would(failing, path):
    env = Guarded(failing(faulted(_3=RuntimeError("boom"))))
    play(path, env, ["x", "x"])
    fresh = failing(Plan())
    assert play(path, env, [*GUESSES]) == play(path, fresh, [*GUESSES])


def test_further_steps_of_a_broken_episode_are_faults_that_say_to_reset(failing, path):
    plan = faulted(_2=RuntimeError("boom"))
    env = Guarded(failing(plan))
    first, _ = path.reset(env, seed=1)
    path.step(env, "x")
    obs, reward, terminated, truncated, info = path.step(env, "x")
    assert (obs, reward, terminated, truncated) == (first, 0.0, False, True)
    assert info["error"]["type"] == "EnvCrashed"
    assert "Call reset" in info["error"]["message"]
    assert plan.calls == 2, "the broken environment must not be touched again"


def test_a_step_after_a_failed_reset_is_a_fault_with_the_empty_observation(failing, path):
    env = Guarded(failing(faulted(_3=RuntimeError("boom"))))
    play(path, env, ["x"])
    empty, _ = path.reset(env)
    assert path.step(env, "x")[0] == empty


def test_a_reset_may_fail_any_number_of_times_before_one_succeeds(failing, path):
    plan = Plan({n: RuntimeError(f"try {n}") for n in (1, 2, 3)})
    env = Guarded(failing(plan))
    for n in (1, 2, 3):
        assert path.reset(env, seed=1)[1]["error"]["message"] == f"try {n}"
    assert "error" not in path.reset(env, seed=1)[1]
    assert (plan.built, plan.closed) == (4, 3)


@pytest.mark.parametrize("seeded", ["by make", "by a first reset"])
@pytest.mark.parametrize("broken_at", range(2, 10))
def test_unseeded_resets_go_on_exactly_where_the_stream_stood(seeded, broken_at, path):
    """Two turns an episode: calls 1, 4, 7, ... are resets."""

    def firsts(env):
        if seeded == "by make":
            env.seed_resets(7)
        shown = [path.reset(env, seed=None if seeded == "by make" else 7)]
        for _ in range(4):
            for _ in range(2):
                if path.step(env, "x")[3]:
                    break
            shown.append(path.reset(env))
        path.close(env)
        return shown

    expected = firsts(TextGame())
    env = Guarded(FailingTextGame(faulted(**{f"_{broken_at}": RuntimeError("boom")})))
    found = firsts(env)
    failed = [row for row in found if "error" in row[1]]
    assert len(failed) == (broken_at % 3 == 1)
    kept = [(want, got) for want, got in zip(expected, found, strict=True) if "error" not in got[1]]
    assert [want for want, _ in kept] == [got for _, got in kept]


def test_split_policy_and_wrappers_inside_are_built_anew_too(path):
    inner = EpisodeStats(TimeLimit(FailingTextGame(faulted(_2=RuntimeError("boom"))), 2), window=5)
    env = Guarded(inner)
    env.split, env.timing = "test", True
    play(path, env, ["x"])
    episode = play(path, env, ["x"] * 9)
    assert [type(layer) for layer in (env.env, env.env.env)] == [EpisodeStats, TimeLimit]
    assert env.env is not inner
    assert len(episode) == 3
    assert (env.split, env.timing, env.env.returns.maxlen) == ("test", True, 5)
    path.close(env)


def test_what_was_recorded_inside_is_kept_when_the_environment_breaks(path):
    episodes = []
    env = Guarded(RecordEpisode(FailingTextGame(faulted(_3=RuntimeError("boom"))), on_episode=episodes.append))
    play(path, env, ["x", "x"])
    path.reset(env)
    assert [(len(row.turns), row.valid) for row in episodes] == [(1, False)]
    path.close(env)


def test_a_constructor_that_fails_is_a_failed_reset_and_tried_again(path):
    class Fickle(TextGame):
        builds = 0

        def __init__(self):
            type(self).builds += 1
            if self.builds == 2:
                raise OSError("no memory")
            super().__init__()

        def step(self, action):
            if self.builds == 1:
                raise RuntimeError("boom")
            return super().step(action)

    env = Guarded(Fickle())
    play(path, env, ["x"])
    _, info = path.reset(env, seed=1)
    assert info["error"] == {"type": "OSError", "message": "no memory", "phase": "reset", "retryable": True}
    assert "error" not in path.reset(env, seed=1)[1]
    path.close(env)


def test_a_close_that_raises_does_not_lose_the_next_episode(path):
    class Stuck(TextGame):
        def close(self):
            super().close()
            raise OSError("cannot unmount")

        def step(self, action):
            raise RuntimeError("boom")

    env = Guarded(Stuck())
    play(path, env, ["x"])
    assert "error" not in path.reset(env)[1]
    with pytest.raises(OSError, match="unmount"):
        path.close(env)


@pytest.fixture(params=["sync environment", "async environment"])
def hanging(request):
    """Makes a guarded environment that breaks at its first step and hangs at close, until the test is over."""
    release = threading.Event()

    class Hanging(TextGame):
        broken = False

        def step(self, action):
            if action == "break":
                self.broken = True
                raise RuntimeError("boom")
            return super().step(action)

        def close(self):
            if self.broken:
                release.wait(5)
            super().close()

    class AsyncHanging(AsyncTextGame):
        broken = False

        async def astep(self, action):
            if action == "break":
                self.broken = True
                raise RuntimeError("boom")
            return await super().astep(action)

        async def aclose(self):
            while self.broken and not release.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:  # the worst kind: it does not heed it
                    continue

    env = Guarded(Hanging() if request.param == "sync environment" else AsyncHanging(), close_timeout=0.02)
    yield env
    release.set()
    env.close()


def test_a_close_that_hangs_does_not_lose_the_next_episode(hanging, path):
    path.reset(hanging, seed=1)
    path.step(hanging, "break")
    began = time.perf_counter()
    episode = play(path, hanging, [*GUESSES])
    assert time.perf_counter() - began < 1, "the next reset waited for a close that hangs"
    assert episode == play(path, TextGame(), [*GUESSES])


def test_repeated_failures_leave_no_threads_behind(failing, path):
    env = Guarded(failing(Plan({n: RuntimeError("boom") for n in range(2, 100, 2)})))
    play(path, env, ["x"])
    before = threading.active_count()
    for _ in range(20):
        assert "error" in play(path, env, ["x"])[-1][-1]
    deadline = time.perf_counter() + 2
    while threading.active_count() > before and time.perf_counter() < deadline:
        time.sleep(0.005)
    assert threading.active_count() <= before, [thread.name for thread in threading.enumerate()]


def test_a_broken_environment_is_not_kept_alive(path):
    env = Guarded(FailingTextGame(faulted(_2=RuntimeError("boom"))))
    broken = weakref.ref(env.unwrapped)
    play(path, env, ["x"])
    path.reset(env)
    deadline = time.perf_counter() + 2
    while broken() is not None and time.perf_counter() < deadline:
        gc.collect()
        time.sleep(0.005)
    assert broken() is None
    path.close(env)


# -- snapshots, events ---------------------------------------------------------------------------------------------------


def test_a_snapshot_restores_onto_a_new_environment_where_this_one_is_broken(failing, path):
    plan = faulted(_3=RuntimeError("boom"))
    env = Guarded(failing(plan))
    path.reset(env, seed=1)
    path.step(env, "x")
    state = env.get_state()
    broken = env.unwrapped
    assert "error" in path.step(env, "x")[4]
    with pytest.raises(ResetNeeded, match="the environment broke"):
        env.get_state()
    env.set_state(state)
    assert env.unwrapped is not broken
    assert "error" not in path.step(env, "x")[4]


def test_a_fault_after_a_restored_snapshot_repeats_the_restored_observation(path):
    plan = Plan()
    env = Guarded(FailingTextGame(plan))
    path.reset(env, seed=1)
    seen, *_ = path.step(env, "x")
    state = env.get_state()
    path.reset(env, seed=2)
    env.set_state(state)
    plan.raises[4] = RuntimeError("boom")
    assert path.step(env, "x")[0] == seen
    path.close(env)


def test_tells_subscribers_of_faults_and_restarts(path):
    told = []
    stop = events.subscribe(lambda event: told.append((event.kind, event.data)))
    try:
        env = Guarded(FailingTextGame(faulted(_2=RuntimeError("boom"))))
        play(path, env, ["x"])
        path.reset(env)
        path.close(env)
    finally:
        stop()
    name = "FailingTextGame"
    assert told == [
        ("fault", {"env_id": name, "phase": "step", "type": "RuntimeError", "message": "boom"}),
        ("restart", {"env_id": name}),
    ]


def test_logs_a_fault_without_its_traceback_at_warning(path, caplog):
    caplog.set_level(logging.DEBUG, "gem.wrappers.guarded")
    env = Guarded(FailingTextGame(faulted(_2=RuntimeError("boom"))))
    play(path, env, ["x"])
    path.close(env)
    warning, detail = caplog.records
    assert (warning.levelname, warning.getMessage(), warning.exc_info) == ("WARNING", "FailingTextGame: RuntimeError in step: boom", None)
    assert detail.levelname == "DEBUG"
    assert detail.exc_info


def test_a_healthy_episode_is_changed_in_nothing(game, path):
    assert play(path, Guarded(game()), [*GUESSES]) == play(path, game(), [*GUESSES])


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "5", None], ids=repr)
def test_a_close_timeout_that_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(ContractError, match="Scripted: close_timeout must be a number of seconds, not"):
        Guarded(Scripted(), close_timeout=seconds)


def test_the_close_timeout_survives_spawn_and_restarts(path):
    env = Guarded(FailingTextGame(faulted(_2=RuntimeError("boom"))), close_timeout=0.5)
    play(path, env, ["x"])
    path.reset(env)
    assert env.spawn()._close_timeout == 0.5
    path.close(env)
