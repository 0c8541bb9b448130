"""Agents: what may be one, and the oracle and random agents that come with the house."""

from __future__ import annotations

import functools

import pytest

import gem
from gem.core import Env
from gem.envs import registration
from gem.errors import RegistrationError
from gem.rollout import AgentAction, EpisodeContext, agents, as_agent, run
from gem.rollout.agents.oracle import OracleAgent
from gem.rollout.agents.random import RandomAgent
from gem.testing import CrashEnv, EchoEnv, SlowEnv

GAME = "game:GuessTheNumber-v0-easy"
GAMES = ["game:Hangman-v0-easy", "game:Sudoku-v0-easy", "game:TowerofHanoi-v0-easy", GAME]


@pytest.fixture(autouse=True)
def own_registry():
    gem.list_envs()  # loads what is built in
    before = dict(registration.ENV_REGISTRY)
    yield
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


def register(entry_point, blocking="none", **kwargs):
    gem.register("lab:env", entry_point, override=True, info=gem.EnvInfo(blocking=blocking), **kwargs)
    return "lab:env"


def actions(episodes):
    return [[turn.action for turn in episode.turns] for episode in episodes]


# -- what is an agent --------------------------------------------------------------------------------------------------


async def say(observation, info):
    return "hello"


class Speaker:
    async def __call__(self, observation, info):
        return AgentAction(f"I saw {observation[:3]}")

    async def method(self, observation, info):
        return "method"


async def say_word(word, observation, info):
    return word


@pytest.mark.parametrize(
    ("agent", "name", "said"),
    [
        (say, "say", "hello"),
        (Speaker(), "Speaker", "I saw say"),
        (Speaker().method, "method", "method"),
        (functools.partial(say_word, "part"), "partial", "part"),
        (lambda observation, info: say(observation, info), "<lambda>", "hello"),
    ],
    ids=["function", "object", "method", "partial", "lambda"],
)
def test_an_async_function_is_an_agent(agent, name, said):
    (episode,) = run(register(EchoEnv, turns=1), agent)
    assert (episode.agent, episode.turns[0].action, episode.valid) == (name, said, True)


def test_an_agent_is_taken_as_it_is():
    agent = RandomAgent()
    assert as_agent(agent) is agent


@pytest.mark.parametrize("other", [None, "random", 5, {"name": "x"}, object()])
def test_what_is_no_agent_is_refused(other):
    with pytest.raises(RegistrationError, match="an agent has start"):
        run(GAME, other)


def test_a_class_is_no_agent_but_its_objects_are():
    with pytest.raises(RegistrationError, match=r"OracleAgent is a class: pass OracleAgent\(\.\.\.\)"):
        as_agent(OracleAgent)


def test_a_function_that_is_not_async_is_the_agents_fault_in_words():
    (episode,) = run(register(EchoEnv), lambda observation, info: "hello")
    assert not episode.valid
    assert "an agent is an async function" in episode.error["message"]


def test_an_action_without_a_model_has_no_calls():
    assert AgentAction("x").calls() == []
    (call,) = AgentAction("x", finish_reason="length").calls()
    assert (call.completion_ids, call.mask, call.finish_reason) == (None, None, "length")
    (call,) = AgentAction("x", token_ids=[]).calls()
    assert (call.completion_ids, call.mask) == ([], [])


# -- the context -------------------------------------------------------------------------------------------------------


class Asks:
    """An agent that looks at its context and calls the environment."""

    name = "asks"

    def __init__(self):
        self.contexts: list[EpisodeContext] = []
        self.told = []

    def start(self, context):
        self.contexts.append(context)
        return _Asking(self, context)


class _Asking:
    def __init__(self, agent, context):
        self.agent, self.context = agent, context

    async def act(self, observation, info):
        self.agent.told.append((info, await self.context.call("gold")))
        return AgentAction("x")

    async def end(self, trajectory):
        self.trajectory = trajectory


class Golden(EchoEnv):
    def gold(self):
        return self.rng.randrange(10**9)


class SlowGolden(SlowEnv):
    def gold(self):
        return self.rng.randrange(10**9)


@pytest.mark.parametrize(("cls", "blocking"), [(Golden, "none"), (Golden, "io"), (SlowGolden, "none")], ids=["in-place", "lane", "async"])
def test_a_context_names_the_episode_and_calls_the_environment_wherever_it_runs(cls, blocking):
    agent = Asks()
    found = run(register(cls, blocking=blocking), agent, tasks=2, samples=2, concurrency=1, seed=4)
    assert [(c.env_id, c.task, c.sample, c.group) for c in agent.contexts] == [
        ("lab:env", f"test/{n}", k, f"lab:env/test/{n}") for n in range(2) for k in range(2)
    ]
    assert len({c.seed for c in agent.contexts}) == 4
    assert agent.told[0][0]["task"] == "test/0"
    assert all(isinstance(gold, int) for _, gold in agent.told)
    assert all(e.valid for e in found)


def test_a_call_that_fails_is_the_agents_fault():
    class Calls(Asks):
        def start(self, context):
            context_call = context.call

            class Session:
                async def act(self, observation, info):
                    await context_call("no_such_method")

            return Session()

    (episode,) = run(register(EchoEnv), Calls())
    assert (episode.error["type"], episode.error["phase"]) == ("AttributeError", "agent")


# -- the registry of agents --------------------------------------------------------------------------------------------


def test_agents_are_made_by_name():
    assert agents.get("random").name == "random"
    assert agents.get("oracle").name == "oracle"
    for name in agents.NAMES:
        assert callable(agents.get(name).start)


def test_an_unknown_agent_is_refused_with_the_nearest():
    with pytest.raises(RegistrationError, match=r"no agent 'orcle'. Did you mean 'oracle'\? There are oracle, random"):
        agents.get("orcle")
    with pytest.raises(RegistrationError, match="There are oracle, random"):
        agents.get("")


# -- oracle ------------------------------------------------------------------------------------------------------------


def test_the_oracle_wins_every_game():
    found = run(GAMES, OracleAgent(), tasks=5)
    assert [e.success for e in found] == [True] * 20
    assert all(e.valid and e.terminated for e in found)
    assert {e.agent for e in found} == {"oracle"}


def test_an_oracle_without_a_next_action_is_an_error_and_no_lost_game():
    found = run(register(EchoEnv), OracleAgent(), tasks=2)
    for episode in found:
        assert (episode.valid, episode.success, episode.error["type"], episode.error["phase"]) == (False, None, "EnvError", "agent")
        assert "its oracle has no next action" in episode.error["message"]
        assert "lab:env, task test/" in episode.error["message"]


def test_an_oracle_that_raises_loses_its_own_episode_only():
    class Shaky(EchoEnv):
        def oracle_action(self):
            if self.task_key == "test/1":
                raise ZeroDivisionError
            return "right"

    assert [e.valid for e in run(register(Shaky), OracleAgent(), tasks=3, concurrency=1)] == [True, False, True]


def test_an_oracle_may_answer_with_a_message():
    class Calls(Env):
        def reset(self, seed=None, options=None):
            return "call", super().reset(seed, options)[1]

        def step(self, action):
            return "done", float(isinstance(action, dict)), True, False, {}

        def oracle_action(self):
            return {"role": "assistant", "content": "", "tool_calls": []}

        sample_random_action = oracle_action

    for agent in (OracleAgent(), RandomAgent()):
        (episode,) = run(register(Calls), agent)
        assert (episode.reward, episode.turns[0].message["tool_calls"]) == (1.0, [])


# -- random ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", GAMES)
def test_random_play_is_repeatable_and_differs_between_samples(id):
    one, two = (run(id, RandomAgent(), tasks=2, samples=6, seed=8) for _ in range(2))
    assert actions(one) == actions(two)
    assert len({str(row) for row in actions(one)[:6]}) > 1
    assert len({e.turns[0].observation for e in one[:6]}) == 1, "the samples of a task see the same environment"
    assert actions(run(id, RandomAgent(), tasks=2, samples=6, seed=9)) != actions(one)


class Dice:
    def sample_random_action(self):
        return str(self.action_rng.randrange(10**9))


@pytest.mark.parametrize(("cls", "blocking"), [(EchoEnv, "none"), (EchoEnv, "io"), (SlowEnv, "none")], ids=["in-place", "lane", "async"])
def test_random_play_is_the_same_wherever_the_environment_runs(cls, blocking):
    class There(Dice, cls):
        pass

    class Here(Dice, EchoEnv):
        pass

    rows = [actions(run(register(There, blocking=blocking), RandomAgent(), tasks=3, samples=2, concurrency=n)) for n in (1, 6)]
    assert rows[0] == rows[1]
    assert len({tuple(row) for row in rows[0]}) == 6
    assert rows[0] == actions(run(register(Here), RandomAgent(), tasks=3, samples=2))


def test_random_play_passes_by_environments_that_crash():
    found = run(register(CrashEnv, crash_at=2), RandomAgent(), tasks=3)
    assert [e.error["phase"] for e in found] == ["step"] * 3


def test_a_session_hears_the_end_also_where_it_failed():
    heard = []

    class Failing:
        name = "failing"

        def start(self, context):
            return self

        async def act(self, observation, info):
            raise ValueError("as asked")

        async def end(self, trajectory):
            heard.append((trajectory.valid, trajectory.error["type"]))

    [episode] = run("game:GuessTheNumber-v0", Failing())
    assert heard == [(False, "ValueError")]
    assert not episode.valid
