"""RecordEpisode writes every episode as one line that `read_trajectories` reads."""

from __future__ import annotations

import copy
import json

import pytest

from gem.envs.registration import make
from gem.errors import ContractError
from gem.specs import EnvInfo, EnvSpec
from gem.trajectory import read_trajectories
from gem.wrappers import Guarded, RecordEpisode, RewardShaping, SystemPrompt, TimeLimit
from tests.wrappers.envs import FailingTextGame, Plan, TextGame
from tests.wrappers.paths import play, text_of
from tests.wrappers.suite import GUESSES, WrapperSuite
from tests.wrappers.test_concat_history import spoil


class TestRecordEpisodeIsAWrapper(WrapperSuite):
    def wrap(self, env):
        return RecordEpisode(env, on_episode=[].append)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "runs" / "episodes.jsonl"


def read(file):
    return list(read_trajectories(file)) if file.exists() else []


def test_a_whole_episode_is_one_line_with_all_that_was_seen_and_done(game, path, file):
    env = RecordEpisode(game(), file, agent="me")
    seen = play(path, env, [*GUESSES], seed=3)
    (episode,) = read(file)
    assert len(file.read_text().splitlines()) == 1
    assert [turn.observation for turn in episode.turns] == [row[0] for row in seen[:-1]]
    assert episode.final_observation == seen[-1][0]
    assert [turn.action for turn in episode.turns] == [*GUESSES][: len(seen) - 1]
    assert [turn.reward for turn in episode.turns] == [row[1] for row in seen[1:]]
    assert [turn.info for turn in episode.turns] == [row[4] for row in seen[1:]]
    assert episode.reward == sum(row[1] for row in seen[1:])
    assert (episode.terminated, episode.truncated, episode.valid, episode.error) == (True, False, True, None)
    assert (episode.success, episode.metrics) == (seen[-1][4]["success"], {"turn": len(seen) - 1})
    assert (episode.env_id, episode.agent, episode.seed) == (type(env.unwrapped).__name__, "me", 3)
    assert (episode.task, episode.split) == ("train/3", "train")


def test_episodes_are_appended_to_the_file(game, path, file):
    env = RecordEpisode(game(), file)
    for seed in (1, 2):
        play(path, env, [*GUESSES], seed=seed)
    other = RecordEpisode(game(), file)
    play(path, other, [*GUESSES], seed=3)
    assert [episode.seed for episode in read(file)] == [1, 2, 3]


def test_each_episode_is_in_the_file_as_soon_as_it_ends(game, path, file):
    env = RecordEpisode(game(tries=2), file)
    path.reset(env, seed=1)
    path.step(env, "x")
    assert read(file) == []
    path.step(env, "x")
    assert len(read(file)) == 1
    path.close(env)
    assert len(read(file)) == 1


def test_the_callback_gets_each_trajectory_when_it_ends(game, path, file):
    episodes = []
    env = RecordEpisode(game(), file, on_episode=episodes.append)
    play(path, env, [*GUESSES])
    play(path, env, [*GUESSES])
    assert len(episodes) == 2
    assert episodes == read(file)


def test_without_a_file_only_the_callback_is_called(game, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    episodes = []
    play(path, RecordEpisode(game(), on_episode=episodes.append), [*GUESSES])
    assert len(episodes) == 1
    assert list(tmp_path.iterdir()) == []


def test_records_what_its_caller_sees_not_what_the_environment_said(game, path, file):
    env = RecordEpisode(SystemPrompt(RewardShaping(game(), scale=2.0), "Be brief."), file)
    seen = play(path, env, [*GUESSES])
    (episode,) = read(file)
    assert text_of(episode.turns[0].observation).startswith("Be brief.")
    assert episode.reward == sum(row[1] for row in seen[1:])


def test_the_reward_is_the_sum_over_the_turns(scripted, path, file):
    rewards = [0.1, 0.2, 0.3, -0.6]
    env = RecordEpisode(scripted(("", {}), *[("", reward, n == 3, False, {}) for n, reward in enumerate(rewards)]), file)
    play(path, env, ["a"] * 4)
    (episode,) = read(file)
    assert episode.reward == sum(rewards)
    assert [turn.reward for turn in episode.turns] == rewards


def test_a_truncated_episode_is_a_result(game, path, file):
    play(path, RecordEpisode(TimeLimit(game(), 2), file), ["x"] * 9)
    (episode,) = read(file)
    assert (len(episode.turns), episode.truncated, episode.terminated, episode.valid, episode.success) == (2, True, False, True, None)


# -- episodes that were left ---------------------------------------------------------------------------------------------


def test_an_episode_that_a_reset_or_close_cuts_off_is_recorded_as_not_valid(game, path, file):
    env = RecordEpisode(game(), file)
    path.reset(env, seed=1)
    path.step(env, "x")
    path.reset(env, seed=2)
    path.step(env, "x")
    path.step(env, "x")
    path.close(env)
    path.close(env)
    first, second = read(file)
    assert [(row.seed, len(row.turns), row.valid, row.truncated, row.terminated) for row in (first, second)] == [
        (1, 1, False, True, False),
        (2, 2, False, True, False),
    ]
    assert first.error == {"type": "EnvError", "message": "the episode was left before its end", "phase": "step", "retryable": False}
    assert "a digit! 1" in text_of(first.final_observation)


def test_an_episode_without_a_turn_is_not_recorded(game, path, file):
    env = RecordEpisode(game(), file)
    path.reset(env, seed=1)
    path.reset(env, seed=2)
    path.close(env)
    assert read(file) == []


def test_an_episode_in_which_the_environment_raised_is_recorded_as_left(path, file):
    env = RecordEpisode(FailingTextGame(Plan({3: RuntimeError("boom")})), file)
    with pytest.raises(RuntimeError, match="boom"):
        play(path, env, ["x", "x"])
    path.close(env)
    assert [(len(row.turns), row.valid) for row in read(file)] == [(1, False)]


def test_a_restored_snapshot_is_not_recorded_as_the_episode_before_it(game, path, file):
    env = RecordEpisode(game(), file)
    path.reset(env, seed=1)
    path.step(env, "x")
    state = env.get_state()
    path.step(env, "x")
    env.set_state(state)
    path.step(env, env.oracle_action())
    path.close(env)
    assert read(file) == []


# -- faults --------------------------------------------------------------------------------------------------------------


def test_a_faulted_step_is_recorded_with_its_error_as_not_valid(failing, path, file):
    env = RecordEpisode(Guarded(failing(Plan({3: RuntimeError("boom")}))), file)
    play(path, env, ["x", "x"])
    (episode,) = read(file)
    told = {"type": "RuntimeError", "message": "boom", "phase": "step", "retryable": False}
    assert (episode.valid, episode.truncated, episode.terminated, episode.success) == (False, True, False, None)
    assert episode.error == episode.turns[-1].error == told
    assert "error" not in episode.turns[-1].info
    assert [turn.reward for turn in episode.turns] == [-0.0625, 0.0]


def test_a_failed_reset_is_recorded_so_that_it_can_be_counted(failing, path, file):
    env = RecordEpisode(Guarded(failing(Plan({1: OSError("no box")}))), file)
    path.reset(env, seed=1)
    assert path.step(env, "x")[3]
    play(path, env, [*GUESSES])
    failed, played = read(file)
    assert (failed.valid, failed.truncated, failed.terminated, failed.turns) == (False, True, False, [])
    assert failed.error == {"type": "OSError", "message": "no box", "phase": "reset", "retryable": True}
    assert (played.valid, played.terminated) == (True, True)


# -- copies, odd text ----------------------------------------------------------------------------------------------------


def test_changing_what_was_returned_changes_nothing_in_the_record(game, path, file):
    env = RecordEpisode(game(), file)
    obs, info = path.reset(env, seed=1)
    seen = [copy.deepcopy(obs)]
    infos = []
    done = False
    for guess in GUESSES:
        spoil(obs), spoil(info)
        action = {"role": "assistant", "content": [{"type": "text", "text": guess}]}
        obs, _, terminated, truncated, info = path.step(env, action)
        spoil(action)
        seen.append(copy.deepcopy(obs))
        infos.append(copy.deepcopy(info))
        done = terminated or truncated
        if done:
            break
    assert done
    (episode,) = read(file)
    assert [*[turn.observation for turn in episode.turns], episode.final_observation] == seen
    assert [turn.info for turn in episode.turns] == infos
    assert [turn.message for turn in episode.turns] == [
        {"role": "assistant", "content": [{"type": "text", "text": guess}]} for guess in GUESSES[: len(infos)]
    ]


def test_the_callback_too_gets_copies(game, path):
    episodes = []
    env = RecordEpisode(game(tries=1), on_episode=episodes.append)
    obs, _ = path.reset(env, seed=1)
    kept = copy.deepcopy(obs)
    last, *_ = path.step(env, "x")
    kept_last = copy.deepcopy(last)
    spoil(obs), spoil(last)
    assert (episodes[0].turns[0].observation, episodes[0].final_observation) == (kept, kept_last)


def test_an_action_that_is_a_message_is_kept_whole_and_as_text(game, path, file):
    answer = {"role": "assistant", "content": "7", "reasoning": "hm", "tool_calls": [{"id": "1"}]}
    play(path, RecordEpisode(game(tries=1), file), [answer])
    (turn,) = read(file)[0].turns
    assert (turn.action, turn.message) == ("7", answer)


@pytest.mark.parametrize("action", ["half \ud83d a pair", {"content": "\udc00", "reasoning": "\ud800"}], ids=["text", "message"])
def test_half_of_a_surrogate_pair_does_not_lose_the_line(game, path, file, action):
    play(path, RecordEpisode(game(tries=2), file), [action, "x"])
    (episode,) = read(file)
    assert [turn.action for turn in episode.turns] == ["half ? a pair" if isinstance(action, str) else "?", "x"]
    assert json.loads(file.read_text())["schema"] == 1


def test_lines_stay_lines_whatever_the_text_holds(path, file):
    odd = "a\nb\r\nc\u2028d\0e\x85"
    play(path, RecordEpisode(TextGame(tries=1), file), [odd])
    play(path, RecordEpisode(TextGame(tries=1), file), [odd])
    assert [episode.turns[0].action for episode in read(file)] == [odd, odd]


# -- what it is a record of ----------------------------------------------------------------------------------------------


def test_names_the_spec_its_version_and_the_task(path, file):
    env = RecordEpisode(make(EnvSpec("test:game", TextGame, info=EnvInfo(version=4))), file)
    path.reset(env, options={"task": "test/12"})
    path.step(env, env.oracle_action())
    path.close(env)
    (episode,) = read(file)
    assert (episode.env_id, episode.env_version, episode.task, episode.split, episode.seed) == ("test:game", 4, "test/12", "test", None)


def test_wall_times_are_kept_apart_from_the_info(path, file):
    env = RecordEpisode(make(EnvSpec("test:game", TextGame), timing=True), file)
    play(path, env, [*GUESSES])
    (episode,) = read(file)
    assert all(set(turn.timing) == {"step_s"} and "timing" not in turn.info for turn in episode.turns)
    path.close(env)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": 3}, "TextGame: path must be a path, not int 3"),
        ({"on_episode": []}, r"TextGame: on_episode must be a function, not list \[\]"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options, said):
    with pytest.raises(ContractError, match=said):
        RecordEpisode(TextGame(), **options)
