"""TimeLimit truncates at a turn what did not terminate there."""

from __future__ import annotations

import pytest

from gem.core import Env
from gem.envs.registration import make
from gem.errors import ContractError, ResetNeeded
from gem.specs import EnvSpec
from gem.wrappers import Contract, TimeLimit
from tests.wrappers.envs import AsyncMessageGame, AsyncTextGame, MessageGame, TextGame
from tests.wrappers.paths import play
from tests.wrappers.suite import WrapperSuite


class TestTimeLimitIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return TimeLimit(env, 5)


class OfItsOwn(TextGame):
    """Takes the turn limit itself."""

    def __init__(self, max_turns: int = 8) -> None:
        super().__init__(tries=max_turns)
        self.max_turns = max_turns


def ends(episode):
    return [(terminated, truncated) for _, _, terminated, truncated, _ in episode[1:]]


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_truncates_at_exactly_the_turn(game, path, limit):
    assert ends(play(path, TimeLimit(game(), limit), ["x"] * 9)) == [(False, False)] * (limit - 1) + [(False, True)]


def test_what_terminates_at_the_limit_is_not_truncated(game, path):
    assert ends(play(path, TimeLimit(game(tries=3), 3), ["x"] * 9)) == [(False, False), (False, False), (True, False)]


def test_a_shorter_episode_ends_by_itself(game, path):
    assert ends(play(path, TimeLimit(game(tries=2), 3), ["x"] * 9)) == [(False, False), (True, False)]


def test_what_the_environment_truncated_stays_truncated(scripted, path):
    env = TimeLimit(scripted(("", {}), ("", 0.0, False, True, {})), 5)
    assert ends(play(path, env, ["x"])) == [(False, True)]


def test_changes_nothing_but_the_end(game, path):
    plain, limited = play(path, game(), ["x"] * 3), play(path, TimeLimit(game(), 3), ["x"] * 3)
    assert limited[:-1] == plain[:-1]
    assert limited[-1][:2] == plain[-1][:2]
    assert limited[-1][4] == plain[-1][4]


def test_counts_anew_after_a_reset_in_the_middle(game, path):
    env = TimeLimit(game(), 3)
    path.reset(env, seed=1)
    path.step(env, "x")
    assert len(play(path, env, ["x"] * 9)) == 4


def test_a_step_after_the_limit_needs_a_reset_and_never_reaches_the_environment(game, path):
    env = TimeLimit(game(), 2)
    play(path, env, ["x", "x"])
    with pytest.raises(ResetNeeded, match=r"Game.*over.*Call reset"):
        path.step(env, "x")
    assert env.unwrapped.turn == 2
    assert len(play(path, env, ["x"] * 9)) == 3


def test_says_its_limit(game):
    assert TimeLimit(game(), 4).max_turns == 4
    assert TimeLimit(TimeLimit(game(), 4), 3).max_turns == 3


def test_the_lower_of_two_limits_holds(game, path):
    assert len(play(path, TimeLimit(TimeLimit(game(), 2), 4), ["x"] * 9)) == 3
    assert len(play(path, TimeLimit(TimeLimit(game(), 4), 2), ["x"] * 9)) == 3


@pytest.mark.parametrize("limit", [0, -1, 2.0, "3", None, True], ids=repr)
def test_a_limit_that_is_no_positive_integer_is_refused(limit):
    with pytest.raises(ContractError, match=r"TextGame: max_turns must be an integer of 1 or more, not"):
        TimeLimit(TextGame(), limit)


@pytest.mark.parametrize("cls", [TextGame, MessageGame, AsyncTextGame, AsyncMessageGame], ids=lambda cls: cls.__name__)
def test_make_puts_it_around_the_contract(cls, path):
    env = make(EnvSpec("test:limited", cls), max_turns=3)
    assert (type(env), type(env.env), env.max_turns) == (TimeLimit, Contract, 3)
    assert ends(play(path, env, ["x"] * 9)) == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeeded, match="test:limited"):
        path.step(env, "x")
    path.close(env)


def test_make_leaves_the_limit_to_an_environment_that_takes_it(path):
    env = make(EnvSpec("test:own", OfItsOwn), max_turns=3)
    assert type(env) is Contract
    assert env.max_turns == 3
    assert ends(play(path, env, ["x"] * 9)) == [(False, False), (False, False), (True, False)]
    path.close(env)


def test_the_limit_of_make_replaces_the_one_of_the_spec(path):
    spec = EnvSpec("test:limited", TextGame, max_turns=6)
    for env, turns in ((make(spec), 6), (make(spec, max_turns=2), 2)):
        assert len(play(path, env, ["x"] * 9)) == 1 + turns
        path.close(env)


def test_an_environment_without_a_limit_has_none():
    assert Env().max_turns is None
