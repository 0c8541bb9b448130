"""Wrappers that a user writes: hooks alone, or a flow that skips, repeats and awaits, are one body for both paths."""

from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gem import aio
from gem.core import Wrapper
from gem.errors import ContractError
from gem.wrappers import Contract, EpisodeStats, Guarded, TimeLimit
from tests.wrappers.envs import TWINS, Plan, TextGame
from tests.wrappers.paths import Sync, play, text_of
from tests.wrappers.suite import WrapperSuite


class Politely(Wrapper):
    """Hooks only: wants `please` before each action, and counts how often it was said."""

    def __init__(self, env, word="please"):
        super().__init__(env)
        self.word = word
        self.said = 0

    def on_reset(self, obs, info):
        self.said = 0
        return obs, {**info, "polite.word": self.word}

    def on_action(self, action):
        text = text_of(action)
        self.said += text.startswith(self.word)
        return text.removeprefix(self.word).strip()

    def on_step(self, action, obs, reward, terminated, truncated, info):
        return obs, reward, terminated, truncated, {**info, "polite.said": self.said}

    def outward(self, action):
        return f"{self.word} {action}"

    def own_state(self):
        return self.said

    def set_own_state(self, state):
        self.said = state


class Assisted(Wrapper):
    """A flow: skips the environment for `think`, plays `a,b` as two turns, and asks a service for the digit of `?`."""

    def __init__(self, env):
        super().__init__(env)
        self.asked = 0

    async def flow(self, action, io):
        text = text_of(action)
        if text == "think":
            return await self.skipped(io)
        if text == "?":
            text = await io.run(self.ask())
        result = None
        for part in text.split(","):
            result = await io.step(part)
            if result[2] or result[3]:
                break
        return result

    async def skipped(self, io):
        await io.run(asyncio.sleep(0))
        thought = "thought" if self.observation_space.contains("") else [{"role": "user", "content": "thought"}]
        return thought, 0.0, False, False, {}

    async def ask(self):
        assert aio.on_home_loop(), "io.run must await on the home loop on both paths"
        await asyncio.sleep(0)
        self.asked += 1
        return str(-self.asked % 10)

    def own_state(self):
        return self.asked

    def set_own_state(self, state):
        self.asked = state


class AssistedTwice(Assisted):
    """Extends the flow that it inherits."""

    async def flow(self, action, io):
        obs, reward, terminated, truncated, info = await super().flow(action, io)
        return obs, reward, terminated, truncated, {**info, "asked": self.asked}


class TestAWrapperOfHooks(WrapperSuite):
    def wrap(self, env):
        return Politely(env)


class TestAWrapperWithAFlow(WrapperSuite):
    def wrap(self, env):
        return Assisted(env)


class TestAFlowThatExtendsAnother(WrapperSuite):
    def wrap(self, env):
        return TimeLimit(AssistedTwice(Politely(Contract(env))), 9)


actions = st.lists(st.sampled_from(["think", "?", "1,2", "3,x,4", "please 5", "6", "", ","]), max_size=9)


@pytest.mark.parametrize("pair", TWINS, ids=["text", "messages"])
@pytest.mark.parametrize(
    "wrap",
    [Politely, Assisted, lambda env: EpisodeStats(AssistedTwice(Guarded(Politely(Contract(env)))))],
    ids=["hooks", "flow", "a stack of both"],
)
@given(actions=actions, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plays_the_same_episode_on_both_paths(wrap, pair, both, actions, seed):
    episodes = []
    for cls in pair:
        for path in both:
            env = wrap(cls())
            episodes.append(play(path, env, actions, seed=seed))
            path.close(env)
    first, *others = episodes
    assert all(other == first for other in others)


def test_a_flow_may_skip_the_environment(game, path):
    env = Assisted(game())
    episode = play(path, env, ["think", "think"])
    assert text_of(episode[-1][0]) == "thought"
    assert env.unwrapped.turn == 0


def test_a_flow_may_play_several_turns(game, path):
    env = Assisted(game())
    play(path, env, ["x,x,x", "x"])
    assert env.unwrapped.turn == 4


def test_a_flow_may_await_on_the_home_loop(game, path):
    env = Assisted(game())
    play(path, env, ["?", "think", "?"])
    assert env.asked == 2


def test_an_error_in_what_a_flow_awaits_comes_out_of_step(game, path):
    class Broken(Assisted):
        async def ask(self):
            raise ConnectionError("no service")

    env = Broken(game())
    path.reset(env, seed=1)
    with pytest.raises(ConnectionError, match="no service"):
        path.step(env, "?")


def test_a_flow_may_catch_what_the_environment_raises(failing, path):
    class Again(Wrapper):
        async def flow(self, action, io):
            try:
                return await io.step(action)
            except RuntimeError:
                return await io.step(action)

    env = Again(failing(Plan({2: RuntimeError("boom")})))
    assert len(play(path, env, ["x"])) == 2
    assert env.unwrapped.turn == 1


class Directly(Wrapper):
    """Wrong on the sync path: awaits something without `io`."""

    def __init__(self, env, what):
        super().__init__(env)
        self.what = what

    async def flow(self, action, io):
        await self.what()
        return await io.step(action)


def a_future():
    return asyncio.get_running_loop().create_future()


async def a_sleep_within():
    await asyncio.sleep(0)


@pytest.mark.parametrize("what", [lambda: asyncio.sleep(0), a_sleep_within], ids=["a sleep", "a sleep within"])
def test_a_flow_that_awaits_by_itself_is_refused_on_the_sync_path(game, what):
    env = Directly(game(), what)
    env.reset(seed=1)
    with pytest.raises(ContractError, match=r"Directly\.flow awaited something by itself.*Write `await io\.run"):
        env.step("3")
    assert env.unwrapped.turn == 0


async def test_a_flow_that_awaits_by_itself_is_refused_on_the_sync_path_in_a_running_loop_too():
    for what in (a_future, lambda: asyncio.sleep(0.01), lambda: asyncio.sleep(0)):
        env = Directly(TextGame(), what)
        env.reset(seed=1)
        with pytest.raises(ContractError, match=r"Directly\.flow awaited something by itself"):
            env.step("3")


def test_a_flow_that_awaits_a_timer_by_itself_fails_outside_of_any_loop(game):
    """Asyncio itself notices first; a `ContractError` is a `RuntimeError` too."""
    env = Directly(game(), lambda: asyncio.sleep(0.01))
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match=r"no running event loop|awaited something by itself"):
        env.step("3")
    assert env.unwrapped.turn == 0


def test_sync_steps_of_a_flow_that_awaits_nothing_need_no_loop(monkeypatch):
    monkeypatch.setattr(aio, "home_loop", lambda: pytest.fail("a loop was asked for"))
    env = TimeLimit(Assisted(Contract(TextGame())), 3)
    assert len(play(Sync(), env, ["x", "1,2"])) == 3


def test_sync_steps_of_a_stack_run_on_the_callers_thread():
    threads = []

    class Noting(TextGame):
        def step(self, action):
            threads.append(threading.current_thread())
            return super().step(action)

    play(Sync(), Assisted(Politely(Noting())), ["x", "1,2"])
    assert set(threads) == {threading.current_thread()}
