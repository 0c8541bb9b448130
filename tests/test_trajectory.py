"""A trajectory is one JSON line, and every line ever written stays readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gem.errors import GemError
from gem.faults import ErrorInfo
from gem.trajectory import Call, Trajectory, read_trajectories, write_trajectories

OLD = Path(__file__).parent / "data" / "trajectories"


def played() -> Trajectory:
    episode = Trajectory(env_id="game:X", task="test/0", seed=3, agent="random")
    episode.add_turn("first", "a", 0.25, False, False, {"metrics": {"pegs": 1}})
    episode.add_turn(
        "second", {"role": "assistant", "content": "b"}, 0.75, True, False, {"success": True}, calls=[Call(completion_ids=[1, 2])]
    )
    return episode


def test_the_reward_is_the_sum_over_the_turns():
    episode = played()
    assert episode.reward == 1.0
    assert (episode.success, episode.terminated, episode.truncated, episode.valid) == (True, True, False, True)
    assert episode.metrics == {"pegs": 1}
    assert [turn.action for turn in episode.turns] == ["a", "b"]


def test_a_line_is_read_back_as_it_was_written():
    assert Trajectory.from_json(played().to_json()) == played()


def test_a_fault_makes_the_episode_invalid():
    episode = played()
    episode.add_turn("third", "c", 0.0, False, True, {"error": {"type": "EnvCrashed", "message": "x", "phase": "step", "retryable": False}})
    assert (episode.valid, episode.success, episode.truncated) == (False, None, True)
    assert episode.turns[-1].error == episode.error


def test_an_agents_fault_makes_the_episode_invalid():
    episode = Trajectory(env_id="game:X")
    episode.fail(ErrorInfo.of(TimeoutError("slow"), "agent"))
    assert not episode.valid
    assert episode.error == {"type": "TimeoutError", "message": "slow", "phase": "agent", "retryable": True}


def test_half_a_surrogate_pair_does_not_lose_the_line(tmp_path):
    episode = played()
    episode.turns[0].action = "bad \ud800 text"
    write_trajectories(tmp_path / "e.jsonl", [episode])
    [found] = read_trajectories(tmp_path / "e.jsonl")
    assert found.turns[0].action == "bad ? text"


def test_a_reward_that_is_not_finite_is_refused():
    episode = played()
    episode.turns[0].reward = float("nan")
    with pytest.raises(GemError, match="not finite"):
        episode.to_json()


def test_unknown_fields_are_passed_over():
    raw = json.loads(played().to_json()) | {"invented_later": 1}
    assert Trajectory.from_json(json.dumps(raw)) == played()


def test_a_newer_schema_is_refused_with_advice():
    raw = json.loads(played().to_json()) | {"schema": 99}
    with pytest.raises(GemError, match="newer than 1.*upgrade"):
        Trajectory.from_json(json.dumps(raw))


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_text(played().to_json() + "\nnot json\n")
    with pytest.raises(GemError, match="e.jsonl:2: not a trajectory"):
        list(read_trajectories(path))


@pytest.mark.parametrize("path", sorted(OLD.glob("*.jsonl")), ids=lambda path: path.name)
def test_lines_of_every_older_version_are_readable(path):
    episodes = list(read_trajectories(path))
    assert episodes
    assert all(episode.turns for episode in episodes)


def test_wall_times_are_kept_apart_from_the_info():
    episode = Trajectory(env_id="game:X")
    turn = episode.add_turn("o", "a", 0.0, False, False, {"pegs": 1, "timing": {"step_s": 0.5}})
    assert (turn.info, turn.timing) == ({"pegs": 1}, {"step_s": 0.5})


def test_an_agents_fault_is_an_end_and_neither_won_nor_lost():
    episode = played()
    episode.fail(ErrorInfo.of(TimeoutError("slow"), "agent"))
    assert (episode.terminated, episode.truncated, episode.success) == (False, True, None)


def test_episodes_are_added_to_a_file_and_replace_none(tmp_path):
    path = tmp_path / "e.jsonl"
    write_trajectories(path, [played()])
    write_trajectories(path, [played(), played()])
    assert len(list(read_trajectories(path))) == 3
