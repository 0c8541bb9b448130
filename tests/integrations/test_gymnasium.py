"""Both ways between gem and gymnasium: gem's environments in gymnasium, and gymnasium's environments played by text."""

from __future__ import annotations

import asyncio
import enum
import json
import math
import os
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.core import Env
from gem.envs import registration
from gem.errors import ContractError, EnvNotFound, GemError, MissingDependency, RegistrationError
from gem.integrations.gymnasium import GymnasiumEnv, gymnasium_id, jsonable, register_all
from gem.testing import EchoEnv, find_breaches

SPECS = gem.list_envs()
IDS = [row.id for row in SPECS]
OFFLINE = [row.id for row in SPECS if row.info.offline and row.info.deterministic]
GAME = "gem/game_GuessTheNumber-v0-easy-v0"


@pytest.fixture
def own_registries():
    """What a test registers is gone after it, here and in gymnasium."""
    ours, theirs = dict(registration.ENV_REGISTRY), dict(gymnasium.registry)
    yield
    for registry, before in ((registration.ENV_REGISTRY, ours), (gymnasium.registry, theirs)):
        registry.clear()
        registry.update(before)


def play(env, seed=0, limit=300):
    """Random play; returns all that was seen."""
    seen = [env.reset(seed=seed)]
    for _ in range(limit):
        seen.append(env.step(env.unwrapped.sample_random_action()))
        if seen[-1][2] or seen[-1][3]:
            return seen
    return seen


# -- gem in gymnasium --------------------------------------------------------------------------------------------------


def test_every_listed_id_is_registered_and_registering_again_changes_nothing():
    before = dict(gymnasium.registry)
    ids = register_all()
    assert len(ids) == len(set(ids)) == len(IDS)
    assert dict(gymnasium.registry) == before


@pytest.mark.parametrize("id", IDS)
def test_every_listed_id_plays_an_episode_through_gymnasium(id):
    env = gymnasium.make(gymnasium_id(id))
    try:
        assert env.unwrapped.env_spec.id == id
        assert env.spec.id == gymnasium_id(id)
        end = play(env, limit=2000)[-1]
        assert end[2] != end[3], "the episode did not end"
    finally:
        env.close()


@pytest.mark.parametrize("id", OFFLINE)
def test_gymnasiums_checker_passes_without_a_warning(id):
    env = gymnasium.make(gymnasium_id(id))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_keywords_reach_the_environment():
    env = gymnasium.make(GAME, max_turns=2, seed=3, max_number=1000, on_invalid="retry", render_mode="ansi")
    first, _ = env.reset()
    assert "1000" in first
    assert env.unwrapped.max_turns == 2
    again = gymnasium.make(GAME, max_turns=2, seed=3, max_number=1000, on_invalid="retry")
    assert again.reset()[0] == first


def test_gymnasiums_own_time_limit_truncates():
    env = gymnasium.make(GAME, max_episode_steps=2)
    env.reset(seed=0)
    assert env.step("\\boxed{1}")[3] is False
    _, _, terminated, truncated, _ = env.step("\\boxed{1}")
    assert truncated or terminated


def test_an_unknown_keyword_is_refused():
    with pytest.raises((RegistrationError, TypeError), match="max_nmber"):
        gymnasium.make(GAME, max_nmber=3)


def test_a_fresh_process_registers_by_importing_the_module_or_by_its_name_in_the_id():
    code = f"import gymnasium\nprint(gymnasium.make('gem.integrations.gymnasium:{GAME}').reset(seed=0)[1])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{'task': 'train/0'}\n", "")


@pytest.mark.parametrize(
    "id", ["acme/lab:cat-v3", "lab:cat", "cat", "acme/cat", "acme.io/lab_2:c++.v1", "a-b/c.d:e-v0", "x:1", "lab:cat-v0"]
)
def test_ids_of_third_parties_can_be_made(own_registries, id):
    gem.register(id, EchoEnv, turns=1)
    assert gymnasium_id(id) in register_all()
    env = gymnasium.make(gymnasium_id(id))
    env.reset(seed=0)
    assert env.step("hello")[0] == "hello"
    assert env.unwrapped.env_spec.id == id


def test_ids_that_look_alike_to_gymnasium_stay_apart(own_registries):
    alike = ["lab:cat", "lab_cat", "lab/cat", "x/lab:cat", "x_lab:cat", "x/lab_cat", "lab:c++", "lab:c_+", "lab:c__"]
    for turns, id in enumerate(alike, 1):
        gem.register(id, EchoEnv, turns=turns)
    register_all()
    assert len({gymnasium_id(id) for id in alike}) == len(alike)
    for id in alike:
        assert gymnasium.make(gymnasium_id(id)).unwrapped.env_spec.id == id
    assert gymnasium_id("lab:cat") == "gem/lab_cat-v0"
    assert register_all() == register_all()


def test_a_third_party_cannot_take_the_place_of_a_game(own_registries):
    for id in [id for id in gymnasium.registry if id.startswith("gem/")]:
        del gymnasium.registry[id]
    gem.register("game/GuessTheNumber-v0-easy", EchoEnv)
    register_all()
    assert gymnasium.make(GAME).unwrapped.env_spec.id == "game:GuessTheNumber-v0-easy"


def test_a_namespace_of_ones_own(own_registries):
    assert "mine/game_GuessTheNumber-v0-easy-v0" in register_all("mine")
    assert gymnasium.make("mine/game_GuessTheNumber-v0-easy-v0").unwrapped.env_spec.id == "game:GuessTheNumber-v0-easy"


def test_nondeterminism_is_told_to_gymnasium(own_registries):
    gem.register("lab:dice", EchoEnv, info=gem.EnvInfo(deterministic=False))
    register_all()
    assert gymnasium.spec("gem/lab_dice-v0").nondeterministic
    assert not gymnasium.spec(GAME).nondeterministic


def test_sync_vectors_of_a_game_play_and_autoreset():
    vec = SyncVectorEnv([lambda: gymnasium.make(GAME)] * 3)
    obs, info = vec.reset(seed=[1, 2, 3])
    assert len(obs) == 3
    assert all(isinstance(text, str) for text in obs)
    assert list(info["task"]) == ["train/1", "train/2", "train/3"]
    ends = 0
    for _ in range(12):
        _, _, terminated, truncated, _ = vec.step(["\\boxed{5}"] * 3)
        ends += int(np.sum(terminated | truncated))
    assert ends >= 3
    vec.close()


def test_async_vectors_play_what_sync_vectors_play():
    makers = [lambda: gymnasium.make("gem.integrations.gymnasium:" + GAME)] * 2
    rows = []
    for vec in (SyncVectorEnv(makers), AsyncVectorEnv(makers, shared_memory=False)):
        try:
            rows.append([list(vec.reset(seed=[4, 5])[0])])
            for guess in ("\\boxed{5}", "\\boxed{7}"):
                obs, rewards, terminated, _, _ = vec.step([guess] * 2)
                rows[-1].append((list(obs), rewards.tolist(), terminated.tolist()))
        finally:
            vec.close()
    assert rows[0] == rows[1]


# -- gymnasium in gem --------------------------------------------------------------------------------------------------


def newest(name):
    """The id of a gymnasium environment whose version differs between releases of gymnasium."""
    return max((id for id in gymnasium.registry if id.startswith(f"{name}-v")), key=lambda id: int(id.rpartition("v")[2]))


BUILTIN = {
    "CartPole-v1": "a whole number from 0 to 1",
    "MountainCar-v0": "a whole number from 0 to 2",
    "Acrobot-v1": "a whole number from 0 to 2",
    "Pendulum-v1": "1 number from -2.0 to 2.0",
    "MountainCarContinuous-v0": "1 number from -1.0 to 1.0",
    "Blackjack-v1": "a whole number from 0 to 1",
    "FrozenLake-v1": "a whole number from 0 to 3",
    newest("Taxi"): "a whole number from 0 to 5",
    newest("CliffWalking"): "a whole number from 0 to 3",
}


@pytest.mark.parametrize("id", BUILTIN)
def test_gymnasiums_environments_play_by_text(id):
    with gem.make(f"gymnasium:{id}") as env:
        first, info = env.reset(seed=1)
        assert first.startswith(f"Your action is {BUILTIN[id]}. Write it in \\boxed{{}}.\n\n")
        assert info["task"] == "train/1"
        for obs, reward, terminated, truncated, info in play(env, seed=1)[1:]:
            assert isinstance(obs, str)
            assert obs
            assert isinstance(reward, float)
            assert not (terminated and truncated)
            assert "invalid_action" not in info
            json.dumps(info, allow_nan=False)


@pytest.mark.parametrize("id", BUILTIN)
def test_seeds_are_reproducible_and_differ(id):
    def episode(seed):
        with gem.make(f"gymnasium:{id}") as env:
            return play(env, seed, limit=30)

    assert episode(3) == episode(3)
    assert len({str(episode(seed)) for seed in range(6)}) > 1


def test_the_same_numbers_as_gymnasium_itself():
    ours, theirs = gem.make("gymnasium:CartPole-v1"), gymnasium.make("CartPole-v1")
    first, _ = ours.reset(seed=42)
    assert first.endswith(str(theirs.reset(seed=42)[0].tolist()))
    for action in (0, 1, 1, 0):
        obs, reward, terminated, truncated, _ = ours.step(str(action))
        right = theirs.step(action)
        assert (obs, reward, terminated, truncated) == (str(right[0].tolist()), *right[1:4])


def test_a_text_rendering_is_the_observation_where_there_is_one():
    with gem.make("gymnasium:FrozenLake-v1") as env:
        assert "FHFH" in env.reset(seed=0)[0]
        assert "FHFH" in env.step("\\boxed{1}")[0]
    with gem.make("gymnasium:Blackjack-v1") as env:
        hand = json.loads(env.reset(seed=0)[0].partition("\n\n")[2])
        assert len(hand) == 3


def test_keywords_of_the_gymnasium_environment_reach_it():
    with gem.make("gymnasium:FrozenLake-v1", is_slippery=False, desc=["SG"], render_mode=None) as env:
        env.reset(seed=0)
        _, reward, terminated, _, info = env.step("\\boxed{2}")
        assert (reward, terminated, info["prob"]) == (1.0, True, 1.0)


def test_gem_keywords_and_gymnasium_keywords_go_together():
    with gem.make("gymnasium:FrozenLake-v1", max_turns=2, on_invalid="end", map_name="8x8", prompt="Go!", seed=1) as env:
        first, _ = env.reset()
        assert first.startswith("Go!\n\n")
        assert len(first.splitlines()) == 2 + 8
        assert env.step("nonsense")[2] is True


def test_gymnasiums_time_limit_truncates():
    with gem.make("gymnasium:Pendulum-v1") as env:
        end = play(env)[-1]
        assert end[2:4] == (False, True)
        with pytest.raises(gem.errors.ResetNeeded):
            env.step("0")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\\boxed{1}", True),
        ("1", True),
        (" 1\n", True),
        ("I think\n\\boxed{0}, no, \\boxed{ 1 }.", True),
        ("1.0", True),
        ("1e0", True),
        ("+1", True),
        ("[1]", True),
        ("\\boxed{2}", False),
        ("\\boxed{-1}", False),
        ("\\boxed{0.5}", False),
        ("\\boxed{1 1}", False),
        ("left", False),
        ("", False),
        ("nan", False),
        ("inf", False),
        ("1e400", False),
        ("0x1", False),
        ("1_0", False),
        ("True", False),
        ("<think>\\boxed{1}</think>", False),
    ],
)
def test_a_number_is_read_or_it_is_an_invalid_action(text, read):
    with gem.make("gymnasium:CartPole-v1") as env:
        env.reset(seed=0)
        obs, reward, terminated, truncated, info = env.step(text)
        assert ("invalid_action" in info) is not read
        if not read:
            assert "could not be read" in obs
            assert (reward, terminated, truncated) == (0.0, False, False)


def test_a_chat_message_plays_as_its_text():
    with gem.make("gymnasium:CartPole-v1") as one, gem.make("gymnasium:CartPole-v1") as two:
        one.reset(seed=0)
        two.reset(seed=0)
        assert one.step({"role": "assistant", "content": "\\boxed{1}"}) == two.step("\\boxed{1}")


HOSTILE = [
    "9" * 100_000,
    "\\boxed{" + "1 " * 100_000 + "}",
    "\\boxed{" * 5000,
    "[" * 50_000 + "1",
    "1e" + "9" * 4000,
    "\\boxed{1e300}",
    "\\boxed{99999999999999999999999}",
    "-" * 10_000,
    "a\0b",
    "\ud800",
    "٣",
    "1,,;; ,1",
    "{}{}{}",
    "\\boxed{\\boxed{}}",
    "\u2028",
    "1\x851",
    "{0.__class__}",
    "%s%n",
]


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1", newest("Taxi")])
def test_hostile_text_is_an_invalid_action(id):
    with gem.make(f"gymnasium:{id}") as env:
        for text in HOSTILE:
            env.reset(seed=0)
            assert "invalid_action" in env.step(text)[4] or text == "٣", text[:30]


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(codec=None), max_size=30) | st.from_regex(r"[-+ .,;e0-9\[\]()]{0,30}"))
def test_no_text_raises(text):
    for env in (ENVS_OF_SPACES or make_envs_of_spaces()).values():
        obs, _, _, _, info = env.step(text)
        json.dumps([obs, info], allow_nan=False)


# -- action spaces -----------------------------------------------------------------------------------------------------


class Mirror(gymnasium.Env):
    """Tells the action it got; its infos and ends are what the test sets."""

    observation_space = spaces.Discrete(3)

    def __init__(self, action_space, info=None, end=(False, False), reward=0.0):
        self.action_space = action_space
        self.told, self.end, self.paid = info or {}, end, reward
        self.closed = 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, dict(self.told)

    def step(self, action):
        assert self.action_space.contains(action)
        self.last = action
        self.steps += 1
        return self.steps, self.paid, *self.end, dict(self.told)

    def close(self):
        self.closed += 1


SPACES = {
    "discrete": spaces.Discrete(3),
    "discrete-start": spaces.Discrete(3, start=-5),
    "discrete-wide": spaces.Discrete(2**62, start=7),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "multi-discrete-start": spaces.MultiDiscrete([3, 4], start=[-1, 10]),
    "multi-discrete-2d": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "multi-binary": spaces.MultiBinary(3),
    "multi-binary-2d": spaces.MultiBinary((2, 2)),
    "box": spaces.Box(-1, 1, (2,)),
    "box-scalar": spaces.Box(-1, 1, ()),
    "box-uint8": spaces.Box(0, 255, (2,), np.uint8),
    "box-int": spaces.Box(-3, 3, (2,), np.int32),
    "box-float64": spaces.Box(-np.inf, np.inf, (1,), np.float64),
    "box-unbounded": spaces.Box(-np.inf, np.inf, (2,)),
    "box-half": spaces.Box(np.array([0, -np.inf], np.float32), np.array([np.inf, 1], np.float32)),
    "text": spaces.Text(5),
    "text-braces": spaces.Text(6, min_length=0, charset="{}\\ ab"),
    "text-blank": spaces.Text(4, charset=" \n\t"),
}
ENVS_OF_SPACES = {}


def make_envs_of_spaces():
    for name, space in SPACES.items():
        ENVS_OF_SPACES[name] = GymnasiumEnv(Mirror(space))
        ENVS_OF_SPACES[name].reset(seed=0)
    return ENVS_OF_SPACES


@pytest.mark.parametrize("name", SPACES)
def test_random_actions_of_every_space_are_read_back_as_they_were(name):
    env = GymnasiumEnv(Mirror(SPACES[name]))
    for seed in range(20):
        env.reset(seed=seed)
        text = env.sample_random_action()
        assert "invalid_action" not in env.step(text)[4], text
        env.seed_actions(seed)
        env.inner.action_space.seed(env.action_rng.getrandbits(31))
        drawn = env.inner.action_space.sample()
        env.reset(seed=seed)
        env.seed_actions(seed)
        env.step(env.sample_random_action())
        assert np.array_equal(env.inner.last, drawn)


@pytest.mark.parametrize("name", SPACES)
def test_random_actions_are_repeatable_and_vary(name):
    def actions(seed):
        env = GymnasiumEnv(Mirror(SPACES[name]))
        env.reset(seed=seed)
        return [env.sample_random_action() for _ in range(12)]

    assert actions(1) == actions(1)
    assert len(set(actions(1)) | set(actions(2))) > 1


@pytest.mark.parametrize(
    ("name", "text", "action"),
    [
        ("discrete-start", "-4", -4),
        ("discrete-wide", "4611686018427387903", 2**62 - 1),
        ("discrete-wide", "36893488147419103232", None),
        ("multi-discrete", "2 3", [2, 3]),
        ("multi-discrete", "[2, 3]", [2, 3]),
        ("multi-discrete", "(2;3)", [2, 3]),
        ("multi-discrete", "3 0", None),
        ("multi-discrete", "1.5 0", None),
        ("multi-discrete", "1e30 1", None),
        ("multi-discrete", "1", None),
        ("multi-discrete-start", "1 13", [1, 13]),
        ("multi-discrete-start", "2 13", None),
        ("multi-discrete-2d", "1 2 3 4", [[1, 2], [3, 4]]),
        ("multi-binary", "1 0 1", [1, 0, 1]),
        ("multi-binary", "256 256 257", None),
        ("multi-binary", "2 0 0", None),
        ("multi-binary-2d", "1 0 0 1", [[1, 0], [0, 1]]),
        ("box", "0.5 -1", [0.5, -1.0]),
        ("box", "0.5 -1.01", None),
        ("box", "0.5", None),
        ("box-scalar", "0.5", 0.5),
        ("box-uint8", "255 0", [255, 0]),
        ("box-uint8", "300 1", None),
        ("box-uint8", "-1 1", None),
        ("box-uint8", "1.5 1", None),
        ("box-int", "3 -3", [3, -3]),
        ("box-int", "4294967297 1", None),
        ("box-float64", "1e300", [1e300]),
        ("box-float64", "1e309", None),
        ("box-unbounded", "1e30 -2", [np.float32(1e30), -2.0]),
        ("box-unbounded", "1e300 0", None),
        ("text", "abc", "abc"),
        ("text", "\\boxed{abc}", "abc"),
        ("text", "  abc ", "abc"),
        ("text", "abcdef", None),
        ("text", "a b", None),
        ("text-blank", " \t", " \t"),
    ],
)
def test_text_is_read_as_the_action_that_it_writes_or_not_at_all(name, text, action):
    env = GymnasiumEnv(Mirror(SPACES[name]))
    env.reset(seed=0)
    info = env.step(text)[4]
    if action is None:
        assert "invalid_action" in info
    else:
        assert "invalid_action" not in info
        assert np.array_equal(env.inner.last, action)
        assert env.inner.action_space.contains(env.inner.last)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("discrete-start", "a whole number from -5 to -3."),
        ("multi-discrete", "2 whole numbers, separated by spaces: from 0 to 2, from 0 to 3."),
        ("multi-discrete-start", "from -1 to 1, from 10 to 13."),
        ("multi-binary", "3 whole numbers, separated by spaces, each from 0 to 1."),
        ("box", "2 numbers, separated by spaces, each from -1.0 to 1.0."),
        ("box-scalar", "1 number from -1.0 to 1.0."),
        ("box-uint8", "2 whole numbers, separated by spaces, each from 0 to 255."),
        ("box-unbounded", "2 numbers, separated by spaces."),
        ("box-half", "2 numbers, separated by spaces: from 0.0, to 1.0."),
        ("text-braces", "text of 0 to 6 of these characters: "),
    ],
)
def test_the_prompt_names_the_form_and_the_bounds(name, says):
    assert says in GymnasiumEnv(Mirror(SPACES[name])).reset(seed=0)[0]


def test_a_prompt_about_many_numbers_stays_short():
    wide = spaces.Box(-np.arange(1, 1001, dtype=np.float32), np.arange(1, 1001, dtype=np.float32))
    assert len(GymnasiumEnv(Mirror(wide)).reset(seed=0)[0]) < 600


@pytest.mark.parametrize(
    "space",
    [spaces.Dict({"a": spaces.Discrete(2)}), spaces.Tuple([spaces.Discrete(2)]), spaces.Sequence(spaces.Discrete(2))],
    ids=["dict", "tuple", "sequence"],
)
def test_a_space_that_text_cannot_write_needs_a_parser(space):
    with pytest.raises(RegistrationError, match="pass parse_action="):
        GymnasiumEnv(Mirror(space))


def test_parse_format_and_describe_are_the_callers():
    space = spaces.Dict({"go": spaces.Discrete(4)})

    def parse(text):
        return {"go": "nesw".index(text)} if text in tuple("nesw") else None

    env = GymnasiumEnv(
        Mirror(space),
        describe=lambda obs: f"You stand at {obs}.",
        parse_action=parse,
        format_action=lambda action: "nesw"[action["go"]],
        prompt="Go n, e, s or w.",
    )
    assert env.reset(seed=0)[0] == "Go n, e, s or w.\n\nYou stand at 0."
    assert env.step("e")[0] == "You stand at 1."
    assert env.inner.last == {"go": 1}
    assert "Go n, e, s or w." in env.step("up")[0]
    assert {env.sample_random_action() for _ in range(60)} == set("nesw")
    assert all("invalid_action" not in env.step(env.sample_random_action())[4] for _ in range(10))


def test_retries_are_counted_per_episode_and_paid():
    policy = {"mode": "retry", "reward": -0.5, "max_retries": 2}
    with gem.make("gymnasium:CartPole-v1", on_invalid=policy) as env:
        for _ in range(2):
            env.reset(seed=0)
            ends = [env.step("what?")[1:4] for _ in range(3)]
            assert ends == [(-0.5, False, False), (-0.5, False, False), (-0.5, True, False)]


# -- ends, rewards and infos -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "told"),
    [((True, True), (True, False)), ((np.True_, np.False_), (True, False)), ((0, 1), (False, True)), ((1, 1), (True, False))],
)
def test_both_ends_at_once_are_terminated_only(end, told):
    env = GymnasiumEnv(Mirror(spaces.Discrete(2), end=end))
    env.reset(seed=0)
    assert env.step("0")[2:4] == told
    assert all(type(flag) is bool for flag in env.step("0")[2:4])


@pytest.mark.parametrize("reward", [1, np.float32(1), np.int64(1), np.array(1.0), np.array([1.0]), True])
def test_rewards_become_floats(reward):
    env = GymnasiumEnv(Mirror(spaces.Discrete(2), reward=reward))
    env.reset(seed=0)
    assert env.step("0")[1] == 1.0
    assert type(env.step("0")[1]) is float


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Plain:
    pass


def test_infos_of_numpy_and_objects_become_json():
    deep: list = []
    for _ in range(3000):
        deep = [deep]
    circle: dict = {}
    circle["self"] = circle
    told = {
        "mask": np.array([1, 0], np.int8),
        "matrix": np.eye(2),
        "n": np.int64(3),
        "x": np.float32(0.5),
        "nan": np.nan,
        "infs": np.array([np.inf, -np.inf]),
        "flag": np.bool_(True),
        "name": np.str_("a"),
        "colour": Colour.RED,
        "level": Level.HIGH,
        "set": {"b", "a"},
        "tuple": (1, (2,)),
        "bytes": b"\xff",
        "object": Plain(),
        "function": len,
        "complex": 1j,
        "when": np.datetime64("2020-01-01"),
        "deep": deep,
        "circle": circle,
        5: "five",
        ("a", 1): None,
        "surrogate": "\ud800",
    }
    env = gem.make(gem.EnvSpec("lab:mirror", lambda: GymnasiumEnv(Mirror(spaces.Discrete(2), info=told))))
    _, info = env.reset(seed=0)
    json.dumps(info, allow_nan=False)
    assert info["mask"] == [1, 0]
    assert (info["n"], info["x"], info["nan"], info["infs"], info["flag"]) == (3, 0.5, "nan", ["inf", "-inf"], True)
    assert (info["colour"], info["level"], info["set"], info["tuple"], info["5"]) == ("red", 3, ["a", "b"], [1, [2]], "five")
    assert type(info["colour"]) is str
    assert type(info["level"]) is int
    assert "0x" not in json.dumps(info), "an address is another one in each process"
    env.step("0")


@settings(max_examples=80, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3) | st.tuples(inner),
        max_leaves=15,
    )
)
def test_whatever_it_is_jsonable_makes_json_of_it(value):
    assert json.loads(json.dumps(jsonable(value), allow_nan=False)) == jsonable(value)


def test_names_that_mean_something_to_gem_are_moved_aside():
    told = {"error": 0.25, "metrics": [1], "task": "mine", "messages": "x", "success": 0.5, "timing": {}, "TimeLimit": 1}
    env = gem.make(gem.EnvSpec("lab:mirror", lambda: GymnasiumEnv(Mirror(spaces.Discrete(2), info=told))))
    _, first = env.reset(seed=7)
    info = env.step("0")[4]
    assert first["task"] == "train/7"
    moved = {f"gymnasium.{name}": told[name] for name in told if name != "TimeLimit"}
    assert info == {**moved, "TimeLimit": 1}


def test_a_success_that_is_one_is_told():
    env = GymnasiumEnv(Mirror(spaces.Discrete(2), info={"success": np.bool_(True)}))
    env.reset(seed=0)
    assert env.step("0")[4] == {"success": True}


# -- life --------------------------------------------------------------------------------------------------------------


def test_close_closes_once():
    inner = Mirror(spaces.Discrete(2))
    env = GymnasiumEnv(inner)
    env.reset(seed=0)
    env.close()
    env.close()
    asyncio.run(env.aclose())
    assert inner.closed == 1


def test_async_play_is_sync_play():
    async def episode():
        env = gem.make("gymnasium:FrozenLake-v1")
        seen = [await env.areset(seed=3)]
        for action in ("1", "2", "1"):
            seen.append(await env.astep(action))
        await env.aclose()
        return seen

    with gem.make("gymnasium:FrozenLake-v1") as env:
        assert asyncio.run(episode()) == [env.reset(seed=3), *(env.step(action) for action in ("1", "2", "1"))]


def test_a_spawned_twin_plays_on_an_environment_of_its_own():
    for env in (
        gem.make("gymnasium:CartPole-v1").unwrapped,
        GymnasiumEnv(gymnasium.make("CartPole-v1")),
        GymnasiumEnv(gym_id=gymnasium.make("CartPole-v1"), prompt="Go."),
        GymnasiumEnv(Mirror(spaces.Discrete(2))),
    ):
        first = env.reset(seed=1)
        twin = env.spawn()
        assert twin.inner.unwrapped is not env.inner.unwrapped
        assert twin.reset(seed=1) == first
        twin.step("0")
        assert env.step("1")[0] == twin_of(env).step("1")[0]
        twin.close()


def twin_of(env):
    twin = env.spawn()
    twin.reset(seed=1)
    return twin


def test_tasks_are_made_without_disturbing_the_episode():
    env = GymnasiumEnv(gymnasium.make("CartPole-v1"))
    env.reset(seed=1)
    assert env.tasks("train")[3].content["prompt"] == env.spawn().reset(seed=3)[0]
    assert env.step("1") == twin_of(env).step("1")


def test_it_travels_by_pickle():
    env = gem.make("gymnasium:CartPole-v1")
    env.reset(seed=1)
    again = pickle.loads(pickle.dumps(env))
    assert again.step("1") == env.step("1")


@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_the_contract_holds(id):
    assert find_breaches(f"gymnasium:{id}", episodes=5) == {}


def test_the_contract_holds_for_a_gymnasium_environment_of_ones_own():
    assert find_breaches(lambda: GymnasiumEnv(gymnasium.make("CartPole-v1")), episodes=5, info=gem.EnvInfo(reward_range=(0, 500))) == {}


def test_the_spec_goes_through_json():
    spec = gem.spec("gymnasium:CartPole-v1")
    assert gem.EnvSpec.from_json(spec.to_json()) == spec
    with gem.make(gem.EnvSpec.from_json(spec.to_json())) as env:
        assert env.env_spec.id == "gymnasium:CartPole-v1"


# -- what is not there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["CartPol-v1", "CartPole-v99", "CartPole", "", "nope/CartPole-v1", "os:system", "a:b:c", " ", "CartPole-v1 "]
)
def test_an_unknown_gymnasium_id_is_not_found(name):
    with pytest.raises(EnvNotFound) as caught:
        gem.make(f"gymnasium:{name}")
    assert isinstance(caught.value, GemError)


def test_the_nearest_id_is_named():
    with pytest.raises(EnvNotFound, match="Did you mean: `CartPole`"):
        gem.make("gymnasium:CartPol-v1")
    with pytest.raises(EnvNotFound, match="Did you mean: `CartPole`"):
        GymnasiumEnv("CartPol-v1")


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(MissingDependency, match=r"gymnasium:Ant-v5 needs a package: .*pip install"):
        gem.make("gymnasium:Ant-v5")


def test_a_keyword_that_it_does_not_take_is_named():
    with pytest.raises(RegistrationError, match=r"gymnasium:FrozenLake-v1 can't be built: .*is_slipery"):
        gem.make("gymnasium:FrozenLake-v1", is_slipery=False)


def test_numbers_that_are_not_finite_are_a_contract_error_and_no_result():
    env = gem.make(gem.EnvSpec("lab:mirror", lambda: GymnasiumEnv(Mirror(spaces.Discrete(2), reward=math.nan))))
    env.reset(seed=0)
    with pytest.raises(ContractError, match="not finite"):
        env.step("0")


def test_importing_gem_does_not_import_the_integration():
    code = "import sys, gem; gem.make; print('gem.integrations.gymnasium' in sys.modules)"
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=60).stdout == "False\n"


def test_it_is_an_environment_of_gem():
    assert issubclass(GymnasiumEnv, Env)


def test_text_that_is_never_an_action_ends_the_episode():
    env = gem.make("gymnasium:CartPole-v1")
    env.reset(seed=0)
    ends = [env.step("I would push the cart")[2] for _ in range(11)]
    assert ends == [False] * 10 + [True]


def test_unreadable_turns_count_towards_gymnasiums_limit():
    env = gem.make("gymnasium:FrozenLake-v1", on_invalid="retry")
    env.reset(seed=0)
    assert env.max_turns == 100
    flags = [env.step("hm")[2:4] for _ in range(100)]
    assert flags == [(False, False)] * 99 + [(False, True)]


def test_terminal_colours_become_brackets():
    obs, _ = gem.make("gymnasium:FrozenLake-v1").reset(seed=0)
    assert obs.endswith("[S]FFF\nFHFH\nFFFH\nHFFG")


def test_a_box_in_tex_is_read():
    env = gem.make("gymnasium:FrozenLake-v1")
    env.reset(seed=0)
    assert "invalid_action" not in env.step(r"**\boxed{\text{1}}**")[4]
