"""Contract catches what breaks the contract where it happens, and says whose fault it is."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.core import Env
from gem.envs.registration import make
from gem.errors import ContractError, ResetNeeded
from gem.spaces import Messages
from gem.specs import EnvSpec
from gem.testing import find_breaches
from gem.wrappers import ConcatHistory, Contract, SystemPrompt
from tests.wrappers.envs import IMAGE, Scripted, TextGame
from tests.wrappers.paths import Sync, play
from tests.wrappers.suite import GUESSES, WrapperSuite

HELLO = [{"role": "user", "content": [{"type": "text", "text": "hello"}, IMAGE]}]


class TestContractIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return Contract(env)


def nested(depth, leaf=1):
    return leaf if depth == 0 else [nested(depth - 1, leaf)]


def holding_itself():
    loop = {"name": "loop"}
    loop["again"] = loop
    return loop


class Word(str):
    """Text that is no plain str."""


GOOD_STEP = ("seen", 0.5, False, False, {"a": 1})

# id -> what step returns, and what the error says of it
BAD_STEPS = {
    "a list": ([*GOOD_STEP], "step must return (observation, reward, terminated, truncated, info)"),
    "four values": (GOOD_STEP[:4], "step must return (observation, reward, terminated, truncated, info)"),
    "six values": ((*GOOD_STEP, {}), "step must return (observation, reward, terminated, truncated, info)"),
    "nothing": (None, "step must return (observation, reward, terminated, truncated, info), not None"),
    "messages after text": ((HELLO, 0.5, False, False, {}), "an observation of type list after one of str"),
    "no observation": ((None, 0.5, False, False, {}), "an observation of type NoneType after one of str"),
    "bytes": ((b"seen", 0.5, False, False, {}), "an observation of type bytes after one of str"),
    "an int reward": (("", 1, False, False, {}), "reward must be a float, not int 1"),
    "a bool reward": (("", True, False, False, {}), "reward must be a float, not bool True"),
    "no reward": (("", None, False, False, {}), "reward must be a float, not NoneType None"),
    "a numpy reward": (("", np.float64(0.5), False, False, {}), "reward must be a float, not float64"),
    "a narrow numpy reward": (("", np.float32(0.5), False, False, {}), "reward must be a float, not float32"),
    "an array of rewards": (("", np.zeros(1), False, False, {}), "reward must be a float, not ndarray"),
    "a NaN reward": (("", math.nan, False, False, {}), "reward nan is not finite"),
    "an infinite reward": (("", math.inf, False, False, {}), "reward inf is not finite"),
    "an infinite loss": (("", -math.inf, False, False, {}), "reward -inf is not finite"),
    "both ends": (("", 0.0, True, True, {}), "terminated and truncated are both true"),
    "terminated 0": (("", 0.0, 0, False, {}), "terminated and truncated must be bools, not 0 and False"),
    "terminated 1": (("", 0.0, 1, False, {}), "terminated and truncated must be bools, not 1 and False"),
    "terminated None": (("", 0.0, None, False, {}), "terminated and truncated must be bools, not None and False"),
    "terminated of numpy": (("", 0.0, np.bool_(True), False, {}), "terminated and truncated must be bools"),
    "truncated None": (("", 0.0, False, None, {}), "terminated and truncated must be bools, not False and None"),
    "truncated 1": (("", 0.0, False, 1, {}), "terminated and truncated must be bools, not False and 1"),
    "truncated of numpy": (("", 0.0, True, np.bool_(False), {}), "terminated and truncated must be bools"),
    "truncated, and terminated None": (("", 0.0, None, True, {}), "terminated and truncated must be bools, not None and True"),
    "truncated, and terminated 0": (("", 0.0, 0, True, {}), "terminated and truncated must be bools, not 0 and True"),
}

# id -> an info, and what the error says of it
BAD_INFOS = {
    "no info": (None, "info must be a dict, not NoneType"),
    "a list": ([], "info must be a dict, not list"),
    "a numpy number": ({"n": np.int64(3)}, "info['n'] is a numpy.int64"),
    "a numpy float": ({"n": np.float64(3)}, "info['n'] is a numpy.float64"),
    "an array": ({"n": np.zeros(2)}, "info['n'] is a numpy.ndarray"),
    "a set": ({"n": {1}}, "info['n'] is a builtins.set"),
    "bytes": ({"n": b"x"}, "info['n'] is a builtins.bytes"),
    "an object": ({"n": object()}, "info['n'] is a builtins.object"),
    "NaN": ({"n": math.nan}, "info['n'] is nan"),
    "infinity": ({"n": -math.inf}, "info['n'] is -inf"),
    "NaN further down": ({"metrics": {"good": 1.0, "bad": [0.0, math.nan]}}, "info['metrics']"),
    "a number as key": ({1: "one"}, "info has the key 1, which is not a string"),
    "None as key": ({"a": 1.0, None: 1}, "info has the key None, which is not a string"),
    "a number as key further down": ({"a": {"b": {2: "two"}}}, "has the key 2, which is not a string"),
    "nested too deep": ({"deep": nested(30)}, "nested deeper than 20, or holds itself"),
    "holding itself": (holding_itself(), "nested deeper than 20, or holds itself"),
}


@pytest.mark.parametrize("case", BAD_STEPS)
def test_a_bad_step_is_a_breach_that_names_the_environment(scripted, path, case):
    result, said = BAD_STEPS[case]
    env = Contract(scripted(("begin", {}), result))
    path.reset(env)
    with pytest.raises(ContractError) as caught:
        path.step(env, "go")
    assert str(caught.value).startswith(f"{type(env.unwrapped).__name__}: ")
    assert said in str(caught.value)
    assert not isinstance(caught.value, ResetNeeded)


@pytest.mark.parametrize("where", ["reset", "step"])
@pytest.mark.parametrize("case", BAD_INFOS)
def test_a_bad_info_is_a_breach_that_says_where(scripted, path, where, case):
    info, said = BAD_INFOS[case]
    env = Contract(scripted(("begin", info)) if where == "reset" else scripted(("begin", {}), ("", 0.0, False, False, info)))
    with pytest.raises(ContractError) as caught:
        play(path, env, ["go"])
    assert str(caught.value).startswith(f"{type(env.unwrapped).__name__}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "reset must return (observation, info), not None"),
        ("begin", "reset must return (observation, info), not 'begin'"),
        (("begin",), "reset must return (observation, info)"),
        (["begin", {}], "reset must return (observation, info)"),
        (("begin", {}, {}), "reset must return (observation, info)"),
        ((None, {}), "the observation None is not in Text()"),
        ((HELLO, {}), "is not in Text()"),
        ((b"begin", {}), "the observation b'begin' is not in Text()"),
        ((["begin"], {}), "the observation ['begin'] is not in Text()"),
    ],
    ids=repr,
)
def test_a_bad_reset_is_a_breach(scripted, path, result, said):
    env = Contract(scripted(result))
    with pytest.raises(ContractError) as caught:
        path.reset(env)
    assert said in str(caught.value)
    with pytest.raises(ResetNeeded, match="step before reset"):
        path.step(env, "go")


def test_text_from_an_environment_that_promised_messages_is_a_breach(scripted, path):
    with pytest.raises(ContractError, match=r"the observation 'begin' is not in Messages\(\)"):
        path.reset(Contract(scripted(("begin", {}), space=Messages())))


@pytest.mark.parametrize(
    "obs",
    ["text", None, [1], [{"content": "no role"}], [{"role": "user", "content": 3}], [{"role": "user", "content": ["no part"]}]],
    ids=repr,
)
def test_what_is_no_list_of_messages_is_a_breach_at_any_turn(scripted, path, obs):
    env = Contract(scripted((HELLO, {}), (HELLO, 0.0, False, False, {}), (obs, 0.0, False, False, {}), space=Messages()))
    path.reset(env)
    path.step(env, "go")
    with pytest.raises(ContractError, match="observation"):
        path.step(env, "go")


def test_the_kind_of_observation_stays_the_same_across_episodes(scripted, path):
    env = Contract(scripted(("begin", {}), (HELLO, {})))
    path.reset(env)
    with pytest.raises(ContractError, match="an observation of type list after one of str: one kind for its whole life"):
        path.reset(env)


def test_a_failed_first_reset_settles_nothing_about_the_kind(scripted, path):
    env = Contract(scripted((None, {}), ("begin", {})))
    with pytest.raises(ContractError):
        path.reset(env)
    assert path.reset(env) == ("begin", {})


def test_text_of_a_subclass_is_text(scripted, path):
    env = Contract(scripted((Word("begin"), {}), (Word("on"), 0.0, False, False, {}), ("on", 0.0, False, False, {})))
    path.reset(env)
    assert path.step(env, "go")[0] == "on"
    assert path.step(env, Word("go"))[0] == "on"


def test_the_same_info_dict_twice_is_a_breach(scripted, path):
    info = {"a": 1}
    env = Contract(scripted(("begin", {}), ("", 0.0, False, False, info), ("", 0.0, False, False, info)))
    path.reset(env)
    path.step(env, "go")
    with pytest.raises(ContractError, match=r"Scripted: info is the same dict as last time: return a fresh one"):
        path.step(env, "go")


def test_the_info_of_reset_again_at_the_first_step_or_the_next_reset_is_a_breach(scripted, path):
    info = {}
    env = Contract(scripted(("begin", info), ("", 0.0, False, False, info), ("begin", info)))
    path.reset(env)
    with pytest.raises(ContractError, match="same dict"):
        path.step(env, "go")
    with pytest.raises(ContractError, match="same dict"):
        path.reset(env)


def test_everything_that_json_can_hold_passes(scripted, path):
    info = {"a": None, "b": True, "c": 1, "d": 1.5, "e": "ü\ud800", "f": [1, [2.0, {"g": ()}]], "h": {}, "i": (1, 2), "deep": nested(15)}
    env = Contract(scripted(("begin", dict(info)), ("on", 0.5, False, False, dict(info)), ("end", -1.0, False, True, dict(info))))
    assert path.reset(env) == ("begin", info)
    assert path.step(env, "go") == ("on", 0.5, False, False, info)
    assert path.step(env, "go") == ("end", -1.0, False, True, info)


foreign = st.sampled_from([b"x", {1}, 1j, np.float32(1), np.int64(1)])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | foreign,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
@settings(max_examples=150, deadline=None)
def test_whatever_passes_can_be_written_as_json_and_read_back(info):
    env = Contract(Scripted(("begin", {}), ("", 0.0, False, False, info)))
    env.reset()
    try:
        env.step("go")
    except ContractError:
        return
    assert json.loads(json.dumps(info, allow_nan=False)) == info


@pytest.mark.parametrize(
    "action", [3, 0.5, None, b"go", ["go"], ("go",), {"content": 3}, {"content": {"text": "go"}}, frozenset()], ids=repr
)
def test_an_action_that_is_neither_text_nor_message_is_refused_before_the_environment_sees_it(scripted, path, action):
    env = Contract(scripted(("begin", {})))
    path.reset(env)
    with pytest.raises(ContractError, match=r"Scripted: an action is the model's text or message \(a dict with 'content'\), not") as caught:
        path.step(env, action)
    assert type(action).__name__ in str(caught.value)
    assert env.unwrapped.actions == []


@pytest.mark.parametrize(
    "action",
    [
        "go",
        "",
        Word("go"),
        {"role": "assistant", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "go"}], "reasoning": "hm"},
        {"tool_calls": []},
    ],
    ids=repr,
)
def test_text_and_messages_are_accepted_as_actions(scripted, path, action):
    env = Contract(scripted(("begin", {}), GOOD_STEP))
    path.reset(env)
    assert path.step(env, action) == GOOD_STEP
    assert env.unwrapped.actions == [action]


def test_an_action_of_the_environments_own_space_is_accepted(scripted, path):
    inner = scripted(("begin", {}), GOOD_STEP)
    inner.action_space = Discrete(3)
    env = Contract(inner)
    path.reset(env)
    with pytest.raises(ContractError, match="not int 3"):
        path.step(env, 3)
    assert path.step(env, 2) == GOOD_STEP


def test_a_step_before_the_first_reset_is_refused(game, path):
    env = Contract(game())
    with pytest.raises(ResetNeeded, match=r"Game: step before reset\. Call reset first"):
        path.step(env, "3")
    assert env.unwrapped.turn == 0


@pytest.mark.parametrize("flags", [(True, False), (False, True)], ids=["terminated", "truncated"])
def test_a_step_after_the_end_is_refused_until_the_next_reset(scripted, path, flags):
    env = Contract(scripted(("begin", {}), ("end", 0.0, *flags, {}), ("begin", {}), GOOD_STEP))
    path.reset(env)
    path.step(env, "go")
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"Scripted: the episode is over\. Call reset before the next step"):
            path.step(env, "go")
    path.reset(env)
    assert path.step(env, "go") == GOOD_STEP


def test_a_step_after_a_reset_that_raised_is_refused(scripted, path):
    env = Contract(scripted(("begin", {}), OSError("no disk"), ("begin", {})))
    path.reset(env)
    with pytest.raises(OSError, match="no disk"):
        path.reset(env)
    with pytest.raises(ResetNeeded, match="step before reset"):
        path.step(env, "go")


def test_what_the_environment_raises_passes_and_the_episode_goes_on(scripted, path):
    env = Contract(scripted(("begin", {}), OSError("no disk"), GOOD_STEP))
    path.reset(env)
    with pytest.raises(OSError, match="no disk"):
        path.step(env, "go")
    assert path.step(env, "go") == GOOD_STEP


@pytest.mark.parametrize("options", ["train/1", 3, ["task"]], ids=repr)
def test_options_that_are_no_dict_are_refused(game, path, options):
    with pytest.raises(ContractError, match="Game: reset options must be a dict, not"):
        path.reset(Contract(game()), options=options)


def test_changes_nothing_of_a_sound_episode(game, path):
    assert play(path, Contract(game()), [*GUESSES]) == play(path, game(), [*GUESSES])


def test_a_snapshot_of_an_episode_that_is_over_is_over_when_restored(game, path):
    env = Contract(game(tries=1))
    play(path, env, ["x"])
    twin = env.spawn()
    twin.set_state(env.get_state())
    with pytest.raises(ResetNeeded, match="over"):
        path.step(twin, "x")


def test_a_restored_episode_still_has_its_kind_of_observation(path):
    env = Contract(TextGame())
    path.reset(env, seed=1)
    twin = env.spawn(same_state=True)
    twin.unwrapped.show = lambda text: HELLO
    with pytest.raises(ContractError, match="an observation of type list after one of str"):
        path.step(twin, "3")


def test_may_stand_outside_of_wrappers_that_change_the_observations(game, path):
    env = Contract(ConcatHistory(SystemPrompt(game(), "Be brief."), "messages"))
    assert len(play(path, env, ["x", "x"])) == 3


def test_make_puts_it_innermost_and_leaves_it_out_where_asked():
    spec = EnvSpec("test:game", TextGame)
    assert isinstance(make(spec).env, TextGame)
    assert isinstance(make(spec), Contract)
    assert isinstance(make(spec, checks=False), TextGame)


class IntReward(TextGame):
    def step(self, action):
        obs, reward, *rest = super().step(action)
        return obs, int(reward), *rest


class NumpyInfo(TextGame):
    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "n": np.int64(1)}


class KeyedByNumber(TextGame):
    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, 1: "one"}


class NoBool(TextGame):
    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, int(terminated), truncated, info


@pytest.mark.parametrize(
    ("cls", "clause"),
    [(IntReward, "reward_is_float"), (NumpyInfo, "info_is_json"), (KeyedByNumber, "info_is_dict"), (NoBool, "flags_are_bools")],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_refuses_what_check_env_refuses(cls, clause):
    assert clause in find_breaches(cls, episodes=1)
    with pytest.raises(ContractError, match=cls.__name__):
        play(Sync(), Contract(cls()), ["x"])


def test_an_environment_without_step_says_so():
    env = Contract(Env())
    env.reset()
    with pytest.raises(NotImplementedError, match="Env defines no step"):
        env.step("go")
