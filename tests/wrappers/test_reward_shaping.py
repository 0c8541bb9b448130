"""RewardShaping pays other rewards for the same play."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gem.errors import ContractError
from gem.wrappers import Guarded, RewardShaping
from tests.wrappers.envs import FailingTextGame, Plan, TextGame
from tests.wrappers.paths import play
from tests.wrappers.suite import GUESSES, WrapperSuite


class TestRewardShapingIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return RewardShaping(env, scale=2.0, per_turn=-0.125, invalid=-0.25, success=1.0, clip=(-1.0, 2.5))


def rewards(path, env, actions):
    return [row[1] for row in play(path, env, actions)[1:]]


def won(path, env):
    """Return what a win at the first turn pays."""
    path.reset(env, seed=1)
    return path.step(env, env.oracle_action())[1]


def test_by_default_it_pays_what_the_environment_pays(game, path):
    assert rewards(path, RewardShaping(game()), [*GUESSES]) == rewards(path, game(), [*GUESSES])


def test_scales_and_pays_by_the_turn(game, path):
    env = RewardShaping(game(), scale=4.0, per_turn=-0.5)
    assert rewards(path, env, ["x", "x"]) == [-0.75, -0.75]
    assert won(path, env) == 3.5


def test_an_invalid_action_and_a_won_end_are_paid_extra(game, path):
    env = RewardShaping(game(), invalid=-1.0, success=8.0)
    path.reset(env, seed=1)
    assert path.step(env, "x")[1] == -1.0625
    assert path.step(env, env.unwrapped.miss())[1] == -0.0625
    assert path.step(env, env.oracle_action())[1] == 9.0


def test_a_lost_end_gets_no_extra(game, path):
    assert rewards(path, RewardShaping(game(tries=1), success=8.0), ["x"]) == [-0.0625]


@pytest.mark.parametrize(
    ("clip", "expected"), [((-0.03125, 0.5), (-0.03125, 0.5)), ((0, math.inf), (0.0, 1.0)), ([-1, 0], (-0.0625, 0.0))], ids=str
)
def test_rewards_of_a_turn_are_clipped_after_all_else(game, path, clip, expected):
    env = RewardShaping(game(), clip=clip)
    assert (rewards(path, env, ["x"])[0], won(path, env)) == expected
    assert rewards(path, RewardShaping(game(), per_turn=-5.0, clip=clip), ["x"]) == [float(clip[0])]


def test_a_function_of_ones_own_takes_the_place_of_all_else(game, path):
    seen = []

    def shape(reward, info):
        seen.append((reward, info["metrics"]["turn"]))
        return len(seen) * 10

    env = RewardShaping(game(), scale=100.0, per_turn=7.0, clip=(0.0, 1.0), shape=shape)
    assert rewards(path, env, ["x", "x"]) == [10.0, 20.0]
    assert seen == [(-0.0625, 1), (-0.0625, 2)]


@pytest.mark.parametrize("paid", [3, True, np.float32(0.5), np.float64(0.5), np.int64(2)], ids=repr)
def test_whatever_number_comes_out_is_a_float(game, path, paid):
    (reward,) = rewards(path, RewardShaping(game(), shape=lambda reward, info: paid), ["x"])
    assert type(reward) is float
    assert reward == float(paid)


@pytest.mark.parametrize("paid", [None, "1", math.nan, math.inf, [1.0]], ids=repr)
def test_a_function_that_returns_no_finite_number_is_a_breach(game, path, paid):
    env = RewardShaping(game(), shape=lambda reward, info: paid)
    path.reset(env, seed=1)
    with pytest.raises(ContractError, match="Game: the shaped reward must be a finite number, not"):
        path.step(env, "x")


def test_the_environments_own_reward_stays_in_info(game, path):
    shaped, plain = play(path, RewardShaping(game(), scale=0.0), [*GUESSES]), play(path, game(), [*GUESSES])
    assert [row[-1]["shaping.reward"] for row in shaped[1:]] == [row[1] for row in plain[1:]]
    assert [{**row[-1], "shaping.reward": None} for row in shaped[1:]] == [{**row[-1], "shaping.reward": None} for row in plain[1:]]
    assert [row[0] for row in shaped] == [row[0] for row in plain]


def test_the_environments_own_info_dict_is_left_alone(scripted, path):
    info = {"a": 1}
    play(path, RewardShaping(scripted(("", {}), ("", 0.5, True, False, info))), ["x"])
    assert info == {"a": 1}


@pytest.mark.parametrize("shape", [None, lambda reward, info: 9.0], ids=["formula", "function"])
def test_a_faulted_step_is_left_as_it_is(path, shape):
    inner = Guarded(FailingTextGame(Plan({2: RuntimeError("boom")})))
    env = RewardShaping(inner, scale=3.0, per_turn=-1.0, invalid=-1.0, clip=(0.5, 1.0), shape=shape)
    path.reset(env, seed=1)
    _, reward, terminated, truncated, info = path.step(env, "x")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert set(info) == {"error"}
    path.close(env)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scale": "2"}, "scale must be a finite number, not '2'"),
        ({"per_turn": None}, "per_turn must be a finite number, not None"),
        ({"invalid": math.nan}, "invalid must be a finite number, not nan"),
        ({"success": math.inf}, "success must be a finite number, not inf"),
        ({"clip": (1.0, 0.0)}, r"clip must be \(least, greatest\), not \(1.0, 0.0\)"),
        ({"clip": (0.0,)}, r"clip must be \(least, greatest\), not \(0.0,\)"),
        ({"clip": 1.0}, r"clip must be \(least, greatest\), not 1.0"),
        ({"clip": (0.0, math.nan)}, r"clip must be \(least, greatest\), not \(0.0, nan\)"),
        ({"clip": "01"}, r"clip must be \(least, greatest\), not '01'"),
        ({"clip": ("a", "b")}, r"clip must be \(least, greatest\), not \('a', 'b'\)"),
        ({"shape": 2.0}, "shape must be a function of reward and info, not 2.0"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options, said):
    with pytest.raises(ContractError, match=f"TextGame: {said}"):
        RewardShaping(TextGame(), **options)
