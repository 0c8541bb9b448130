"""`eval`: the table, the JSON, the files, and what is told when something is in the way."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from gem import list_envs, register
from gem.cli.results import by_environment, summary_lines
from gem.evaluation import Summary
from gem.testing import CrashEnv, EchoEnv
from gem.trajectory import read_trajectories
from tests.cli.conftest import PATIENCE_S, environ

GAME = "game:GuessTheNumber-v0-easy"
SLOW = "game:Sokoban-v0-hard"
FILES = ["episodes.jsonl", "run.json", "summary.json"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def rows(text: str) -> list[list[str]]:
    """Return the cells of the table."""
    table = text.partition("\n\n")[0].splitlines()
    return [re.split(r" {2,}", line) for line in table]


def test_the_table_has_reward_success_and_intervals(gem, tmp_path):
    shown = gem("eval", GAME, "-n", "12", "--out", "run")
    assert (shown.code, shown.err) == (0, "")
    heading, row = rows(shown.out)
    assert heading == ["environment", "reward", "95 %", "success", "95 %", "turns"]
    numbers = json.loads((tmp_path / "run" / "summary.json").read_text())["envs"][0]
    (low, high), (least, most) = numbers["reward_interval"], numbers["success_interval"]
    told = [
        f"{numbers['reward']:.3f}",
        f"±{(high - low) / 2:.3f}",
        f"{100 * numbers['success']:.0f} %",
        f"{100 * least:.0f}..{100 * most:.0f}",
    ]
    assert row == [GAME, *told, f"{numbers['turns']:.1f}"]
    assert "\nrandom, 12 episodes of each environment, split test, seed 0\nepisodes in run\n" in shown.out


def test_the_run_is_written_to_the_folder(gem, tmp_path):
    gem("eval", GAME, "-n", "3", "-k", "2", "--seed", "5", "--out", "some/run")
    assert names(tmp_path / "some" / "run") == FILES
    asked = json.loads((tmp_path / "some" / "run" / "run.json").read_text())
    assert (asked["agent"], asked["tasks"], asked["samples"], asked["seed"]) == ("random", 3, 2, 5)
    episodes = list(read_trajectories(tmp_path / "some" / "run" / "episodes.jsonl"))
    assert sorted((row.task, row.sample) for row in episodes) == [(f"test/{n}", k) for n in range(3) for k in range(2)]


def test_json_has_the_numbers_of_the_summary(gem, tmp_path):
    shown = gem("eval", GAME, "--agent", "oracle,random", "-n", "5", "--json", "--out", "run")
    assert (shown.code, shown.err) == (0, "")
    told = json.loads(shown.out)
    assert told["out"] == "run"
    assert [(row["env_id"], row["agent"], row["episodes"], row["errors"]) for row in told["envs"]] == [
        (GAME, "oracle", 5, 0),
        (GAME, "random", 5, 0),
    ]
    for row in told["envs"]:
        written = json.loads((tmp_path / "run" / row["agent"] / "summary.json").read_text())["envs"]
        assert written == [row]


def test_several_agents_stand_next_to_each_other_and_have_a_folder_each(gem, tmp_path):
    shown = gem("eval", "game:GuessTheNumber-v0-[eh]*", "game:Hangman-v0-easy", "--agent", "random, oracle", "-n", "2", "--out", "run")
    ids = ["game:GuessTheNumber-v0-easy", "game:GuessTheNumber-v0-hard", "game:Hangman-v0-easy"]
    assert [row[:2] for row in rows(shown.out)[1:]] == [[id, agent] for id in ids for agent in ("random", "oracle")]
    assert names(tmp_path / "run") == ["oracle", "random"]
    assert names(tmp_path / "run" / "oracle") == names(tmp_path / "run" / "random") == FILES


def test_an_environment_or_agent_named_twice_is_played_once(gem):
    shown = gem("eval", GAME, "game:Guess*-easy", GAME, "--agent", "oracle,oracle", "-n", "2", "--json", "--out", "run")
    assert [(row["env_id"], row["episodes"]) for row in json.loads(shown.out)["envs"]] == [(GAME, 2)]


def test_the_same_seed_gives_the_same_numbers(gem):
    first, second, other = (
        json.loads(gem("eval", GAME, "-n", "6", "--seed", seed, "--json", "--out", out).out)["envs"]
        for seed, out in (("3", "a"), ("3", "b"), ("4", "c"))
    )
    assert first == second != other


def test_split_and_turn_limit_are_passed_on(gem, tmp_path):
    gem("eval", GAME, "-n", "2", "--split", "train", "--max-turns", "1", "--out", "run")
    episodes = list(read_trajectories(tmp_path / "run" / "episodes.jsonl"))
    assert {(row.split, len(row.turns)) for row in episodes} == {("train", 1)}


def test_without_a_folder_each_run_gets_a_new_one(gem, tmp_path):
    for _ in range(3):  # more than one in a second
        assert gem("eval", GAME, "-n", "1").code == 0
    assert len(names(tmp_path / "runs")) == 3


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["game:GuessTheNumbr-v0"], "Did you mean 'game:GuessTheNumber-v0'"),
        (["gme:*"], "no environment matches 'gme:*'. Did you mean 'game:*'?"),
        ([GAME, "nothing:here"], "no environment 'nothing:here'"),
        ([GAME, "--agent", "orcale"], "no agent 'orcale'. Did you mean 'oracle'? There are oracle, random"),
        ([GAME, "--agent", ","], "no agent ''. There are oracle, random"),
        ([GAME, "--split", "tset"], "has no split 'tset'; it has train, test"),
        ([GAME, "--out", "file"], "no folder file can be made: File exists"),
        ([GAME, "--out", "file/run"], "no folder file/run can be made: Not a directory"),
        (["lab:missing"], "lab:missing needs no-such-thing. Install it: pip install 'no-such-thing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_played_is_one_line_and_leaves_no_folder(gem, tmp_path, args, told):
    register("lab:missing", EchoEnv, requires=["no_such_thing=no-such-thing"])
    (tmp_path / "file").write_text("")
    shown = gem("eval", *args)
    assert (shown.code, shown.out) == (2, "")
    assert told in shown.err
    assert shown.err.count("\n") == 1
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize(("first", "second"), [("oracle", "random"), ("oracle", "oracle,random"), ("oracle,random", "random,oracle")])
def test_a_folder_that_holds_a_run_is_refused_before_anything_is_played(gem, tmp_path, first, second):
    assert gem("eval", GAME, "--agent", first, "-n", "1", "--out", "run").code == 0
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    shown = gem("eval", GAME, "--agent", second, "-n", "1", "--out", "run")
    assert (shown.code, shown.out) == (2, "")
    assert re.fullmatch(r"Error: run(/\w+)? holds a run already\. Give --out another folder\n", shown.err)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


def test_an_empty_folder_that_exists_is_taken(gem, tmp_path):
    (tmp_path / "run").mkdir()
    assert gem("eval", GAME, "-n", "1", "--out", "run").code == 0
    assert names(tmp_path / "run") == FILES


def test_faults_are_counted_apart_and_told(gem):
    register("lab:crash", CrashEnv)
    shown = gem("eval", "lab:crash", GAME, "--agent", "random", "-n", "3", "--out", "run")
    assert (shown.code, shown.err) == (1, "")
    heading, crashed, played = rows(shown.out)
    assert heading[:3] == ["environment", "failed", "reward"]
    assert crashed == ["lab:crash", "3", "-", "-", "-", "-", "-"]
    assert played[:2] == [GAME, "0"]
    assert "3 of 6 episodes were cut off by a fault" in shown.out
    assert "  3 x RuntimeError: crashed at turn 2, as asked (first: lab:crash, task test/0)\n" in shown.out


def test_a_disk_that_is_full_halfway_is_one_line(gem, monkeypatch):
    def full(*args, on_episode, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gem.cli.evaluating.evaluate", full)
    shown = gem("eval", GAME, "-n", "3", "--out", "run")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "Error: run cannot be written: No space left on device. 0 of 3 episodes ended\n"


def test_an_agent_without_a_next_action_is_a_fault(gem):
    register("lab:crash", CrashEnv)
    shown = gem("eval", "lab:crash", "--agent", "oracle", "-n", "3", "--out", "run", "--json")
    assert shown.code == 1
    assert json.loads(shown.out)["envs"][0]["errors"] == 3


# -- the table ---------------------------------------------------------------------------------------------------------


def summary(env_id, agent="random", episodes=20, errors=0, **numbers):
    known = {"reward": -1.105, "reward_interval": (-1.466, -0.744), "success": 0.2, "success_interval": (0.08, 0.42), "turns": 26.3}
    return Summary(env_id, agent, episodes, errors, episodes, **(known | numbers))


def test_two_agents_on_every_game_fit_eighty_columns():
    table = summary_lines([summary(row.id, agent, turns=279.5) for row in list_envs("game:*") for agent in ("oracle", "random")], width=80)
    assert max(map(len, table)) <= 80
    assert all("game:" in line for line in table[1:])


def test_an_id_that_is_too_long_gets_a_line_of_its_own():
    id = "a-package-with-a-name/family:and-a-name-that-does-not-fit"
    table = summary_lines([summary(id, "oracle"), summary(id), summary("game:Sudoku-v0")], width=60)
    assert [line for line in table if not line.startswith("  ")] == [id, "game:Sudoku-v0"]
    assert [line.split()[0] for line in table if line.startswith("  ")] == ["agent", "oracle", "random", "random"]


def test_what_is_the_same_in_all_rows_is_no_column():
    assert summary_lines([summary("a:b"), summary("a:c")])[0].split() == ["environment", "reward", "95", "%", "success", "95", "%", "turns"]
    assert summary_lines([summary("a:b"), summary("a:c", episodes=3)])[0].split()[:3] == ["environment", "episodes", "reward"]
    assert summary_lines([summary("a:b", "me"), summary("a:b", "you")])[0].split()[:3] == ["environment", "agent", "reward"]


def test_numbers_that_are_not_known_are_dashes():
    line = summary_lines([Summary("a:b", "random", 1, 0, 1, reward=0.5, turns=3.0)])[1]
    assert line.split() == ["a:b", "0.500", "-", "-", "-", "3.0"]


def test_rows_keep_the_order_of_the_environments():
    found = by_environment([summary("b"), summary("a"), summary("b", "oracle"), summary("a", "oracle")], ["b", "a"])
    assert [(row.env_id, row.agent) for row in found] == [("b", "random"), ("b", "oracle"), ("a", "random"), ("a", "oracle")]


# -- progress and interruption -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_how_far_and_how_long_on_one_line(terminal, columns):
    command = terminal("eval", SLOW, "--agent", "oracle,random", "-n", "30", "--out", "run", columns=columns, NO_COLOR="1")
    assert command.end() == 0
    frames = [re.sub(r"\x1b\[\S*?[a-zA-Z]", "", frame) for frame in re.split(r"\r|\n", command.shown)]
    told = [frame for frame in frames if "gone" in frame]
    assert any(re.search(r"^oracle \(1 of 2\) .* \d+/30, success 100 % \d+:\d\d gone, \d+:\d\d left", frame) for frame in told)
    assert any(frame.startswith("random (2 of 2) ") for frame in told)
    assert max(map(len, told)) <= columns
    assert command.shown.endswith("episodes in run (one folder for each agent: oracle, random)\n")


def test_without_a_terminal_there_is_a_line_now_and_then(gem, monkeypatch):
    monkeypatch.setattr("gem.cli.progress._LOG_EVERY_S", 0.0)
    shown = gem("eval", GAME, "--agent", "oracle", "-n", "3", "--out", "run")
    assert len(shown.err.splitlines()) == 3
    assert re.fullmatch(r"oracle: 1/3, success 100 %, 0:00 gone, about 0:00 left", shown.err.splitlines()[0])
    assert gem("eval", GAME, "-n", "3", "--out", "other", "--json").err == ""


def test_ctrl_c_on_a_terminal_ends_with_the_folder(terminal, tmp_path):
    command = terminal("eval", SLOW, "--agent", "oracle,random", "-n", "5000", "--out", "run")
    command.wait(r"[1-9]\d*/5000")
    command.press("c")
    assert command.end() == 130
    last = command.shown.splitlines()[-1]
    found = re.search(r"interrupted: (\d+) of 10000 episodes ended, and are in run$", last)
    assert found, last
    assert len(list(read_trajectories(tmp_path / "run" / "oracle" / "episodes.jsonl"))) >= int(found[1]) > 0
    assert "Traceback" not in command.shown


def test_sigint_halfway_keeps_the_episodes_that_ended(tmp_path):
    command = [sys.executable, "-m", "gem", "eval", SLOW, "--agent", "oracle", "-n", "5000", "--out", "run"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environ())
    episodes, end = tmp_path / "run" / "episodes.jsonl", time.monotonic() + PATIENCE_S
    while not (episodes.exists() and episodes.stat().st_size) and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, out) == (130, "")
    found = re.fullmatch(r"interrupted: (\d+) of 5000 episodes ended, and are in run\n", err)
    assert found, err
    assert len(list(read_trajectories(episodes))) == int(found[1]) > 0
    assert names(tmp_path / "run") == ["episodes.jsonl", "run.json"]
