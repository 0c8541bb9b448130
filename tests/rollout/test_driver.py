"""The driver: what is planned, how it is played, and what one bad episode does to the others, which is nothing."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest

import gem
from gem import aio, events
from gem.core import AsyncEnv, Env
from gem.envs import registration
from gem.errors import ContractError, EnvNotFound, GemError, RegistrationError
from gem.rollout import AgentAction, arun, run, stream
from gem.rollout.driver import plan
from gem.seeding import derive, key_seed
from gem.spaces import Messages
from gem.tasks import TaskSet
from gem.testing import CrashEnv, EchoEnv, SlowEnv
from gem.trajectory import Trajectory

GAME = "game:GuessTheNumber-v0-easy"
OTHER = "game:Hangman-v0-easy"


@pytest.fixture(autouse=True)
def own_registry():
    gem.list_envs()  # loads what is built in
    before = dict(registration.ENV_REGISTRY)
    for cls in WATCHED:
        cls.made = []
    yield
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


def register(entry_point, id="lab:env", blocking="none", **kwargs):
    gem.register(id, entry_point, override=True, info=gem.EnvInfo(blocking=blocking), **kwargs)
    return id


async def say(observation, info):
    return "hello"


class Watched(EchoEnv):
    """Remembers all that were made, whether they were closed, and on which threads they ran."""

    made: list[Watched] = []

    def __init__(self, turns: int = 2, sleep_s: float = 0.0):
        super().__init__(turns)
        self.closed, self.sleep_s, self.threads, self.resets = 0, sleep_s, set(), 0
        Watched.made.append(self)

    def reset(self, seed=None, options=None):
        self.threads.add(threading.current_thread().name)
        self.resets += 1
        return super().reset(seed, options)

    def step(self, action):
        self.threads.add(threading.current_thread().name)
        time.sleep(self.sleep_s)
        return super().step(action)

    def close(self):
        self.closed += 1
        super().close()


class WatchedSlow(SlowEnv):
    """Counts how many steps are under way at once, over all of its kind."""

    made: list[WatchedSlow] = []
    active = most = 0

    def __init__(self, delay_s: float = 0.02, turns: int = 2):
        super().__init__(delay_s, turns)
        self.closed = 0
        WatchedSlow.made.append(self)

    async def astep(self, action):
        assert aio.on_home_loop()
        WatchedSlow.active += 1
        WatchedSlow.most = max(WatchedSlow.most, WatchedSlow.active)
        try:
            return await super().astep(action)
        finally:
            WatchedSlow.active -= 1

    async def aclose(self):
        self.closed += 1


WATCHED = (Watched, WatchedSlow)


def open_envs(cls=Watched):
    return [env for env in cls.made if not env.closed]


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_the_plan_has_the_first_tasks_of_each_environment_with_all_their_samples():
    rows = plan([GAME, OTHER], tasks=3, samples=2)
    assert [(row.env.id, row.task, row.sample) for row in rows] == [
        (id, f"test/{index}", sample) for id in (GAME, OTHER) for index in range(3) for sample in range(2)
    ]
    assert rows[0].group == rows[1].group == f"{GAME}/test/0"
    assert len({row.group for row in rows}) == 6


def test_the_environments_seed_is_the_tasks_and_the_agents_is_the_samples():
    rows = plan(GAME, tasks=4, samples=5, seed=3)
    for index in range(4):
        own = rows[5 * index : 5 * index + 5]
        assert {row.env_seed for row in own} == {key_seed(3, f"test/{index}")}
        assert [row.agent_seed for row in own] == [derive(own[0].env_seed, k) for k in range(5)]
    assert len({row.env_seed for row in rows}) == 4
    assert len({row.agent_seed for row in rows}) == 20


def test_more_tasks_or_samples_change_no_seed_of_those_that_were_there():
    few = {(row.task, row.sample): (row.env_seed, row.agent_seed) for row in plan(GAME, tasks=2, samples=2, seed=1)}
    many = {(row.task, row.sample): (row.env_seed, row.agent_seed) for row in plan(GAME, tasks=5, samples=4, seed=1)}
    assert few.items() <= many.items()


def test_another_run_seed_gives_other_seeds_for_the_same_tasks():
    one, two = plan(GAME, tasks=5, seed=0), plan(GAME, tasks=5, seed=1)
    assert [row.task for row in one] == [row.task for row in two]
    assert not {row.env_seed for row in one} & {row.env_seed for row in two}


def test_the_split_is_test_or_the_only_one_or_what_is_asked_for():
    class OnlyTrain(EchoEnv):
        splits = ("train",)

    class OnlyDev(EchoEnv):
        splits = ("dev", "train")

    assert plan(GAME)[0].task == "test/0"
    assert plan(GAME, split="train")[0].task == "train/0"
    assert plan(register(OnlyTrain))[0].task == "train/0"
    assert plan(register(OnlyDev))[0].task == "dev/0"
    with pytest.raises(ContractError, match="has no split 'nope'; it has train, test"):
        plan(GAME, split="nope")


@pytest.mark.parametrize(
    "options", [{"tasks": 0}, {"samples": 0}, {"tasks": -1}, {"seed": -1}, {"seed": 1.5}, {"seed": "x"}, {"seed": None}]
)
def test_numbers_that_are_none_are_refused(options):
    with pytest.raises(RegistrationError):
        plan(GAME, **options)


def test_numpys_integers_are_numbers():
    assert plan(GAME, seed=np.int64(3), tasks=np.int64(2)) == plan(GAME, seed=3, tasks=2)


def test_planning_closes_the_environments_it_looks_at():
    plan(register(Watched), tasks=5)
    assert len(Watched.made) == 1
    assert not open_envs()


def test_fewer_tasks_than_asked_for_are_all_of_them():
    class Three(EchoEnv):
        def tasks(self, split="train"):
            return TaskSet(split, self.task_content, range(3))

    assert len(run(register(Three), say, tasks=10, samples=2)) == 6


# -- results -----------------------------------------------------------------------------------------------------------


class LaterTasksFirst:
    """An agent that takes the longer the earlier the task."""

    name = "later-tasks-first"

    def start(self, context):
        delay_s = 0.002 * (12 - int(context.task.partition("/")[2]))

        class Session:
            async def act(self, observation, info):
                await asyncio.sleep(delay_s)
                return AgentAction("hello")

            async def end(self, trajectory):
                return None

        return Session()


def test_results_come_in_the_order_of_the_plan_whatever_ends_first():
    ended = []
    ids = [register(EchoEnv, "lab:b"), register(EchoEnv, "lab:a")]
    found = run(ids, LaterTasksFirst(), tasks=12, samples=2, concurrency=24, on_episode=ended.append)
    keys = [(e.env_id, e.task, e.sample) for e in found]
    assert keys == [(id, f"test/{n}", k) for id in ("lab:b", "lab:a") for n in range(12) for k in range(2)]
    assert sorted(map(id, ended)) == sorted(map(id, found))
    assert ended[0].task != "test/0"


def test_the_order_of_the_plan_is_kept_for_tasks_that_are_named():
    names = ("zebra", "ant", "10", "9", "mole")

    class Named(EchoEnv):
        def tasks(self, split="train"):
            return TaskSet(split, self.task_content, names)

        def reset(self, seed=None, options=None):
            obs, info = super().reset(seed)
            return obs, {**info, **(options or {})}

    assert [e.task for e in run(register(Named), say, tasks=9)] == [f"test/{name}" for name in names]


def test_two_specs_of_one_id_are_two_environments_in_order():
    one = gem.EnvSpec("lab:echo", "gem.testing:EchoEnv", {"turns": 1})
    two = replace(one, kwargs={"turns": 4})
    found = run([one, two, one], say, tasks=2, concurrency=2)
    assert [len(e.turns) for e in found] == [1, 1, 4, 4, 1, 1]


def test_an_episode_says_what_it_was():
    gem.register("lab:echo", EchoEnv, turns=2, override=True, info=gem.EnvInfo(version=7))
    (episode,) = run("lab:echo", say, seed=5)
    assert (episode.env_id, episode.env_version, episode.split, episode.task) == ("lab:echo", 7, "test", "test/0")
    assert (episode.sample, episode.seed, episode.group, episode.agent) == (0, key_seed(5, "test/0"), "lab:echo/test/0", "say")
    assert (episode.reward, episode.valid, episode.terminated, episode.truncated) == (1.0, True, True, False)
    assert [(turn.index, turn.action, turn.reward) for turn in episode.turns] == [(0, "hello", 0.0), (1, "hello", 1.0)]
    assert episode.turns[0].observation.startswith("say anything")
    assert episode.final_observation == "hello"
    assert episode.timing["episode_s"] > 0
    assert Trajectory.from_json(episode.to_json()).turns == episode.turns


def test_the_same_run_gives_the_same_episodes_whatever_the_concurrency():
    def shown(concurrency):
        found = run([GAME, OTHER], gem_agent("random"), tasks=4, samples=2, seed=2, concurrency=concurrency)
        return [replace_timing(e).to_json() for e in found]

    assert shown(1) == shown(5) == shown(64)


def gem_agent(name):
    from gem.rollout import agents

    return agents.get(name)


def replace_timing(episode):
    episode.timing = {}
    return episode


def test_an_episode_is_told_as_it_ends_and_not_at_the_end():
    times = []
    run(register(WatchedSlow, delay_s=0.02, turns=1), say, tasks=4, concurrency=1, on_episode=lambda e: times.append(time.monotonic()))
    assert times[-1] - times[0] > 0.06


def test_limits_wrappers_and_keywords_reach_the_environments():
    class Louder(gem.Wrapper):
        def on_step(self, action, obs, reward, terminated, truncated, info):
            return obs.upper(), reward, terminated, truncated, info

    (episode,) = run(register(EchoEnv), say, turns=9, max_turns=2, wrappers=[Louder])
    assert [turn.action for turn in episode.turns] == ["hello"] * 2
    assert (episode.truncated, episode.valid, episode.final_observation) == (True, True, "HELLO")


def test_timing_is_kept_where_it_is_wanted():
    (episode,) = run(register(EchoEnv), say, timing=True)
    assert "timing" not in episode.turns[0].info
    assert episode.turns[0].timing


def test_success_and_metrics_are_taken_over():
    class Scored(EchoEnv):
        def step(self, action):
            obs, reward, over, cut, _ = super().step(action)
            return obs, reward, over, cut, {"metrics": {"moves": self.turn}, **({"success": True} if over else {})}

    (episode,) = run(register(Scored), say)
    assert (episode.success, episode.metrics) == (True, {"moves": 3})


# -- message environments ----------------------------------------------------------------------------------------------


class Chat(Env):
    """Observes a list of messages that it keeps and goes on to change, and takes messages."""

    observation_space = Messages()

    def reset(self, seed=None, options=None):
        _, info = super().reset(seed, options)
        self.messages = [{"role": "user", "content": "first"}]
        return self.messages, info

    def step(self, action):
        self.messages.append(action)
        self.messages.append({"role": "user", "content": f"got {action['tool_calls'][0]['id']}"})
        return self.messages, 0.0, len(self.messages) > 4, False, {}


def test_messages_go_both_ways_and_each_turn_keeps_what_was_seen_then():
    sent = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}
    seen = []

    async def act(observation, info):
        seen.append([dict(message) for message in observation])
        observation.append({"role": "user", "content": "an agent may scribble on it"})
        observation.pop()
        return AgentAction("", message=sent)

    (episode,) = run(register(Chat), act)
    assert [len(turn.observation) for turn in episode.turns] == [1, 3]
    assert [turn.observation for turn in episode.turns] == seen
    assert episode.turns[0].message == sent
    assert len(episode.final_observation) == 5
    assert episode.valid


def test_tokens_and_logprobs_of_an_action_are_kept():
    async def act(observation, info):
        return AgentAction("hi", prompt_ids=[1, 2], token_ids=[3, 4], logprobs=[-0.5, -0.25], finish_reason="stop", policy_version="step-3")

    (episode,) = run(register(EchoEnv), act)
    (call,) = episode.turns[0].calls
    assert (call.prompt_ids, call.completion_ids, call.mask, call.logprobs) == ([1, 2], [3, 4], [1, 1], [-0.5, -0.25])
    assert (call.finish_reason, call.policy_version) == ("stop", "step-3")


# -- where it runs -----------------------------------------------------------------------------------------------------


def test_what_does_not_block_is_played_in_place():
    run(register(Watched), say, tasks=8, concurrency=3)
    played = [env for env in Watched.made if env.threads]
    assert {name for env in played for name in env.threads} == {threading.current_thread().name}
    assert not [t for t in threading.enumerate() if t.name.startswith("gem-env")]


@pytest.mark.parametrize("blocking", ["cpu", "io"])
def test_what_blocks_is_played_on_a_thread_of_its_own_and_at_once(blocking):
    id = register(Watched, blocking=blocking, sleep_s=0.25, turns=1)
    start = time.monotonic()
    run(id, say, tasks=6, concurrency=6)
    assert time.monotonic() - start < 6 * 0.25
    played = [env for env in Watched.made if env.threads]
    assert len(played) == 6
    assert all(len(env.threads) == 1 and "gem-env" in min(env.threads) for env in played)
    assert not open_envs()
    settle(lambda: not [t for t in threading.enumerate() if t.name.startswith("gem-env")])


def settle(holds):
    deadline = time.monotonic() + 2
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert holds()


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_asynchronous_environments_overlap_up_to_the_limit(concurrency):
    WatchedSlow.most = 0
    run(register(WatchedSlow, delay_s=0.01), say, tasks=12, concurrency=concurrency)
    assert WatchedSlow.most == concurrency
    assert len(WatchedSlow.made) == concurrency + 1  # one to plan with
    assert not open_envs(WatchedSlow)


def test_agents_overlap_up_to_the_limit():
    active, most = [0], [0]

    async def act(observation, info):
        active[0] += 1
        most[0] = max(most[0], active[0])
        await asyncio.sleep(0.005)
        active[0] -= 1
        return "hello"

    run(register(EchoEnv), act, tasks=20, concurrency=4)
    assert most[0] == 4


def test_more_concurrency_than_episodes_makes_no_more_environments():
    run(register(Watched), say, tasks=2, concurrency=100_000)
    assert len(Watched.made) == 3


def test_concurrency_below_one_is_refused():
    for concurrency in (0, -1):
        with pytest.raises(RegistrationError, match="concurrency must be 1 or more"):
            run(GAME, say, concurrency=concurrency)


def test_each_worker_keeps_one_environment_open_at_a_time():
    most = [0]

    class Counted(Watched):
        def step(self, action):
            most[0] = max(most[0], len(open_envs()))
            return super().step(action)

    ids = [register(Counted, f"lab:{n}") for n in range(10)]
    run(ids, say, tasks=2, concurrency=2)
    assert most[0] <= 2
    assert not open_envs()


def test_it_runs_inside_a_running_loop_as_in_jupyter():
    async def cell():
        return run([GAME, register(SlowEnv, delay_s=0.001)], say, tasks=2)

    assert len(asyncio.run(cell())) == 4


def test_a_failure_inside_a_running_loop_reaches_the_caller():
    async def cell():
        return run("lab:none", say)

    with pytest.raises(EnvNotFound):
        asyncio.run(cell())


def test_run_on_the_home_loop_is_refused_and_not_a_deadlock():
    async def body():
        return run(GAME, say)

    with pytest.raises(ContractError, match="await arun instead"):
        aio.run(body())


def test_arun_plays_on_the_callers_loop():
    loops = set()

    async def act(observation, info):
        loops.add(asyncio.get_running_loop())
        return "hello"

    async def main():
        found = await arun(register(EchoEnv), act, tasks=3, samples=2)
        assert loops == {asyncio.get_running_loop()}
        return [(e.task, e.sample) for e in found]

    assert asyncio.run(main()) == [(f"test/{n}", k) for n in range(3) for k in range(2)]


def test_two_runs_at_once_do_not_mix():
    async def main():
        return await asyncio.gather(*(arun(register(SlowEnv, f"lab:{n}", delay_s=0.001), say, tasks=4) for n in range(5)))

    assert [{e.env_id for e in found} for found in asyncio.run(main())] == [{f"lab:{n}"} for n in range(5)]


def test_long_episodes_that_never_wait_leave_the_loop_its_turn():
    gaps = []

    async def main():
        task = asyncio.create_task(arun(register(Watched, turns=3000, sleep_s=0.0002), say, concurrency=1))
        last = time.monotonic()
        while not task.done():
            await asyncio.sleep(0)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()
        await task

    asyncio.run(main())
    assert len(gaps) > 5
    assert sorted(gaps)[-2] < 0.4


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(caplog):
    caplog.set_level(logging.CRITICAL, "gem")
    return caplog


@pytest.mark.parametrize(("crash_at", "phase", "turns"), [(0, "reset", 0), (1, "step", 1), (2, "step", 2)])
@pytest.mark.parametrize("blocking", ["none", "io"])
def test_an_environment_that_raises_ends_its_own_episode_only(crash_at, phase, turns, blocking):
    bad = register(CrashEnv, "lab:bad", blocking=blocking, crash_at=crash_at)
    found = run([bad, register(EchoEnv, "lab:good")], say, tasks=3, concurrency=2)
    assert [e.valid for e in found] == [False] * 3 + [True] * 3
    for episode in found[:3]:
        assert (episode.error["type"], episode.error["phase"], episode.error["retryable"]) == ("RuntimeError", phase, False)
        assert (episode.terminated, episode.truncated, episode.success, episode.reward) == (False, True, None, 0.0)
        assert len(episode.turns) == turns
        assert Trajectory.from_json(episode.to_json()).error == episode.error


def test_an_environment_that_crashed_is_built_anew_for_the_next_episode():
    crashed = []

    class Sometimes(Watched):
        def step(self, action):
            if self.task_key == "test/1":
                crashed.append(self)
                raise OSError("a disk is full")
            return super().step(action)

    found = run(register(Sometimes), say, tasks=3, concurrency=1)
    assert [e.valid for e in found] == [True, False, True]
    assert found[1].error["retryable"] is True
    assert crashed[0] is not Watched.made[-1]
    assert not open_envs()


class Broken:
    """An agent that raises where it is told to."""

    name = "broken"

    def __init__(self, where, error=RuntimeError("as asked"), only="test/1"):
        self.where, self.error, self.only = where, error, only
        self.ended = []

    def start(self, context):
        self.task = context.task
        self.fail("start", context.task)
        return _BrokenSession(self, context.task)

    def fail(self, where, task):
        if where == self.where and task == self.only:
            raise self.error


class _BrokenSession:
    def __init__(self, agent, task):
        self.agent, self.task = agent, task

    async def act(self, observation, info):
        self.agent.fail("act", self.task)
        return AgentAction("hello")

    async def end(self, trajectory):
        self.agent.ended.append(trajectory)
        self.agent.fail("end", self.task)


@pytest.mark.parametrize("where", ["start", "act", "end"])
@pytest.mark.parametrize(
    "error", [RuntimeError("as asked"), GemError("ours"), OSError("net"), asyncio.CancelledError("its own"), StopIteration()]
)
def test_an_agent_that_raises_loses_its_own_episode_only(where, error):
    agent = Broken(where, error)
    found = run(register(EchoEnv), agent, tasks=4, concurrency=2)
    assert [(e.task, e.valid) for e in found] == [("test/0", True), ("test/1", False), ("test/2", True), ("test/3", True)]
    bad = found[1]
    assert bad.error["phase"] == "agent"
    assert (bad.terminated, bad.truncated, bad.success) == (False, True, None)


def test_an_agent_may_run_into_its_own_timeout():
    async def act(observation, info):
        try:
            await asyncio.wait_for(asyncio.sleep(30), 0.001)
        except asyncio.TimeoutError:
            return "too late"

    assert all(e.valid for e in run(register(EchoEnv), act, tasks=3))


def test_an_agent_hears_of_each_episode_that_it_finished():
    agent = Broken("nowhere")
    found = run(register(EchoEnv), agent, tasks=3)
    assert sorted(e.task for e in agent.ended) == [e.task for e in found]
    assert all(e.reward == 1.0 for e in agent.ended)


@pytest.mark.parametrize("answer", [None, 5, {"content": "x"}, ["x"], b"x"])
def test_an_answer_that_is_none_is_the_agents_fault_in_words(answer):
    async def act(observation, info):
        return answer

    (episode,) = run(register(EchoEnv), act)
    assert not episode.valid
    assert episode.error["phase"] == "agent"
    assert "act must return an AgentAction" in episode.error["message"]
    assert episode.turns == []


def test_an_action_without_text_or_message_is_the_agents_fault():
    async def act(observation, info):
        return AgentAction(None)

    (episode,) = run(register(EchoEnv), act)
    assert episode.error["phase"] == "agent"
    assert "needs a text" in episode.error["message"]


def test_a_constructor_that_raises_while_planning_stops_the_run_before_it_begins():
    class NeverBuilt(EchoEnv):
        def __init__(self):
            raise RuntimeError("no GPU")

    played = []
    with pytest.raises(RuntimeError, match="no GPU"):
        run([register(EchoEnv, "lab:good"), register(NeverBuilt)], say, on_episode=played.append)
    assert played == []


def test_a_constructor_that_raises_later_loses_one_episode_each():
    class Scarce(Watched):
        def __init__(self):
            super().__init__()
            if len(Watched.made) in (2, 3):  # the first is the plan's
                raise OSError("no ports left")

    found = run([register(Scarce), register(EchoEnv, "lab:good")], say, tasks=4, concurrency=1)
    assert [e.valid for e in found] == [False, False, True, True] + [True] * 4
    assert found[0].error == {"type": "OSError", "message": "no ports left", "phase": "reset", "retryable": True}
    assert found[0].group == "lab:env/test/0"


def test_an_environment_that_fails_to_close_stops_nothing(caplog):
    class Sticky(EchoEnv):
        closes = 0

        def close(self):
            Sticky.closes += 1
            if Sticky.closes > 1:  # the first is the plan's
                raise RuntimeError("stuck")
            super().close()

    found = run([register(Sticky), register(EchoEnv, "lab:good")], say, tasks=2, concurrency=1)
    assert [e.valid for e in found] == [True] * 4
    assert "lab:env did not close: RuntimeError: stuck" in caplog.text


def test_an_asynchronous_environment_that_fails_to_close_stops_nothing(caplog):
    class Sticky(SlowEnv):
        closes = 0

        async def aclose(self):
            Sticky.closes += 1
            if Sticky.closes > 1:
                raise RuntimeError("stuck")

    assert len(run(register(Sticky, delay_s=0.0), say, tasks=4, concurrency=3)) == 4
    assert "did not close: RuntimeError: stuck" in caplog.text


def test_an_environment_that_never_closes_is_left_behind(monkeypatch, caplog):
    monkeypatch.setattr("gem.rollout.driver._CLOSE_S", 0.1)

    class Hanging(SlowEnv):
        closes = 0

        async def aclose(self):
            Hanging.closes += 1
            if Hanging.closes > 1:
                await asyncio.sleep(3600)

    start = time.monotonic()
    assert len(run(register(Hanging, delay_s=0.0), say, tasks=3, concurrency=3)) == 3
    assert time.monotonic() - start < 5
    assert "did not close: TimeoutError" in caplog.text


def test_a_callback_that_raises_ends_the_run_and_closes_all():
    def refuse(episode):
        raise KeyError("callback")

    async def main():
        before = asyncio.all_tasks()
        with pytest.raises(KeyError, match="callback"):
            await arun(register(WatchedSlow), say, tasks=50, concurrency=4, on_episode=refuse)
        assert asyncio.all_tasks() == before

    asyncio.run(main())
    assert not open_envs(WatchedSlow)


def test_unknown_ids_and_keywords_are_refused_before_anything_is_played():
    played = []
    with pytest.raises(EnvNotFound, match="Did you mean"):
        run([GAME, "game:Hangmn-v0-easy"], say, on_episode=played.append)
    with pytest.raises(RegistrationError, match="takes no keyword 'max_nmber'"):
        run(GAME, say, max_nmber=3, on_episode=played.append)
    assert played == []


def test_a_reward_that_is_not_finite_is_a_fault_and_no_result():
    class Infinite(EchoEnv):
        def step(self, action):
            return action, float("nan"), True, False, {}

    (episode,) = run(register(Infinite), say)
    assert (episode.valid, episode.error["type"], episode.reward) == (False, "ContractError", 0.0)


# -- events ------------------------------------------------------------------------------------------------------------


def test_each_episode_is_an_event():
    heard = []
    stop = events.subscribe(lambda event: heard.append(event))
    try:
        run(
            [register(EchoEnv, "lab:good"), register(CrashEnv, "lab:bad", crash_at=1), register(CrashEnv, "lab:worse", crash_at=0)],
            say,
            tasks=2,
        )
    finally:
        stop()
    ends = [event.data for event in heard if event.kind == "episode.end"]
    assert Counter((row["env_id"], row["valid"], row["reward"]) for row in ends) == {
        ("lab:good", True, 1.0): 2,
        ("lab:bad", False, 0.0): 2,
        ("lab:worse", False, 0.0): 2,
    }
    assert {row["task"] for row in ends} == {"test/0", "test/1"}
    assert Counter(event.data["phase"] for event in heard if event.kind == "fault") == {"step": 2, "reset": 2}


def test_an_agents_fault_is_told_as_not_valid():
    heard = []
    stop = events.subscribe(lambda event: heard.append(event))
    try:
        run(register(EchoEnv), Broken("act", only="test/0"))
        run(register(EchoEnv), Broken("start", only="test/0"))
    finally:
        stop()
    assert [event.data["valid"] for event in heard if event.kind == "episode.end"] == [False, False]


def test_a_subscriber_that_raises_disturbs_nobody(quiet):
    def refuse(event):
        raise RuntimeError("subscriber")

    stop = events.subscribe(refuse)
    try:
        assert all(e.valid for e in run(register(EchoEnv), say, tasks=3))
    finally:
        stop()


# -- streams -----------------------------------------------------------------------------------------------------------


async def read(n, id, **options):
    found = []
    async with aclosing(stream(id, say, **options)) as episodes:
        async for episode in episodes:
            found.append(episode)
            if len(found) == n:
                break
    return found


@pytest.mark.parametrize("wait_s", [0.0, 0.1])
@pytest.mark.parametrize("cls", WATCHED)
def test_a_stream_closed_early_leaves_no_task_thread_or_open_environment(cls, wait_s):
    id = register(cls, blocking="io")

    async def main():
        before = asyncio.all_tasks()
        episodes = stream(id, say, tasks=200, concurrency=3)
        await anext(episodes)
        await asyncio.sleep(wait_s)  # at 0.1 the queue is full, and all workers wait for their reader
        await asyncio.wait_for(episodes.aclose(), 5)
        assert asyncio.all_tasks() == before

    asyncio.run(main())
    assert not open_envs(cls)
    assert len(cls.made) <= 4
    settle(lambda: not [t for t in threading.enumerate() if t.name.startswith("gem-env")])


def test_a_stream_that_nobody_closes_ends_with_its_loop():
    async def main():
        async for _ in stream(register(WatchedSlow), say, tasks=100, concurrency=4):
            break
        gc.collect()

    start = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - start < 5
    assert not open_envs(WatchedSlow)


def test_a_slow_reader_holds_the_players_back():
    async def main():
        episodes = stream(register(Watched, turns=1), say, tasks=500, concurrency=4)
        await anext(episodes)
        await asyncio.sleep(0.1)
        await episodes.aclose()

    asyncio.run(main())
    assert sum(len(env.threads) > 0 for env in Watched.made) <= 4
    assert sum(env.resets for env in Watched.made) <= 12


def test_a_stream_read_to_the_end_gives_every_episode_once():
    found = asyncio.run(read(-1, register(SlowEnv, delay_s=0.0005), tasks=60, samples=2, concurrency=7))
    assert Counter((e.task, e.sample) for e in found) == {(f"test/{n}", k): 1 for n in range(60) for k in range(2)}


def test_a_slow_reader_gets_every_episode_once():
    async def main():
        found = []
        async for episode in stream(register(EchoEnv), say, tasks=30, concurrency=3):
            await asyncio.sleep(0.002)
            found.append(episode.task)
        return found

    assert Counter(asyncio.run(main())) == {f"test/{n}": 1 for n in range(30)}


def test_cancelling_the_reader_closes_everything():
    async def main():
        before = asyncio.all_tasks()
        task = asyncio.create_task(arun(register(WatchedSlow, delay_s=30), say, tasks=50, concurrency=4))
        await asyncio.sleep(0.05)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before
        return time.monotonic() - start

    assert asyncio.run(main()) < 5
    assert not open_envs(WatchedSlow)


def test_many_runs_leave_no_thread_and_no_descriptor():
    import os

    id = register(Watched, blocking="io")
    run(id, say, tasks=3)
    settle(lambda: not [t for t in threading.enumerate() if t.name.startswith("gem-env")])
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        run(id, say, tasks=3, concurrency=3)
    settle(lambda: threading.active_count() <= threads)
    assert len(os.listdir("/proc/self/fd")) <= descriptors


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


PRELUDE = """
    import asyncio, sys, threading, time
    import gem
    from gem.core import AsyncEnv
    from gem.testing import EchoEnv, SlowEnv
    from gem.rollout import run, arun

    class Slow(SlowEnv):
        async def aclose(self):
            print("closed", flush=True)

    class Echo(EchoEnv):
        def close(self):
            print("closed", flush=True)
            super().close()

    class Endless(Echo):
        def step(self, action):
            return action, 0.0, False, False, {}

    class Sleepy(Echo):
        def step(self, action):
            time.sleep(0.3)
            return super().step(action)

    async def say(observation, info):
        return "hello"

    def tell(episode):
        print("episode", flush=True)

    threading.Timer(0.2, print, ("begun",), {"flush": True}).start()
"""
PROGRAMS = {
    "asynchronous": 'gem.register("lab:x", Slow, delay_s=60); run("lab:x", say, tasks=99, concurrency=4)',
    "in-place": 'gem.register("lab:x", Echo); run("lab:x", say, tasks=10**5, concurrency=4)',
    "endless-in-place": 'gem.register("lab:x", Endless); run("lab:x", say, tasks=99, concurrency=4)',
    "blocking": 'gem.register("lab:x", Sleepy, turns=99, info=gem.EnvInfo(blocking="io")); run("lab:x", say, tasks=99, concurrency=4)',
    "agent": 'gem.register("lab:x", Echo)\nasync def wait(o, i):\n    await asyncio.sleep(60)\nrun("lab:x", wait, tasks=99, concurrency=4)',
    "jupyter": 'gem.register("lab:x", Slow, delay_s=60)\nasync def cell():\n    run("lab:x", say, tasks=99, concurrency=4)\n'
    "loop = asyncio.new_event_loop()\nloop.run_until_complete(cell())",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_ends_a_long_run_soon_and_closes_its_environments(name):
    code = textwrap.dedent(PRELUDE) + PROGRAMS[name]
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while process.stdout.readline() != "begun\n":
            assert process.poll() is None, process.stderr.read()
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(2)
        out, err = process.communicate(timeout=15)
        assert time.monotonic() - start < 4, "two seconds, and as many again where the machine is busy"
        assert out.count("closed") in (4, 5)  # the plan closed one, perhaps before "begun"
        assert "KeyboardInterrupt" in err
        assert "Task was destroyed" not in err
        assert "Exception ignored" not in err
    finally:
        process.kill()
        process.communicate()


def test_an_asynchronous_environment_is_played_on_the_home_loop():
    threads = set()

    class Here(AsyncEnv):
        async def areset(self, seed=None, options=None):
            threads.add(threading.current_thread().name)
            return "", (await super().areset(seed, options))[1]

        async def astep(self, action):
            threads.add(threading.current_thread().name)
            return "", 0.0, True, False, {}

    run(register(Here), say)
    assert threads == {"gem-loop"}


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_task_that_is_recorded_is_the_one_that_was_played(split):
    id = register(EchoEnv)
    for episode in run(id, say, tasks=5, split=split):
        assert episode.turns[0].observation == gem.make(id).reset(options={"task": episode.task})[0]
