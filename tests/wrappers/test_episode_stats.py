"""EpisodeStats counts turns and rewards, and keeps those of the last episodes."""

from __future__ import annotations

import pytest

from gem.errors import ContractError
from gem.wrappers import EpisodeStats, Guarded, RewardShaping, TimeLimit
from tests.wrappers.envs import FailingTextGame, Plan, TextGame
from tests.wrappers.paths import go_on, play
from tests.wrappers.suite import GUESSES, WrapperSuite


class TestEpisodeStatsIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return EpisodeStats(env)


def told(episode):
    return [(info["stats.turns"], info["stats.return"]) for *_, info in episode[1:]]


def test_every_step_says_the_turns_and_the_sum_of_rewards_so_far(game, path):
    episode = play(path, EpisodeStats(game(tries=3)), ["x"] * 9)
    assert told(episode) == [(1, -0.0625), (2, -0.125), (3, -0.1875)]


def test_counts_the_rewards_that_its_caller_sees(game, path):
    assert told(play(path, EpisodeStats(RewardShaping(game(tries=2), scale=16.0)), ["x"] * 9)) == [(1, -1.0), (2, -2.0)]


def test_adds_to_the_info_and_changes_nothing_else(game, path):
    counted, plain = play(path, EpisodeStats(game()), [*GUESSES]), play(path, game(), [*GUESSES])
    assert [row[:-1] for row in counted] == [row[:-1] for row in plain]
    for got, want in zip(counted, plain, strict=True):
        assert {name: value for name, value in got[-1].items() if not name.startswith("stats.")} == want[-1]


def test_the_environments_own_info_dict_is_left_alone(scripted, path):
    info = {"a": 1}
    path_env = EpisodeStats(scripted(("", {}), ("", 0.5, True, False, info)))
    play(path, path_env, ["x"])
    assert info == {"a": 1}


def test_keeps_returns_and_lengths_of_ended_episodes(game, path):
    env = EpisodeStats(game(tries=2))
    play(path, env, ["x"] * 9)
    path.reset(env, seed=1)
    path.step(env, env.oracle_action())
    assert (list(env.returns), list(env.lengths)) == ([-0.125, 1.0], [2, 1])


def test_a_truncated_episode_counts(game, path):
    env = EpisodeStats(TimeLimit(game(), 1))
    play(path, env, ["x"])
    assert (list(env.returns), list(env.lengths)) == ([-0.0625], [1])


def test_an_episode_that_is_left_or_faulted_does_not_count(path):
    env = EpisodeStats(Guarded(FailingTextGame(Plan({5: RuntimeError("boom")}), tries=2)))
    path.reset(env, seed=1)
    path.step(env, "x")
    faulted = play(path, env, ["x", "x"])
    assert "error" in faulted[-1][-1]
    assert told(faulted)[-1] == (2, -0.0625)
    assert (list(env.returns), list(env.lengths)) == ([], [])
    play(path, env, ["x", "x"])
    assert list(env.lengths) == [2]
    path.close(env)


def test_only_the_last_episodes_are_kept(game, path):
    env = EpisodeStats(game(tries=1), window=2)
    for _ in range(5):
        play(path, env, ["x"])
    assert (len(env.returns), len(env.lengths)) == (2, 2)


def test_a_restored_episode_goes_on_counting(game, path):
    env = EpisodeStats(game())
    path.reset(env, seed=1)
    path.step(env, "x")
    assert told([None, *go_on(path, env.spawn(same_state=True), ["x"])]) == [(2, -0.125)]


@pytest.mark.parametrize("window", [0, -1, 1.5, "10", None, True], ids=repr)
def test_a_window_that_is_no_positive_integer_is_refused(window):
    with pytest.raises(ContractError, match="TextGame: window must be an integer of 1 or more, not"):
        EpisodeStats(TextGame(), window)
