"""A wrapper is one body for both paths, and forwards what it does not change."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem import aio
from gem.core import Env, Wrapper
from gem.errors import ContractError
from gem.seeding import derive
from tests.core.test_async_env import Ask
from tests.core.test_env import Guess


class Shout(Wrapper):
    """Hooks only."""

    def on_reset(self, obs, info):
        return obs.upper(), info

    def on_action(self, action):
        return action.removeprefix("say ")

    def on_step(self, action, obs, reward, terminated, truncated, info):
        return obs.upper(), reward, terminated, truncated, {**info, "said": action}

    def outward(self, action):
        return f"say {action}"


class Tool(Wrapper):
    """Skips, repeats and awaits."""

    def __init__(self, env):
        super().__init__(env)
        self.calls = 0

    async def flow(self, action, io):
        if action == "tool":
            self.calls += 1
            return await io.run(self._work()), 0.0, False, False, {}
        if action == "twice":
            await io.step("first")
            return await io.step("second")
        return await io.step(action)

    async def _work(self):
        await asyncio.sleep(0)
        return f"worked {self.calls}"

    def own_state(self):
        return self.calls

    def set_own_state(self, state):
        self.calls = state


def play(env, actions):
    return [env.reset(seed=1), *(env.step(action) for action in actions)]


async def aplay(env, actions):
    return [await env.areset(seed=1), *[await env.astep(action) for action in actions]]


@given(st.lists(st.sampled_from(["tool", "twice", "say 5", "7", ""]), max_size=8), st.sampled_from([Guess, Ask]))
@settings(max_examples=40, deadline=None)
def test_both_paths_give_the_same_episode(actions, make):
    sync, other = Tool(Shout(make())), Tool(Shout(make()))
    assert play(sync, actions) == asyncio.run(aplay(other, actions))
    sync.close(), other.close()


def test_hooks_change_what_goes_in_and_out():
    env = Shout(Guess())
    obs, _ = env.reset(seed=1)
    assert obs == "GUESS BELOW 100"
    secret = env.secret
    assert env.step(f"say {secret}")[1] == 1.0


def test_actions_of_the_inner_environment_come_out_as_this_wrapper_takes_them():
    env = Shout(Guess())
    env.reset(seed=1)
    assert env.sample_random_action().startswith("say ")
    assert env.oracle_action() is None


def test_a_flow_that_awaits_by_itself_is_refused_on_the_sync_path():
    class Wrong(Wrapper):
        async def flow(self, action, io):
            await asyncio.sleep(0)
            return await io.step(action)

    env = Wrong(Guess())
    env.reset(seed=1)
    with pytest.raises(ContractError, match=r"Wrong.flow awaited something by itself.*io.run"):
        env.step("1")


@pytest.mark.parametrize("name", ["step", "astep", "reset", "areset", "close", "aclose"])
def test_one_half_of_a_pair_is_refused_when_the_class_is_made(name):
    with pytest.raises(TypeError, match=f"Half overrides {name} alone"):
        type("Half", (Wrapper,), {name: lambda self: None})


def test_both_halves_are_accepted():
    class Both(Wrapper):
        def step(self, action):
            return self.env.step(action)

        async def astep(self, action):
            return await self.env.astep(action)

    assert play(Both(Guess()), ["1"]) == play(Guess(), ["1"])


def test_everything_that_env_defines_is_forwarded():
    inner = Guess()
    env = Wrapper(Wrapper(inner))
    env.reset(seed=3)
    own = {"env", "get_state", "set_state", "spawn"}
    for name in dir(Env):
        if name.startswith("_") or name in own or callable(getattr(Env, name, None)):
            continue
        assert getattr(env, name) is getattr(inner, name), name


def test_a_wrapper_can_have_spaces_of_its_own():
    env = Shout(Guess())
    space = object()
    env.observation_space = space
    assert env.observation_space is space
    assert env.unwrapped.observation_space is not space


def test_attributes_of_the_author_are_read_through_and_set_where_they_are():
    env = Shout(Guess())
    env.reset(seed=1)
    assert env.secret == env.unwrapped.secret
    env.set_wrapper_attr("secret", 5)
    assert (env.unwrapped.secret, env.get_wrapper_attr("secret"), env.has_wrapper_attr("secret")) == (5, 5, True)
    with pytest.raises(AttributeError):
        _ = env.nothing_of_the_kind
    with pytest.raises(AttributeError):
        _ = env._private_of_the_inner


def test_a_snapshot_covers_the_whole_stack():
    env = Tool(Shout(Guess()))
    env.reset(seed=1)
    env.step("tool")
    state = env.get_state()
    expected = [env.step("tool"), env.step("7")]
    twin = Tool(Shout(Guess()))
    twin.set_state(state)
    assert [twin.step("tool"), twin.step("7")] == expected


def test_a_snapshot_of_another_stack_is_refused():
    env = Shout(Guess())
    env.reset(seed=1)
    with pytest.raises(ContractError, match="not a snapshot of the wrapper Tool"):
        Tool(Guess()).set_state(env.get_state())


def test_spawn_makes_the_whole_stack_anew():
    env = Tool(Shout(Guess(high=7)))
    env.reset(seed=1)
    env.step("tool")
    twin = env.spawn()
    assert (type(twin), twin.unwrapped.high, twin.calls) == (Tool, 7, 0)
    assert env.spawn(same_state=True).step("7") == env.step("7")


def test_unseeded_resets_follow_the_stream_through_wrappers():
    env, plain = Shout(Guess()), Guess()
    env.seed_resets(3), plain.seed_resets(3)
    assert env.reset()[1] == plain.reset()[1]


# -- what nothing above would have noticed (tests/mutants) -------------------------------------------------------------


def test_what_a_wrapper_shares_is_set_on_the_wrapped_environment():
    env = Shout(Guess())
    env.split = "test"
    assert env.reset(seed=3)[1] == {"task": "test/3"}


def test_what_a_flow_runs_is_on_the_home_loop_on_both_paths():
    class Where(Wrapper):
        async def flow(self, action, io):
            return await io.run(self._where()), 0.0, False, False, {}

        async def _where(self):
            return aio.on_home_loop()

    assert Where(Guess()).step("x")[0] is True
    assert asyncio.run(Where(Guess()).astep("x"))[0] is True


def test_the_oracles_action_comes_out_as_this_wrapper_takes_it():
    class Sure(Guess):
        def oracle_action(self):
            return str(self.secret)

    env = Shout(Sure())
    env.reset(seed=1)
    assert env.oracle_action() == f"say {env.gold()}"
    assert env.step(env.oracle_action())[1] == 1.0


def test_spawn_hands_keywords_to_the_innermost_environment():
    env = Tool(Shout(Guess(high=7)))
    assert env.spawn(high=9).unwrapped.high == 9
    assert env.spawn(seed=3).reset()[1]["task"] == f"train/{derive(3, 0)}"


def test_a_mix_in_that_overrides_one_half_is_refused():
    class Mix:
        def step(self, action):
            return super().step(action)

    with pytest.raises(TypeError, match="overrides step alone of step/astep"):

        class Mixed(Mix, Wrapper):
            pass
