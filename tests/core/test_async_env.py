"""Async environments are used from anywhere: threads, loops, Jupyter, after a fork."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gem import aio
from gem.core import AsyncEnv
from gem.errors import ContractError


class Ask(AsyncEnv):
    """Holds an asyncio.Lock, which breaks where two loops touch it."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.lock = None
        self.turn = self.closed = 0

    async def areset(self, seed=None, options=None):
        _, info = await super().areset(seed, options)
        self.lock, self.turn = asyncio.Lock(), 0
        return f"{self.rng.randrange(1000)}", info

    async def astep(self, action):
        assert aio.on_home_loop()
        async with self.lock:
            await asyncio.sleep(self.delay)
            self.turn += 1
        return f"{self.turn} {self.rng.random()}", 0.0, False, False, {}

    async def aclose(self):
        self.closed += 1


def episode(env):
    return [env.reset(seed=1), env.step("a"), env.step("b")]


async def aepisode(env):
    return [await env.areset(seed=1), await env.astep("a"), await env.astep("b")]


def test_both_paths_play_the_same_episode():
    assert episode(Ask()) == asyncio.run(aepisode(Ask()))


def test_sync_calls_work_inside_a_running_loop():
    async def mixed():
        env = Ask()
        first = env.reset(seed=1)
        return [first, await env.astep("a"), env.step("b")]

    assert asyncio.run(mixed()) == episode(Ask())


def test_one_environment_survives_two_loops_in_a_row():
    env = Ask()

    async def begin():
        return [await env.areset(seed=1), await env.astep("a")]

    async def go_on():
        return [await env.astep("b")]

    assert asyncio.run(begin()) + asyncio.run(go_on()) == episode(Ask())


def test_sixty_four_threads_play_at_once():
    with ThreadPoolExecutor(64) as pool:
        results = list(pool.map(lambda _: episode(Ask(0.001)), range(64)))
    assert all(result == results[0] for result in results)


def test_steps_of_many_environments_overlap():
    async def many():
        envs = [Ask(0.05) for _ in range(50)]
        await asyncio.gather(*(env.areset(seed=1) for env in envs))
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(env.astep("a") for env in envs))
        return asyncio.get_running_loop().time() - start

    assert asyncio.run(many()) < 50 * 0.05 / 3


def test_a_sync_call_from_the_home_loop_is_refused_and_not_a_deadlock():
    class Outer(Ask):
        async def astep(self, action):
            return Ask().reset(seed=1)

    env = Outer()
    env.reset(seed=1)
    with pytest.raises(ContractError, match="would wait for itself: await areset, astep or aclose"):
        env.step("x")


def test_after_a_fork_the_child_has_a_loop_of_its_own():
    env = Ask()
    env.reset(seed=1)
    child = os.fork()
    if child == 0:
        threading.Timer(5, os._exit, (4,)).start()
        try:
            os._exit(0 if episode(Ask()) == [env.reset(seed=1), env.step("a"), env.step("b")] else 2)
        except BaseException:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0


def test_cancelling_the_caller_cancels_the_body():
    env = Ask(30)

    async def play():
        await env.areset(seed=1)
        task = asyncio.create_task(env.astep("a"))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert env.turn == 0


def test_close_waits_for_aclose():
    with Ask() as env:
        env.reset(seed=1)
    assert env.closed == 1


def test_subclasses_of_subclasses_work():
    class Louder(Ask):
        async def astep(self, action):
            obs, *rest = await super().astep(action)
            return obs.upper() + "!", *rest

    env = Louder()
    env.reset(seed=1)
    assert env.step("x")[0].endswith("!")


def test_a_sync_method_on_an_async_environment_is_refused():
    with pytest.raises(TypeError, match="Wrong is an AsyncEnv and defines step: override astep alone"):

        class Wrong(AsyncEnv):
            def step(self, action):
                return "", 0.0, True, False, {}
