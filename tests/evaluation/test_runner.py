"""A run on disk: its files, what is refused, and what a crash leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import datetime

import numpy as np
import pytest

import gem
from gem.envs import registration
from gem.errors import ContractError, EnvNotFound, GemError, RegistrationError
from gem.evaluation import evaluate, summarise
from gem.rollout import AgentAction, agents
from gem.testing import CrashEnv, EchoEnv, SlowEnv
from gem.trajectory import Trajectory, read_trajectories

GAME = "game:GuessTheNumber-v0-easy"
FILES = ["episodes.jsonl", "run.json", "summary.json"]


@pytest.fixture(autouse=True)
def own_registry():
    gem.list_envs()  # loads what is built in
    before = dict(registration.ENV_REGISTRY)
    yield
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


def register(entry_point, id="lab:env", **kwargs):
    gem.register(id, entry_point, override=True, **kwargs)
    return id


async def say(observation, info):
    return "hello"


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def lines(folder):
    return (folder / "episodes.jsonl").read_bytes().splitlines(keepends=True)


# -- the files ---------------------------------------------------------------------------------------------------------


def test_a_run_is_three_files_that_belong_together(tmp_path):
    out = tmp_path / "a" / "run"
    result = evaluate([GAME, "game:Hangman-v0-easy"], agents.get("oracle"), out=out, tasks=3, samples=2, seed=7, concurrency=4)
    assert sorted(os.listdir(out)) == FILES
    assert result.out == out

    run = read(out, "run.json")
    assert run["schema"] == 1
    assert [row["id"] for row in run["envs"]] == [GAME, "game:Hangman-v0-easy"]
    assert run["envs"][0] == {"id": GAME, "version": gem.spec(GAME).info.version, "kwargs": dict(gem.spec(GAME).kwargs)}
    assert (run["agent"], run["tasks"], run["samples"], run["seed"]) == ("oracle", 3, 2, 7)
    assert run["options"] == {"concurrency": 4}
    assert run["gem_version"]

    read_back = list(read_trajectories(out / "episodes.jsonl"))
    key = lambda e: (e.env_id, e.task, e.sample)  # noqa: E731
    assert sorted(map(key, read_back)) == sorted(map(key, result.episodes))
    assert sorted(e.to_json() for e in read_back) == sorted(e.to_json() for e in result.episodes)

    summary = read(out, "summary.json")
    assert summary["schema"] == 1
    assert [row["success"] for row in summary["envs"]] == [1.0, 1.0]
    assert json.loads(json.dumps([vars_of(row) for row in summarise(result.episodes)])) == summary["envs"]
    assert datetime.fromisoformat(run["started"]) <= datetime.fromisoformat(summary["finished"])
    assert datetime.fromisoformat(run["started"]).tzinfo is not None


def vars_of(summary):
    from dataclasses import asdict

    return asdict(summary)


def test_episodes_of_the_result_are_in_the_order_of_the_plan(tmp_path):
    result = evaluate(GAME, agents.get("random"), out=tmp_path / "run", tasks=5, samples=2)
    assert [(e.task, e.sample) for e in result.episodes] == [(f"test/{n}", k) for n in range(5) for k in range(2)]


def test_the_same_seed_gives_the_same_run(tmp_path):
    def shown(name, seed):
        found = evaluate(GAME, agents.get("random"), out=tmp_path / name, tasks=5, samples=2, seed=seed)
        return [[turn.action for turn in e.turns] for e in found.episodes], found.summaries

    assert shown("a", 3) == shown("b", 3)
    assert shown("c", 4)[0] != shown("d", 3)[0]


def test_faults_are_in_the_file_and_apart_in_the_summary(tmp_path):
    found = evaluate([register(CrashEnv, crash_at=2), register(EchoEnv, "lab:good")], say, out=tmp_path / "run", tasks=4)
    bad, good = read(tmp_path / "run", "summary.json")["envs"]
    assert (bad["episodes"], bad["errors"], bad["reward"], bad["success"]) == (4, 4, None, None)
    assert (good["episodes"], good["errors"], good["reward"]) == (4, 0, 1.0)
    errors = [e.error["type"] for e in read_trajectories(tmp_path / "run" / "episodes.jsonl") if not e.valid]
    assert errors == ["RuntimeError"] * 4
    assert found.summaries[0].errors == 4


def test_texts_of_any_kind_are_readable_again(tmp_path):
    async def act(observation, info):
        return "line\nbreak \u2028 \u0085 \0 \ud800 Größe 🙂 \r\n"

    evaluate(register(EchoEnv, turns=2), act, out=tmp_path / "run", tasks=3)
    found = list(read_trajectories(tmp_path / "run" / "episodes.jsonl"))
    assert len(found) == 3
    assert found[0].turns[0].action.startswith("line\nbreak \u2028 \u0085 \0 ")
    assert found[0].turns[0].action.endswith("Größe 🙂 \r\n")


def test_live_spec_objects_are_evaluated_and_recorded(tmp_path):
    class Local(EchoEnv):
        pass

    live = gem.EnvSpec("lab:live", Local, {"turns": 2}, info=gem.EnvInfo(version=4))
    other = gem.EnvSpec("lab:live", Local, {"turns": 5})
    result = evaluate([live, other], say, out=tmp_path / "run", tasks=2)
    assert [len(e.turns) for e in result.episodes] == [2, 2, 5, 5]
    assert [e.env_version for e in result.episodes] == [4, 4, 1, 1]
    assert read(tmp_path / "run", "run.json")["envs"] == [
        {"id": "lab:live", "version": 4, "kwargs": {"turns": 2}},
        {"id": "lab:live", "version": 1, "kwargs": {"turns": 5}},
    ]


def test_live_options_are_recorded_as_text(tmp_path):
    class Louder(gem.Wrapper):
        pass

    evaluate(register(EchoEnv), say, out=tmp_path / "run", tasks=1, wrappers=[Louder], max_turns=2)
    options = read(tmp_path / "run", "run.json")["options"]
    assert options["max_turns"] == 2
    assert "Louder" in options["wrappers"]


def test_numpys_numbers_are_recorded_as_numbers(tmp_path):
    evaluate(GAME, say, out=tmp_path / "run", tasks=1, seed=np.int64(3))
    assert read(tmp_path / "run", "run.json")["seed"] == 3


def test_it_works_inside_a_running_loop(tmp_path):
    async def cell():
        return evaluate(register(SlowEnv, delay_s=0.001), say, out=str(tmp_path / "run"), tasks=3)

    assert len(asyncio.run(cell()).episodes) == 3


def test_a_default_run_has_twenty_tasks(tmp_path):
    assert len(evaluate(GAME, say, out=tmp_path / "run").episodes) == 20


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_folder_that_holds_a_run_is_refused_and_left_as_it_is(tmp_path):
    out = tmp_path / "run"
    evaluate(GAME, say, out=out, tasks=2)
    before = {name: (out / name).read_bytes() for name in FILES}
    with pytest.raises(GemError, match="holds a run already: choose another folder"):
        evaluate(GAME, say, out=out, tasks=2)
    for name in ("run.json", "summary.json"):
        (out / name).unlink()
    with pytest.raises(GemError, match="holds a run already"):
        evaluate(GAME, say, out=out, tasks=2)
    assert (out / "episodes.jsonl").read_bytes() == before["episodes.jsonl"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(GemError, match="is no folder"):
            evaluate(GAME, say, out=out, tasks=1)
    assert (tmp_path / "file").read_text() == "mine"


def test_of_two_runs_that_begin_at_once_one_gets_the_folder(tmp_path):
    barrier, results = threading.Barrier(4), []

    def begin():
        barrier.wait()
        try:
            results.append(evaluate(GAME, say, out=tmp_path / "run", tasks=3))
        except GemError as why:
            results.append(why)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [row for row in results if isinstance(row, GemError)]
    assert len(refused) == 3
    assert len(lines(tmp_path / "run")) == 3
    assert sorted(os.listdir(tmp_path / "run")) == FILES


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"envs": "game:Hangmn-v0-easy"}, EnvNotFound),
        ({"tasks": 0}, RegistrationError),
        ({"samples": 0}, RegistrationError),
        ({"seed": -1}, RegistrationError),
        ({"split": "nope"}, ContractError),
        ({"concurrency": 0}, RegistrationError),
        ({"max_nmber": 3}, RegistrationError),
        ({"agent": "random"}, RegistrationError),
    ],
)
def test_a_run_that_cannot_begin_leaves_no_files_and_its_folder_free(tmp_path, options, error):
    asked = {"envs": GAME, "agent": say, "tasks": 2, **options}
    with pytest.raises(error):
        evaluate(asked.pop("envs"), asked.pop("agent"), out=tmp_path / "run", **asked)
    assert not (tmp_path / "run").exists() or os.listdir(tmp_path / "run") == []
    evaluate(GAME, say, out=tmp_path / "run", tasks=1)


# -- as they end -------------------------------------------------------------------------------------------------------


def test_each_episode_is_on_disk_before_its_callback(tmp_path):
    counts = []

    def look(episode):
        own = lines(tmp_path / "run")
        assert Trajectory.from_json(own[-1]).task == episode.task
        counts.append(len(own))

    evaluate(register(EchoEnv), say, out=tmp_path / "run", tasks=6, on_episode=look)
    assert counts == [1, 2, 3, 4, 5, 6]


def test_episodes_are_on_disk_while_others_still_play(tmp_path):
    seen = []

    class Waits:
        name = "waits"

        def start(self, context):
            class Session:
                async def act(self, observation, info):
                    if context.task == "test/3":
                        while len(lines(tmp_path / "run")) < 3:
                            await asyncio.sleep(0.005)
                        seen.append(len(lines(tmp_path / "run")))
                    return AgentAction("hello")

                async def end(self, trajectory):
                    return None

            return Session()

    evaluate(register(EchoEnv, turns=1), Waits(), out=tmp_path / "run", tasks=4, concurrency=2)
    assert seen == [3]


def test_a_callback_that_raises_ends_the_run_and_keeps_what_was_played(tmp_path):
    def refuse(episode):
        raise KeyError("callback")

    with pytest.raises(KeyError):
        evaluate(register(EchoEnv), say, out=tmp_path / "run", tasks=6, on_episode=refuse)
    assert len(list(read_trajectories(tmp_path / "run" / "episodes.jsonl"))) == 1
    assert (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "run" / "summary.json").exists()


@pytest.mark.parametrize("spoil", ["info", "message", "tokens", "metrics"])
def test_an_episode_that_json_cannot_hold_is_a_fault_and_stops_nothing(tmp_path, spoil):
    class Spoils(EchoEnv):
        def step(self, action):
            info = {"info": {"thing": object()}, "metrics": {"metrics": {"x": 1j}}}.get(spoil, {})
            obs, reward, over, cut, _ = super().step("x")
            return obs, reward, over, cut, info if self.task_key == "test/1" else {}

    class Spoiler:
        name = "spoiler"

        def start(self, context):
            class Session:
                async def act(self, observation, info):
                    if context.task != "test/1":
                        return AgentAction("x")
                    if spoil == "message":
                        return AgentAction("x", message={"content": "x", "tool_calls": [object()]})
                    return AgentAction("x", token_ids=[np.int64(1)] if spoil == "tokens" else None)

                async def end(self, trajectory):
                    return None

            return Session()

    result = evaluate(register(Spoils), Spoiler(), out=tmp_path / "run", tasks=3, checks=False)
    assert [e.valid for e in result.episodes] == [True, False, True]
    assert (result.summaries[0].errors, result.summaries[0].episodes) == (1, 3)
    found = {e.task: e for e in read_trajectories(tmp_path / "run" / "episodes.jsonl")}
    assert set(found) == {"test/0", "test/1", "test/2"}
    assert not found["test/1"].valid
    assert found["test/1"].error["type"] == "TypeError"
    assert found["test/1"].turns == []


def test_a_reward_that_is_not_finite_is_a_fault_and_stops_nothing(tmp_path):
    class Infinite(EchoEnv):
        def step(self, action):
            return action, float("inf") if self.task_key == "test/1" else 1.0, True, False, {}

    result = evaluate(register(Infinite), say, out=tmp_path / "run", tasks=3, checks=False)
    assert [e.valid for e in result.episodes] == [True, False, True]
    assert read(tmp_path / "run", "summary.json")["envs"][0]["reward"] == 1.0


PROGRAM = """
    import asyncio, sys
    import gem
    from gem.evaluation import evaluate
    from gem.testing import EchoEnv

    gem.register("lab:x", EchoEnv, turns=3)

    async def say(observation, info):
        await asyncio.sleep(0.001)
        return "x" * 20_000

    evaluate("lab:x", say, out=sys.argv[1], tasks=100_000, concurrency=4)
"""


def begun(tmp_path, at_least):
    out = tmp_path / "run"
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 20
    while not (out / "episodes.jsonl").exists() or (out / "episodes.jsonl").stat().st_size < at_least:
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process, out


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_after_a_kill_all_lines_but_at_most_the_last_are_readable(tmp_path, how):
    process, out = begun(tmp_path, 500_000)
    process.send_signal(how)
    process.communicate(timeout=10)
    assert process.returncode != 0
    found = lines(out)
    whole = [row for row in found if row.endswith(b"\n")]
    assert len(found) - len(whole) <= 1
    assert len(whole) >= 5
    episodes = [Trajectory.from_json(row) for row in whole]
    assert len({(e.task, e.sample) for e in episodes}) == len(episodes)
    assert all(e.valid and len(e.turns) == 3 for e in episodes)
    if how == signal.SIGINT:
        assert len(found) == len(whole)
    assert read(out, "run.json")["tasks"] == 100_000
    assert not (out / "summary.json").exists()
    assert sorted(os.listdir(out)) == FILES[:2]
    with pytest.raises(GemError, match="holds a run already"):
        evaluate(GAME, say, out=out, tasks=1)


def test_a_folder_whose_episodes_were_taken_elsewhere_holds_a_run_too(tmp_path):
    out = tmp_path / "run"
    evaluate(GAME, say, out=out, tasks=2)
    before = (out / "run.json").read_bytes()
    (out / "episodes.jsonl").rename(tmp_path / "elsewhere.jsonl")
    with pytest.raises(GemError, match="holds a run already"):
        evaluate(GAME, say, out=out, tasks=1)
    assert (out / "run.json").read_bytes() == before
