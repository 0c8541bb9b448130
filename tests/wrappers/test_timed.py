"""Timed adds wall times to info, where they were asked for."""

from __future__ import annotations

import asyncio
import time

import pytest

from gem.envs.registration import make
from gem.specs import EnvSpec
from gem.wrappers import Timed
from tests.wrappers.envs import AsyncTextGame, Plan, TextGame
from tests.wrappers.paths import play
from tests.wrappers.suite import GUESSES, WrapperSuite, timeless


class TestTimedIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return Timed(env)


class Slow(TextGame):
    def reset(self, seed=None, options=None):
        time.sleep(0.005)
        return super().reset(seed, options)

    def step(self, action):
        time.sleep(0.01)
        return super().step(action)


class AsyncSlow(AsyncTextGame):
    async def areset(self, seed=None, options=None):
        await asyncio.sleep(0.005)
        return await super().areset(seed, options)

    async def astep(self, action):
        await asyncio.sleep(0.01)
        return await super().astep(action)


@pytest.mark.parametrize("cls", [Slow, AsyncSlow], ids=lambda cls: cls.__name__)
def test_says_how_many_seconds_each_call_took(cls, path):
    env = Timed(cls())
    reset, step = play(path, env, ["x"])
    assert set(reset[-1]["timing"]) == {"reset_s"}
    assert set(step[-1]["timing"]) == {"step_s"}
    assert 0.004 < reset[-1]["timing"]["reset_s"] < 2
    assert 0.009 < step[-1]["timing"]["step_s"] < 2
    path.close(env)


def test_changes_nothing_else(game, path):
    timed = play(path, Timed(game()), [*GUESSES])
    assert all(type(seconds) is float for row in timed for seconds in row[-1]["timing"].values())
    assert timeless(timed) == play(path, game(), [*GUESSES])


def test_times_that_the_environment_gives_are_kept_and_its_dicts_left_alone(scripted, path):
    told = {"timing": {"verdict_s": 2.0}, "a": 1}
    env = Timed(scripted(("", told), ("", 0.0, True, False, told)))
    for row in play(path, env, ["x"]):
        assert row[-1]["timing"]["verdict_s"] == 2.0
        assert len(row[-1]["timing"]) == 2
    assert told == {"timing": {"verdict_s": 2.0}, "a": 1}


def test_what_the_environment_raises_passes(failing, path):
    env = Timed(failing(Plan({2: RuntimeError("boom")})))
    with pytest.raises(RuntimeError, match="boom"):
        play(path, env, ["x"])


@pytest.mark.parametrize("cls", [TextGame, AsyncTextGame], ids=lambda cls: cls.__name__)
def test_make_puts_it_on_only_where_timing_is_asked_for(cls, path):
    spec = EnvSpec("test:game", cls, max_turns=3)
    for asked in (True, False):
        env = make(spec, timing=asked)
        assert isinstance(env, Timed) is asked
        assert ["timing" in row[-1] for row in play(path, env, ["x", "x"])] == [asked] * 3
        assert env.timing is asked
        path.close(env)
