"""What a vector promises, on every backend alike."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import threading
import time
from collections import Counter, defaultdict

import numpy as np
import pytest

import gem
from gem.errors import ContractError, EnvCrashed, EnvNotFound, RegistrationError
from gem.seeding import derive
from gem.vector import Mixture, NothingInFlight, make_vec
from tests.vector import envs
from tests.vector.watch import alive, descriptors, slot_threads, until

KINDS = [
    ("sync", "test:puppet"),
    ("sync", "test:async"),
    ("thread", "test:puppet"),
    ("thread", "test:async"),
    ("async", "test:puppet"),
    ("async", "test:async"),
    ("process", "test:puppet"),
    ("process", "test:puppet-io"),
    ("process", "test:async"),
]
IN_ONE_WAY = [kind for kind in KINDS if kind not in (("process", "test:puppet-io"), ("process", "test:async"))]
WAITING = ["thread", "async", "process"]  # where commands are under way while the caller does something else


def seed(slot, episode, root=7):
    return derive(root, slot, episode)


def play(vec, episodes, rng=None, act="go"):
    """Play first-ready until every slot has ended so many episodes; return `{slot: [(episode_id, seed, turns, reward)]}`."""
    ended, sums, seeds = defaultdict(list), defaultdict(float), {}
    vec.send_reset()
    while any(len(ended[slot]) < episodes for slot in range(vec.num_envs)):
        waiting = []
        for row in vec.recv(min_size=1, timeout=60):
            if row.kind == "reset" and "error" not in row.info:
                seeds[row.slot] = row.info["seed"]
            if row.kind == "step":
                sums[row.slot] += row.reward
                if row.terminated or row.truncated:
                    ended[row.slot].append((row.episode_id, seeds[row.slot], row.info.get("turn"), sums.pop(row.slot)))
            if row.actionable and len(ended[row.slot]) < episodes:
                waiting.append(row.slot)
        if rng is not None:
            rng.shuffle(waiting)
        for slot in waiting:
            vec.send({slot: act(slot, ended[slot]) if callable(act) else act})
    return dict(ended)


def drained(vec):
    """Receive all that is there and all that is under way."""
    rows = []
    while vec.stats().in_flight or vec._engine.rows:
        rows += vec.recv(min_size=100, timeout=60)
    return rows


# -- lock-step ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "id"), KINDS)
def test_reset_and_step_return_a_value_per_slot_in_their_order(make, backend, id):
    vec = make(backend, 3, id)
    obs, infos = vec.reset()
    assert obs == [f"{seed(slot, 0)}/0" for slot in range(3)]
    assert [info["seed"] for info in infos] == [seed(slot, 0) for slot in range(3)]
    obs, reward, terminated, truncated, infos = vec.step(["a", "b", "cut"])
    assert [text.split()[1] for text in obs[:2]] == ["a", "b"]
    assert (reward.tolist(), reward.dtype) == ([1.0, 1.0, 1.0], np.float64)
    assert (terminated.tolist(), terminated.dtype) == ([False] * 3, np.bool_)
    assert (truncated.tolist(), truncated.dtype) == ([False, False, True], np.bool_)
    assert [info["turn"] for info in infos] == [1, 1, 0]
    assert infos[2]["final_info"]["turn"] == 1
    assert vec.step(("a", "b", "c"))[1].tolist() == [2.0, 2.0, 1.0]
    assert vec.backend == backend
    assert (len(vec), vec.num_envs, vec.batch_size, [spec.id for spec in vec.specs]) == (3, 3, 3, [id] * 3)


def test_a_dict_of_actions_steps_its_slots_alone_in_its_own_order(make, backend):
    vec = make(backend, 4)
    vec.reset()
    obs, reward, terminated, truncated, infos = vec.step({3: "three", np.int64(1): "one"})
    assert [text.split()[1] for text in obs] == ["three", "one"]
    assert len(reward) == len(terminated) == len(truncated) == len(infos) == 2
    assert vec.step(["a"] * 4)[1].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert vec.step({})[0] == []


def test_seeds_and_options_can_be_given_per_slot(make, backend):
    vec = make(backend, 3)
    assert [info["seed"] for info in vec.reset(seed=[11, None, np.int64(13)])[1]] == [11, seed(1, 0), 13]
    assert [info["task"] for info in vec.reset(options=[{"task": "test/5"}, None, {"index": 6}])[1]] == [
        "test/5",
        f"train/{seed(1, 1)}",
        "train/6",
    ]
    assert [info["task"] for info in vec.reset(options={"task": "test/9"})[1]] == ["test/9"] * 3
    assert [info["seed"] for info in vec.reset(seed=np.int64(99))[1]] == [seed(slot, 0, 99) for slot in range(3)]
    assert [info["seed"] for info in vec.reset(slots=[2, 0], seed=[1, 2])[1]] == [1, 2]


def test_reset_of_some_slots_leaves_the_others_where_they_are(make, inner):
    vec = make(inner, 3)
    vec.reset()
    vec.step(["a"] * 3)
    obs, _ = vec.reset(slots=[2, 0])
    assert obs == [f"{seed(2, 1)}/0", f"{seed(0, 1)}/0"]
    assert vec.step(["b"] * 3)[1].tolist() == [1.0, 2.0, 1.0]


def test_lock_step_is_refused_while_rows_wait(make, inner):
    vec = make(inner, 2)
    vec.reset()
    vec.send(["a", "a"])
    vec.recv(max_size=1)
    for refused in (vec.reset, lambda: vec.step(["a", "a"]), lambda: vec.call("where"), lambda: vec.load_state_dict({})):
        with pytest.raises(ContractError, match="recv them first"):
            refused()
    assert len(vec.recv()) == 1
    assert vec.step(["b", "b"])[1].tolist() == [2.0, 2.0]


# -- autoreset ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "id"), IN_ONE_WAY)
def test_same_step_returns_the_next_observation_and_the_final_one_beside_it(make, backend, id):
    vec = make(backend, 2, id, env_kwargs=[{"turns": 1}, {"turns": 2}])
    vec.reset()
    obs, reward, terminated, _, infos = vec.step(["a", "a"])
    assert obs == [f"{seed(0, 1)}/0", f"{seed(1, 0)}/1 a"]
    assert (reward.tolist(), terminated.tolist()) == ([1.0, 1.0], [True, False])
    assert infos[0]["final_obs"] == f"{seed(0, 0)}/1 a"
    assert infos[0]["final_info"] == {"seed": seed(0, 0), "turn": 1}
    assert infos[0]["seed"] == seed(0, 1)
    assert "final_obs" not in infos[1]


def test_next_step_returns_the_end_first_and_spends_an_action_on_the_reset(make, inner):
    vec = make(inner, 2, autoreset="next_step", env_kwargs=[{"turns": 1}, {"turns": 2}])
    vec.reset()
    obs, _, terminated, _, infos = vec.step(["a", "a"])
    assert obs[0] == f"{seed(0, 0)}/1 a"
    assert (terminated.tolist(), infos[0]["turn"]) == ([True, False], 1)
    obs, reward, terminated, _, infos = vec.step(["ignored", "a"])
    assert obs[0] == f"{seed(0, 1)}/0"
    assert (reward.tolist(), terminated.tolist()) == ([0.0, 2.0], [False, True])
    assert infos[0]["seed"] == seed(0, 1)


def test_disabled_leaves_a_slot_at_its_end(make, inner):
    vec = make(inner, 2, autoreset="disabled", env_kwargs=[{"turns": 1}, {"turns": 2}])
    vec.reset()
    assert vec.step(["a", "a"])[2].tolist() == [True, False]
    with pytest.raises(ContractError, match="slot 0 can't take an action: it is idle. Reset it first"):
        vec.step(["b", "b"])
    assert vec.step({1: "b"})[1].tolist() == [2.0], "a refused step began nothing"
    assert vec.reset(slots=[0])[0] == [f"{seed(0, 1)}/0"]


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_an_explicit_reset_after_an_end_clears_it(make, inner, mode):
    """Gymnasium 1.4 loses the first action here (its `shared_memory=False`, next_step)."""
    vec = make(inner, 2, autoreset=mode, turns=1)
    vec.reset()
    vec.step(["a", "a"])
    vec.reset()
    obs, reward, *_ = vec.step(["first", "first"])
    assert reward.tolist() == [1.0, 1.0]
    final = [info["final_obs"] for info in _[2]] if mode == "same_step" else obs
    assert all(text.endswith("/1 first") for text in final)


def test_what_ended_is_a_snapshot_even_if_the_environment_uses_its_objects_again(make, backend):
    vec = make(backend, 1, "test:reusing")
    vec.reset()
    for _ in range(2):
        vec.step(["a"])
    _, _, terminated, _, (info,) = vec.step(["a"])
    assert terminated[0]
    for _ in range(2):
        vec.step(["a"])
    assert info["final_obs"] == [{"role": "user", "content": "turn 3"}]
    assert info["final_info"] == {"deep": {"turn": 3}}


def test_the_row_of_an_end_is_a_snapshot_in_first_ready_play(make, inner):
    vec = make(inner, 1, "test:reusing")
    vec.send_reset()
    rows = []
    while not any(row.terminated for row in rows):
        rows += [row for row in vec.recv(min_size=1) if row.kind == "step"]
        vec.send(["a"]) if vec.stats().ready else None
    vec.recv()
    assert rows[-1].obs == [{"role": "user", "content": "turn 3"}]
    assert rows[-1].info == {"deep": {"turn": 3}}


def test_episode_ids_are_unique_and_tell_the_boundaries(make, inner):
    vec = make(inner, 2, turns=2)
    seen, last = set(), {}
    for again in range(2):
        vec.send_reset(seed=again)
        for _ in range(8):
            for row in vec.recv():
                if row.kind == "reset":
                    assert row.episode_id not in seen
                    seen.add(row.episode_id)
                    last[row.slot] = row.episode_id
                assert row.episode_id == last[row.slot]
            vec.send({slot: "a" for slot in range(2) if vec._engine.slots[slot].status.value == "ready"})
        seen |= {row.episode_id for row in drained(vec) if row.kind == "reset"}


# -- seeds -------------------------------------------------------------------------------------------------------------


def _act(slot, ended):
    return "raise" if slot == 1 and len(ended) == 2 else "go"


def test_episodes_follow_from_the_seed_the_slot_and_their_number_alone(make):
    """Whatever the backend, the workers, the order in which slots are served, and crashes in between."""
    reference = None
    for backend, more, order in [
        ("sync", {}, None),
        ("thread", {}, random.Random(1)),
        ("async", {}, random.Random(2)),
        ("process", {"num_workers": 1}, random.Random(3)),
        ("process", {"num_workers": 3}, random.Random(4)),
    ]:
        ended = play(make(backend, 4, turns=0, **more), 5, order, _act)
        assert [[row[1] for row in ended[slot]] for slot in range(4)] == [[seed(slot, k) for k in range(5)] for slot in range(4)]
        reference = reference or ended
        assert ended == reference, (backend, more)


def test_a_killed_worker_changes_no_later_seed(make):
    vec = make("process", 4, turns=0, num_workers=2)
    ended = play(vec, 4, act=lambda slot, ended: "kill" if slot == 1 and len(ended) == 1 else "go")
    for slot in range(4):
        numbers = [row[0] // 4 for row in ended[slot]]
        assert [row[1] for row in ended[slot]] == [seed(slot, k) for k in numbers]
    assert [row[0] // 4 for row in ended[0]] == [0, 1, 2, 3]


def test_a_number_seeds_the_vector_anew(make, inner):
    vec = make(inner, 2, Mixture({"test:puppet": 1, "test:puppet-none": 2}))

    def run():
        return [[(row["seed"], row["source"]) for row in vec.reset(**({"seed": 5} if k == 0 else {}))[1]] for k in range(7)]

    assert run() == run()
    assert vec.reset(seed=5)[1][1]["seed"] == derive(5, 1, 0)


# -- first-ready -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "id"), [kind for kind in KINDS if kind[0] != "sync" and kind != ("process", "test:puppet")])
def test_what_is_done_first_comes_first(make, backend, id):
    vec = make(backend, 3, id)
    vec.reset()
    vec.send(["hang", "quick", "quick"])
    assert sorted(vec.recv(min_size=2, timeout=60).slots.tolist()) == [1, 2]


def test_recv_takes_at_least_min_size_and_at_most_max_size(make, backend):
    vec = make(backend, 4, batch_size=2)
    vec.send_reset()
    assert len(vec.recv(min_size=4)) == 4
    vec.send(["a"] * 4)
    vec.recv(min_size=4, max_size=0)
    assert [len(vec.recv(max_size=3)), len(vec.recv(max_size=3))] == [3, 1]
    vec.send(["a"] * 4)
    assert 2 <= len(vec.recv()) <= 4
    drained(vec)
    vec.send(["a"] * 4)
    assert len(vec.recv(min_size=100)) >= 4, "as many as can come"


@pytest.mark.parametrize("backend", WAITING)
def test_recv_returns_what_there_is_when_its_time_is_up(make, backend):
    vec = make(backend, 2, "test:async" if backend != "process" else "test:puppet-io", autoreset="disabled")
    vec.reset()
    vec.send({0: "hang", 1: "a"})
    found = []
    while not found:
        found += vec.recv(timeout=0.1)
    assert [row.slot for row in found] == [1]
    assert len(vec.recv(timeout=0)) == 0
    vec.cancel([0])
    assert vec.recv(min_size=1, timeout=float("inf")).slots.tolist() == [0]


def test_nothing_in_flight_is_told_and_not_waited_for(make, inner):
    vec = make(inner, 2)
    with pytest.raises(NothingInFlight, match="send actions or resets first"):
        vec.recv()
    vec.reset()
    with pytest.raises(NothingInFlight):
        vec.recv(min_size=0)


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("same_step", [("reset", True), ("step", True), ("step", False), ("reset", True)]),
        ("next_step", [("reset", True), ("step", True), ("step", True), ("reset", True)]),
        ("disabled", [("reset", True), ("step", True), ("step", False)]),
    ],
)
def test_rows_say_what_they_are_and_whether_the_slot_waits_for_an_action(make, inner, mode, kinds):
    vec = make(inner, 1, turns=2, autoreset=mode)
    vec.send_reset()
    rows = list(vec.recv())
    while len(rows) < len(kinds):
        if rows[-1].actionable:
            vec.send({0: "a"})
        rows += vec.recv(min_size=1)
    assert [(row.kind, row.actionable) for row in rows] == kinds
    assert [row.terminated for row in rows[:3]] == [False, False, True]
    assert [row.episode_id for row in rows] == [0, 0, 0, 1][: len(rows)]


@pytest.mark.parametrize("backend", WAITING)
def test_an_action_for_a_slot_whose_reset_is_under_way_is_refused(make, backend):
    vec = make(backend, 1, turns=1, tasks=[{"do": ""}, {"do": "hang"}])
    vec.reset()
    vec.send({0: "a"})
    (row,) = vec.recv(min_size=1)
    assert not row.actionable
    with pytest.raises(ContractError, match="slot 0 can't take an action: it is (busy|queued)"):
        vec.send({0: "b"})


def test_batches_are_columns_and_rows(make, inner):
    vec = make(inner, 3)
    vec.send_reset()
    batch = vec.recv()
    assert (batch.slots.dtype, batch.episode_ids.dtype, batch.reward.dtype) == (np.int32, np.int64, np.float64)
    assert (batch.terminated.dtype, batch.truncated.dtype, batch.actionable.dtype, batch.ok.dtype) == (np.bool_,) * 4
    rows = list(batch)
    assert [row.slot for row in rows] == batch.slots.tolist()
    assert [row.obs for row in rows] == batch.obs == batch.unzip()[0]
    assert type(rows[0].reward) is float
    assert type(rows[0].slot) is int


# -- calls and cancels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "id"), KINDS)
def test_call_returns_what_the_method_returns_and_raises_what_it_raises(make, backend, id):
    vec = make(backend, 2, id)
    with pytest.raises(ContractError, match="slot 0 can't be called: it is idle. Reset it first"):
        vec.call("where")
    vec.reset()
    assert vec.call("add", 2, b=3) == [5, 5]
    assert vec.call("give", (1, [2, ("3",)]), slots=[1]) == [(1, [2, ("3",)])]
    with pytest.raises(RuntimeError, match="as asked"):
        vec.call("fail", "raise")
    with pytest.raises(AttributeError):
        vec.call("no_such_method")
    assert vec.step(["a", "a"])[1].tolist() == [1.0, 1.0], "a call that fails ends no episode"
    assert vec.stats().calls == 8 - 1


def test_a_call_runs_where_the_steps_run(make):
    for backend, id, thread in (
        ("thread", "test:puppet", "gem-slot-0"),
        ("async", "test:puppet", "gem-env-Puppet"),
        ("async", "test:async", "gem-loop"),
    ):
        vec = make(backend, 1, id)
        vec.reset()
        assert vec.call("thread") == [thread]


def test_a_call_that_is_refused_begins_nothing(make, inner):
    vec = make(inner, 2)
    vec.reset(slots=[0])
    with pytest.raises(ContractError, match="slot 1"):
        vec.call("where")
    assert vec.step({0: "a"})[1].tolist() == [1.0]


def test_snapshots_can_be_taken_and_restored_by_call(make, backend):
    vec = make(backend, 2, "game:GuessTheNumber-v0-easy")
    vec.reset()
    first = vec.step(["\\boxed{1}", "\\boxed{2}"])[0]
    states = vec.call("get_state")
    then = [vec.step(["\\boxed{3}", "\\boxed{4}"])[:4] for _ in range(1)]
    for slot, state in enumerate(states):
        vec.call("set_state", state, slots=[slot])
    again = [vec.step(["\\boxed{3}", "\\boxed{4}"])[:4] for _ in range(1)]
    assert [batch[0] for batch in then] == [batch[0] for batch in again] != [first]


@pytest.mark.parametrize("backend", WAITING)
def test_a_call_that_takes_too_long_is_given_up(make, backend):
    vec = make(backend, 1)
    vec.reset()
    with pytest.raises(TimeoutError, match=r"slot 0 .*its call took longer than 0.3 s"):
        vec.call("wait", envs.HANG_S, timeout=0.3)
    _, reward, _, truncated, infos = vec.step(["a"])
    assert (reward.tolist(), truncated.tolist()) == ([0.0], [True])
    assert infos[0]["error"]["type"] == "StepTimeout"
    assert vec.step(["a"])[1].tolist() == [1.0]


def test_cancel_ends_the_episodes_of_its_slots_alone(make, backend):
    vec = make(backend, 2, num_workers=2) if backend == "process" else make(backend, 2)
    vec.reset()
    vec.send(["hang" if backend != "sync" else "a", "a"])
    vec.cancel([0])
    rows = {(row.slot, row.kind): row for row in vec.recv(min_size=3, timeout=60)}
    ended = rows[0, "step"]
    assert (ended.reward, ended.terminated, ended.truncated, ended.info["error"]["type"]) == (0.0, False, True, "Cancelled")
    assert rows[0, "reset"].info["seed"] == seed(0, 1)
    assert rows[1, "step"].reward == 1.0
    assert vec.step(["a", "a"])[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("backend", WAITING)
def test_cancel_reaches_a_recv_that_waits_on_another_thread(make, backend):
    vec = make(backend, 1, autoreset="disabled")
    vec.reset()
    vec.send(["hang"])
    timer = threading.Timer(0.1, vec.cancel, [[0]])
    timer.start()
    batch = vec.recv(min_size=1, timeout=60)
    timer.join()
    assert batch.info[0]["error"]["type"] == "Cancelled"


def test_a_cancel_that_comes_too_late_touches_no_later_command(make, inner):
    vec = make(inner, 1)
    vec.reset()
    vec.cancel([0])
    assert vec.step(["a"])[1].tolist() == [1.0]
    vec.send(["b"])
    vec.recv()
    vec.cancel([0])
    assert vec.step(["c"])[1].tolist() == [3.0]


@pytest.mark.parametrize("backend", ["sync", "thread", "async"])
def test_cancelling_again_and_again_kills_no_slot(make, backend):
    vec = make(backend, 1, max_restarts=1)
    vec.reset()
    for _ in range(4):
        vec.send(["hang" if backend != "sync" else "a"])
        vec.cancel([0])
        batch = vec.recv(min_size=2, timeout=60)
        assert [row.info.get("error", {}).get("type") for row in batch] == ["Cancelled", None]
    assert vec.stats().dead == 0


@pytest.mark.parametrize("backend", ["thread", "async"])
def test_a_reset_can_be_cancelled_under_way_and_before_it_begins(make, backend):
    vec = make(backend, 2, max_concurrent_resets=1, autoreset="disabled")
    vec.send_reset(options={"do": "hang"})
    vec.cancel([1])
    vec.cancel([0])
    batch = vec.recv(timeout=60)
    assert sorted((row.slot, row.kind, row.info["error"]["type"]) for row in batch) == [
        (0, "reset", "Cancelled"),
        (1, "reset", "Cancelled"),
    ]
    assert len(vec.reset()[0]) == 2


# -- closing -----------------------------------------------------------------------------------------------------------


def test_close_twice_is_close_once_and_all_else_is_refused_then(make, backend, tmp_path):
    vec = make(backend, 2, closed=str(tmp_path / "closed"))
    vec.reset()
    vec.close()
    vec.close()
    assert until(lambda: len((tmp_path / "closed").read_text().splitlines()) == 2)
    for what in (vec.reset, lambda: vec.step(["a", "a"]), lambda: vec.send(["a", "a"]), vec.send_reset, vec.recv):
        with pytest.raises(ContractError, match="closed"):
            what()
    vec.cancel([0])
    assert vec.stats().resets == 2


def test_an_async_environment_is_closed_on_its_loop_after_a_fault_too(make, tmp_path):
    vec = make("async", 2, closed=str(tmp_path / "closed"))
    vec.reset()
    vec.step(["raise", "a"])
    assert (tmp_path / "closed").read_text() == "gem-loop\n"


def test_a_sync_environment_on_the_async_backend_is_closed_on_its_own_thread(make, tmp_path):
    vec = make("async", 1, "test:puppet", closed=str(tmp_path / "closed"))
    vec.reset()
    vec.step(["raise"])
    vec.close()
    assert set((tmp_path / "closed").read_text().splitlines()) == {"gem-env-Puppet"}


@pytest.mark.parametrize("backend", WAITING)
@pytest.mark.parametrize("how", ["recv", "step"])
def test_close_from_another_thread_ends_a_wait(make, backend, how):
    vec = make(backend, 2)
    vec.reset()
    if how == "recv":
        vec.send(["hang", "a"])
    timer = threading.Timer(0.1, vec.close, [0.1])
    timer.start()
    with pytest.raises(ContractError, match="closed"):
        vec.recv(min_size=2) if how == "recv" else vec.step(["hang", "a"])
    timer.join()


@pytest.mark.parametrize("backend", WAITING)
def test_closes_from_many_threads_while_it_works_do_no_harm(make, backend):
    vec = make(backend, 4, turns=1)
    vec.send_reset()
    closers = [threading.Timer(0.1, vec.close) for _ in range(4)]
    for closer in closers:
        closer.start()

    def go_on():
        while True:
            batch = vec.recv(min_size=1)
            vec.send({row.slot: "a" for row in batch if row.actionable})

    with pytest.raises(ContractError, match="closed"):
        go_on()
    for closer in closers:
        closer.join()


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_a_vector_that_nobody_holds_closes_itself(backend):
    before = len(slot_threads())
    vec = make_vec("test:puppet", 2, backend=backend, num_workers=1, seed=1)
    vec.reset()
    pids = vec.stats().workers
    del vec
    gc.collect()
    assert until(lambda: len(slot_threads()) <= before)
    assert not any(map(alive, pids))


def test_it_is_a_context_manager_and_shows_what_it_is(inner):
    with make_vec("test:async", 2, backend=inner, num_workers=1) as vec:
        vec.reset()
        assert repr(vec) == f"<VectorEnv 2 x test:async ({inner})>"
    with pytest.raises(ContractError):
        vec.reset()


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_stats_count_what_happened(make, backend):
    vec = make(backend, 2, turns=2, max_restarts=5)
    vec.reset()
    for _ in range(2):
        vec.step(["a", "a"])
    vec.step(["raise", "a"])
    vec.call("where")
    stats = vec.stats()
    assert (stats.steps, stats.resets, stats.calls, stats.episodes) == (6, 5, 2, 2)
    assert (stats.errors, stats.restarts, stats.timeouts, stats.stale) == ({"RuntimeError": 1}, 1, 0, 0)
    assert (stats.ready, stats.in_flight, stats.idle, stats.dead) == (2, 0, 0, 0)
    assert (stats.sources, stats.step_s is not None) == ({f"test:{'async' if backend == 'async' else 'puppet'}": 5}, True)
    assert len(stats.workers) == (backend == "process")


@pytest.mark.parametrize("backend", ["thread", "async"])
def test_at_most_so_many_resets_run_at_once(make, backend):
    for limit in (1, 3):
        envs.Crowded.most = 0
        vec = make(backend, 8, "test:crowded", max_concurrent_resets=limit)
        vec.reset()
        for _ in range(2):
            vec.step(["a"] * 8)
        assert envs.Crowded.most == limit
        vec.close()


def test_at_most_so_many_resets_run_at_once_in_workers(make):
    vec = make("process", 6, "test:crowded", max_concurrent_resets=2)
    vec.reset()
    vec.step(["a"] * 6)
    assert vec.call("record") == [2] * 6


# -- async twins -------------------------------------------------------------------------------------------------------


async def test_the_async_twins_do_what_the_others_do(make, backend):
    vec, twin = make("sync", 3, turns=9), make(backend, 3, turns=9)
    assert await twin.areset(seed=3) == vec.reset(seed=3)
    for actions in (["a", "b", "c"], {2: "x"}, ["a", "end", "raise"]):
        for one, other in zip(await twin.astep(actions), vec.step(actions), strict=True):
            assert list(one) == list(other)
    assert await twin.areset(slots=[1]) == vec.reset(slots=[1])
    twin.send(["a"] * 3)
    assert sorted((await twin.arecv()).slots.tolist()) == [0, 1, 2]


@pytest.mark.parametrize("backend", WAITING)
async def test_the_loop_goes_on_while_a_vector_is_awaited(make, backend):
    vec = make(backend, 1)
    await vec.areset()
    step = asyncio.ensure_future(vec.astep(["sleep 0.2"]))
    beats = 0
    while not step.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert (await step)[1].tolist() == [1.0]
    assert beats > 5


@pytest.mark.parametrize("backend", WAITING)
async def test_a_cancelled_arecv_loses_no_row_and_ends_its_wait(make, backend):
    vec = make(backend, 3, "test:async" if backend != "process" else "test:puppet-io", turns=100, autoreset="disabled")
    await vec.areset()
    vec.send(["hang", "a", "a"])
    for wait_s in (0.0, 0.01, 0.05):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(vec.arecv(min_size=3), wait_s)
    found = []
    while len(found) < 2:
        found += await asyncio.wait_for(vec.arecv(min_size=1), 30)
    vec.cancel([0])
    found += await asyncio.wait_for(vec.arecv(min_size=1), 30)
    assert sorted(row.slot for row in found[:3]) == [0, 1, 2]


async def test_rows_are_never_lost_or_doubled_however_often_arecv_is_cancelled(make, backend):
    vec = make(backend, 4, turns=1000)
    await vec.areset()
    turns = Counter()
    vec.send(["a"] * 4)
    rng = random.Random(0)
    while min(turns[slot] for slot in range(4)) < 40:
        call = asyncio.ensure_future(vec.arecv(min_size=1))
        await asyncio.sleep(rng.choice([0, 0, 0.0002, 0.001]))
        call.cancel()
        try:
            batch = await call
        except asyncio.CancelledError:
            continue
        for row in batch:
            turns[row.slot] += 1
            assert row.reward == turns[row.slot]
        vec.send({row.slot: "a" for row in batch})


@pytest.mark.parametrize("backend", WAITING)
async def test_a_cancelled_astep_leaves_its_rows_to_recv(make, backend):
    vec = make(backend, 2, "test:async" if backend != "process" else "test:puppet-io")
    await vec.areset()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(vec.astep(["sleep 0.3", "a"]), 0.1)
    rows = list(await vec.arecv(timeout=30))
    assert sorted((row.slot, row.reward) for row in rows) == [(0, 1.0), (1, 1.0)]
    assert (await vec.astep(["b", "b"]))[1].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("backend", WAITING)
async def test_actions_can_be_sent_while_an_arecv_waits(make, backend):
    vec = make(backend, 2, turns=50)
    await vec.areset()
    vec.send({0: "sleep 0.3"})
    call = asyncio.ensure_future(vec.arecv(min_size=2))
    await asyncio.sleep(0.05)
    start = time.monotonic()
    vec.send({1: "a"})
    assert time.monotonic() - start < 0.25, "a send waits for no row"
    assert sorted((await asyncio.wait_for(call, 30)).slots.tolist()) == [0, 1]


@pytest.mark.parametrize("backend", WAITING)
def test_actions_can_be_sent_from_many_threads_while_one_receives(make, backend):
    n, turns = 4, 60
    vec = make(backend, n, turns=10_000)
    vec.reset()
    inboxes = [threading.Semaphore(1) for _ in range(n)]

    def sender(slot):
        for _ in range(turns):
            inboxes[slot].acquire(timeout=60)
            vec.send({slot: "a"})

    threads = [threading.Thread(target=sender, args=(slot,)) for slot in range(n)]
    for thread in threads:
        thread.start()
    count = Counter()
    while sum(count.values()) < n * turns:
        try:
            batch = vec.recv(min_size=1, timeout=60)
        except NothingInFlight:
            time.sleep(0.0005)
            continue
        for row in batch:
            count[row.slot] += 1
            assert row.reward == count[row.slot]
            inboxes[row.slot].release()
    for thread in threads:
        thread.join()
    assert count == dict.fromkeys(range(n), turns)


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_tasks_are_dealt_in_admission_order_and_their_end_is_told(make, backend):
    vec = make(backend, 2, tasks=({"task": f"test/{k}"} for k in range(5)), env_kwargs=[{"turns": 1}, {"turns": 2}])
    assert [info["task"] for info in vec.reset()[1]] == ["test/0", "test/1"]
    assert [info.get("task") for info in vec.step(["a", "a"])[4]] == ["test/2", None]
    assert {info.get("task") for info in vec.step(["a", "a"])[4]} == {"test/3", "test/4"}, "who is free first has the first"
    obs, reward, terminated, truncated, infos = vec.step(["a", "a"])
    assert (infos[0]["exhausted"], infos[0]["final_info"]["turn"]) == (True, 1)
    assert (reward.tolist(), terminated.tolist()) == ([1.0, 1.0], [True, False])
    assert infos[0]["final_obs"] == obs[0]
    obs, reward, terminated, truncated, infos = vec.step(["passed over", "a"])
    assert (reward.tolist(), terminated.tolist(), truncated.tolist()) == ([0.0, 2.0], [False, True], [False, False])
    assert [info["exhausted"] for info in infos] == [True, True]
    with pytest.raises(NothingInFlight):
        vec.recv()
    with pytest.raises(ContractError, match="its tasks are used up"):
        vec.send({0: "a"})
    assert vec.reset()[1] == [{"exhausted": True}] * 2


def test_tasks_have_seeds_of_their_own_that_follow_from_their_number(make, inner):
    tasks = [{"task": f"test/{k}"} for k in range(4)]
    seeds = [info["seed"] for vec in (make(inner, 4, tasks=tasks), make(inner, 4, tasks=tasks)) for info in vec.reset()[1]]
    assert seeds[:4] == seeds[4:]
    assert len(set(seeds)) == 4
    assert not set(seeds) & {seed(slot, k) for slot in range(4) for k in range(4)}


def test_what_the_tasks_raise_is_raised_and_loses_no_row(make, inner):
    def tasks():
        yield {"task": "test/0"}
        yield {"task": "test/1"}
        raise OSError("the disk is gone")

    vec = make(inner, 2, tasks=tasks(), turns=1)
    vec.reset()
    vec.send(["a", "a"])
    with pytest.raises(OSError, match="the disk is gone"):
        drained(vec)
    rows = drained(vec)
    assert sorted((row.slot, row.kind) for row in rows) == [(0, "reset"), (0, "step"), (1, "reset"), (1, "step")]
    assert all(row.info == {"exhausted": True} for row in rows if row.kind == "reset")


def test_a_task_that_is_no_mapping_is_refused(make, inner):
    with pytest.raises(ContractError, match="task 1 must be a mapping of reset options"):
        make(inner, 2, tasks=[{"task": "test/0"}, "test/1"]).reset()


# -- mixtures ----------------------------------------------------------------------------------------------------------

MIXTURE = {"test:puppet": 5, "test:puppet-none": 2, "test:puppet-io": 1}


def test_shares_of_a_mixture_are_exact_by_episodes(make, inner):
    vec = make(inner, 4, Mixture(MIXTURE), turns=1)
    count = Counter()
    for infos in [vec.reset()[1]] + [vec.step(["a"] * 4)[4] for _ in range(79)]:
        for info in infos:
            count[info["source"]] += 1
    assert sum(count.values()) == 320
    for id, weight in MIXTURE.items():
        assert abs(count[id] - 320 * weight / 8) <= 4, count  # no slot is more than one away
    assert vec.specs == (None,) * 4
    assert vec.stats().sources == count


def test_shares_of_a_mixture_are_exact_by_turns(make, inner):
    weights = {"test:short": 1.0, "test:long": 1.0}
    gem.register("test:short", "tests.vector.envs:Puppet", turns=1)
    gem.register("test:long", "tests.vector.envs:Puppet", turns=7)
    vec = make(inner, 2, Mixture(weights, by="turns"))
    turns, playing = Counter(), [info["source"] for info in vec.reset()[1]]
    for _ in range(200):
        for slot, info in enumerate(vec.step(["a"] * 2)[4]):
            turns[playing[slot]] += 1
            playing[slot] = info["source"]
    assert sum(turns.values()) == 400
    assert abs(turns["test:short"] - turns["test:long"]) <= 4 * 7


def test_turns_of_an_episode_that_is_given_up_count_for_its_share():
    gem.register("test:short", "tests.vector.envs:Puppet", turns=1)
    gem.register("test:long", "tests.vector.envs:Puppet", turns=100)
    vec = make_vec(Mixture({"test:short": 1, "test:long": 1}, by="turns"), 1, backend="sync", seed=1)
    turns = Counter()
    (info,) = vec.reset()[1]
    for _ in range(200):
        long = info["source"] == "test:long"
        for _ in range(5 if long else 1):
            turns[info["source"]] += 1
            source = info["source"]
            (info,) = vec.step(["a"])[4]
            info = info if not long else {**info, "source": source}
        if long:
            (info,) = vec.reset()[1]
    assert abs(turns["test:short"] - turns["test:long"]) <= 10


def test_a_mixture_is_the_same_from_the_same_seed_whatever_the_backend(make):
    found = []
    for backend in ("sync", "thread", "async", "process"):
        vec = make(backend, 3, Mixture(MIXTURE), turns=1)
        infos = [vec.reset()[1]] + [vec.step(["a"] * 3)[4] for _ in range(12)]
        found.append([[(info["source"], info["seed"]) for info in row] for row in infos])
    assert found[0] == found[1] == found[2] == found[3]
    assert len({row[0][0] for row in found[0]}) == 3
    other = make("sync", 3, Mixture(MIXTURE), turns=1, seed=8)
    other.reset()
    assert [[info["source"] for info in other.step(["a"] * 3)[4]] for _ in range(12)] != [[cell[0] for cell in row] for row in found[0][1:]]


def test_ids_and_mixtures_can_stand_side_by_side(make, inner):
    vec = make(inner, None, ["test:puppet", Mixture({"test:puppet-io": 1, "test:puppet-none": 1})])
    infos = vec.reset()[1]
    assert ["source" in info for info in infos] == [False, True]
    assert [spec and spec.id for spec in vec.specs] == ["test:puppet", None]


# -- going on later ----------------------------------------------------------------------------------------------------


def _episodes(vec, infos, steps, played):
    """Go on for some lock-steps; append each episode that begins to `played[slot]` as (seed, task, source)."""
    for _ in range(steps):
        for slot, info in enumerate(infos):
            if "task" in info:
                played[slot].append((info["seed"], info["task"], info["source"]))
        infos = vec.step(["a"] * vec.num_envs)[4]
    return infos


@pytest.mark.parametrize("by", ["episodes", "turns"])
def test_a_resumed_vector_goes_on_with_the_same_tasks_and_seeds(make, inner, by):
    whole, played = make(inner, 3, Mixture(MIXTURE, by=by), turns=0, seed=3), defaultdict(list)
    infos = _episodes(whole, whole.reset()[1], 7, played)
    state = json.loads(json.dumps(whole.state_dict()))
    current = [rows[-1] for rows in (played[0], played[1], played[2])]
    begun = ["task" in info for info in infos]  # what has begun since; the others are in mid-episode
    rest = defaultdict(list)
    _episodes(whole, infos, 15, rest)

    resumed, again = make(inner, 3, Mixture(MIXTURE, by=by), turns=0, seed=4), defaultdict(list)
    resumed.load_state_dict(state)
    _episodes(resumed, resumed.reset()[1], 25, again)
    for slot in range(3):
        expected = rest[slot] if begun[slot] else [current[slot], *rest[slot]]
        assert again[slot][: len(expected)] == expected


def test_a_resumed_vector_plays_the_tasks_that_are_left_with_the_same_seeds(make, inner):
    cut = 5

    def build():
        return make(inner, 3, Mixture(MIXTURE), turns=0, tasks=({"task": f"test/{k}"} for k in range(24)))

    whole, played = build(), defaultdict(list)
    infos = _episodes(whole, whole.reset()[1], cut, played)
    state = json.loads(json.dumps(whole.state_dict()))
    _episodes(whole, infos, 40, rest := defaultdict(list))
    resumed = build()
    resumed.load_state_dict(state)
    _episodes(resumed, resumed.reset()[1], 60, again := defaultdict(list))
    left = {row[:2] for rows in rest.values() for row in rows}
    found = Counter(row[:2] for rows in again.values() for row in rows)
    assert set(found) >= left
    assert set(found) - left <= {rows[-1][:2] for rows in played.values()}, "else only those in mid-episode"
    assert set(found.values()) == {1}


def test_no_task_is_lost_or_doubled_over_a_resume(make, inner):
    done, tasks = Counter(), [{"task": f"test/{k}"} for k in range(20)]
    state = None
    rng = random.Random(5)
    for _ in range(30):
        vec = make(inner, 3, turns=0, tasks=tasks) if True else make("sync", 3, turns=0, tasks=tasks)
        if state is not None:
            vec.load_state_dict(state)
        vec.send_reset()
        playing = {}
        for _ in range(rng.randrange(1, 9)):
            if not (vec._engine.rows or vec.stats().in_flight):
                break
            batch = vec.recv(min_size=1)
            for row in batch:
                if row.kind == "reset":
                    playing[row.slot] = row.info.get("task")
                elif row.terminated:
                    done[playing[row.slot]] += 1
            vec.send({row.slot: "a" for row in batch if row.actionable})
        for row in drained(vec):
            if row.kind == "reset":
                playing[row.slot] = row.info.get("task")
            elif row.terminated:
                done[playing[row.slot]] += 1
        state = json.loads(json.dumps(vec.state_dict()))
        vec.close()
        if sum(done.values()) == 20:
            break
    assert done == {f"test/{k}": 1 for k in range(20)}


def test_a_state_is_loaded_into_a_new_vector_of_the_same_size(make, inner):
    vec = make(inner, 2)
    state = vec.state_dict()
    with pytest.raises(ContractError, match="the state is of 2 environments, this vector has 3"):
        make("sync", 3).load_state_dict(state)
    vec.reset()
    with pytest.raises(ContractError, match="before its first reset"):
        vec.load_state_dict(state)


# -- building ----------------------------------------------------------------------------------------------------------


def test_the_first_fault_is_raised_where_that_is_asked_for_and_the_vector_goes_on(make, inner):
    vec = make(inner, 3, on_error="raise")
    vec.reset()
    with pytest.raises(EnvCrashed, match="slot 1: RuntimeError in step: as asked"):
        vec.step(["a", "raise", "a"])
    assert vec.step(["a", "a", "a"])[1].tolist() == [2.0, 1.0, 2.0]
    vec.send(["a", "raise", "a"])
    rows, raised = [], 0
    while vec.stats().in_flight or vec._engine.rows:
        try:
            rows += vec.recv(min_size=1)
        except EnvCrashed:
            raised += 1
    assert raised == 1
    assert sorted((row.slot, row.kind) for row in rows) == [(0, "reset"), (0, "step"), (1, "reset"), (2, "reset"), (2, "step")]


def test_the_names_of_gem_llm_work():
    for async_mode, name in ((True, "thread"), (False, "sync")):
        vec = make_vec(env_ids=["test:puppet", "test:puppet"], vec_kwargs=[{"turns": 1}, {"turns": 2}], async_mode=async_mode, seed=7)
        with vec:
            assert vec.backend == name
            vec.reset()
            assert vec.step(["a", "a"])[2].tolist() == [True, False]


@pytest.mark.parametrize(
    ("id", "n", "more", "backend"),
    [
        ("test:async", 1, {}, "async"),
        ("test:puppet-none", 4, {}, "sync"),
        ("test:puppet-none", 4, {"step_timeout": 5.0}, "thread"),
        ("test:puppet-io", 4, {}, "thread"),
        ("test:puppet", 1, {}, "sync"),
        ("test:puppet", 4, {"reset_timeout": 5.0}, "process"),
    ],
)
def test_the_backend_follows_from_what_the_environments_declare(id, n, more, backend):
    with make_vec(id, n, num_workers=1, **more) as vec:
        assert vec.backend == backend


def test_wrappers_and_keywords_reach_every_environment(make, backend):
    vec = make(backend, 2, wrappers=[lambda env: Louder(env)], turns=2)
    vec.reset()
    assert [obs.split()[1] for obs in vec.step(["a", "b"])[0]] == ["A", "B"]
    assert vec.step(["a", "b"])[2].tolist() == [True, True]


class Louder(gem.Wrapper):
    def on_action(self, action):
        return action.upper()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "0 ids"),
        (("test:puppet", 0), "num_envs must be 1 or more"),
        ((["test:puppet"] * 2, 3), "2 ids for 3 environments"),
        ((), "needs an id"),
    ],
)
def test_what_makes_no_vector_is_refused(arguments, message):
    with pytest.raises(RegistrationError, match=message):
        make_vec(*arguments)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"backend": "fork"}, "no backend 'fork'"),
        ({"autoreset": "never"}, "autoreset must be"),
        ({"env_kwargs": [{}]}, "1 sets of keywords for 2 environments"),
        ({"backend": "process", "num_workers": 0}, "num_workers must be 1 or more"),
        ({"max_concurrent_resets": 0}, "max_concurrent_resets must be 1 or more"),
        ({"max_restarts": -1}, "max_restarts 0 or more"),
        ({"step_timeout": 0}, "step_timeout must be above 0"),
        ({"reset_timeout": -1.0}, "reset_timeout must be above 0"),
        ({"step_timeout": float("nan")}, "step_timeout must be above 0"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"seed": -1}, "seed must be an integer of 0 or more"),
        ({"seed": "7"}, "seed must be an integer of 0 or more"),
        ({"tasks": "test/0"}, "tasks must be an iterable of reset options"),
    ],
)
def test_keywords_that_mean_nothing_are_refused(keywords, message):
    before = descriptors(), threading.active_count()
    with pytest.raises(RegistrationError, match=message):
        make_vec("test:puppet", 2, **keywords)
    assert (descriptors(), threading.active_count()) == before


def test_an_unknown_id_is_refused_by_name():
    with pytest.raises(EnvNotFound, match="no environment 'test:pupet'"):
        make_vec("test:pupet", 2)
