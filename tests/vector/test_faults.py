"""Whatever an environment, a worker or a caller does wrong: it costs the episodes that it has to, and no others."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest

import gem
from gem import events
from gem.errors import ContractError, RegistrationError
from gem.vector import NothingInFlight
from gem.vector.executors import process
from gem.wrappers import Guarded
from tests.vector import envs
from tests.vector.conftest import BACKENDS
from tests.vector.watch import alive, descriptors, until

WAITING = BACKENDS[1:]


def error_of(info):
    return info["error"]["type"] if "error" in info else None


def drained(vec):
    """Receive all that is there and all that is under way."""
    rows = []
    while vec.stats().in_flight or vec._engine.rows:
        rows += vec.recv(min_size=1, timeout=60)
    return rows


def assert_goes_on(vec, slots=None):
    """Assert that every slot takes an action and answers."""
    reward = vec.step(dict.fromkeys(range(vec.num_envs) if slots is None else slots, "a"))[1]
    assert (reward >= 1.0).all()


def assert_faulted(vec, result, slot, error, message=""):
    """Assert that a lock-step truncated the episode of one slot alone, and that its next one has begun."""
    obs, reward, terminated, truncated, infos = result
    assert [error_of(info) for info in infos] == [error if k == slot else None for k in range(vec.num_envs)]
    assert truncated.tolist() == [k == slot for k in range(vec.num_envs)]
    assert not terminated.any()
    assert reward.tolist() == [0.0 if k == slot else 1.0 for k in range(vec.num_envs)]
    assert message in infos[slot]["error"]["message"]
    assert obs[slot].endswith("/0")
    assert infos[slot]["final_obs"].endswith("/0"), "the last observation before the fault"
    assert_goes_on(vec)


# -- what an environment raises and returns ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        ("raise", "RuntimeError", "as asked"),
        ("badtext", "EnvCrashed", "BadText, whose text can't be shown"),
        ("badpickle", "BadPickle", ""),
        ("badunpickle", "BadUnpickle", "1 2"),
        ("sysexit", "SystemExit", "3"),
        ("cancelled", "CancelledError", ""),
    ],
)
def test_what_a_step_raises_ends_the_episode_of_its_slot_alone(make, inner, action, error, message):
    vec = make(inner, 3)
    vec.reset()
    assert_faulted(vec, vec.step(["a", action, "a"]), 1, error, message)


def test_what_a_step_raises_ends_the_episode_of_its_slot_alone_in_a_worker(make):
    vec = make("process", 3, max_restarts=9)
    vec.reset()
    pids = vec.stats().workers
    for action, error in [
        ("raise", "RuntimeError"),
        ("badtext", "EnvCrashed"),
        ("badpickle", "BadPickle"),
        ("badunpickle", "BadUnpickle"),
        ("sysexit", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("cancelled", "CancelledError"),
    ]:
        assert_faulted(vec, vec.step(["a", action, "a"]), 1, error)
        vec.step(["end"] * 3)
    assert vec.stats().workers == pids


@pytest.mark.parametrize("backend", ["thread", "async"])
def test_a_keyboard_interrupt_that_nobody_pressed_is_a_fault(make, backend):
    vec = make(backend, 3)
    vec.reset()
    assert_faulted(vec, vec.step(["a", "interrupt", "a"]), 1, "KeyboardInterrupt")


def test_ctrl_c_in_the_callers_thread_reaches_the_caller_and_leaves_a_vector_that_works(make):
    vec = make("sync", 3)
    vec.reset()
    with pytest.raises(KeyboardInterrupt):
        vec.step(["a", "interrupt", "a"])
    rows = drained(vec)
    assert {row.slot: error_of(row.info) for row in rows if row.kind == "step"} == {0: None, 1: "EnvCrashed", 2: "EnvCrashed"}
    assert_goes_on(vec)


@pytest.mark.parametrize("backend", WAITING)
def test_ctrl_c_in_a_wait_loses_no_row(make, backend):
    vec = make(backend, 2, "test:puppet-io" if backend == "process" else None, autoreset="disabled")
    vec.reset()
    vec.send(["a", "hang"])
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        vec.recv(min_size=2, timeout=60)
    timer.join()
    batch = vec.recv(min_size=1, timeout=60)
    assert (batch.slots.tolist(), batch.reward.tolist()) == ([0], [1.0])
    vec.cancel([1])
    assert vec.recv(min_size=1, timeout=60).info[0]["error"]["type"] == "Cancelled"


@pytest.mark.parametrize("checks", [False, True])
def test_garbage_is_a_fault_of_its_slot(make, inner, checks):
    vec = make(inner, 3, checks=checks)
    vec.reset()
    for kind in ("none", "four", "text", "reward", "info", "flags"):
        vec.step(["end"] * 3)
        result = vec.step(["a", f"garbage {kind}", "a"])
        assert_faulted(vec, result, 1, "ContractError" if checks or kind in ("none", "four", "text", "info") else "ValueError")


def test_numbers_of_numpys_are_numbers(make, backend):
    gem.register("test:numpy", Numpy)
    vec = make(backend, 2, "test:numpy", checks=False)
    vec.reset()
    _, reward, terminated, truncated, infos = vec.step(["a", "a"])
    assert (reward.tolist(), terminated.tolist(), truncated.tolist()) == ([0.5, 0.5], [True, True], [False, False])
    assert [error_of(info) for info in infos] == [None, None]


class Numpy(gem.Env):
    def step(self, action):
        return "", np.float32(0.5), np.bool_(True), np.bool_(False), {"n": np.int64(3)}


def test_what_cannot_travel_is_a_fault_of_its_slot_and_all_else_arrives_as_it_is(make):
    vec = make("process", 3, checks=False, turns=9)
    vec.reset()
    for kind in ("unpicklable", "unreadable"):
        _, reward, terminated, truncated, infos = vec.step(["a", f"info {kind}", "a"])
        assert [error_of(info) for info in infos] == [None, "EnvError", None]
        assert "what its step returned can't be sent to another process" in infos[1]["error"]["message"]
        assert (terminated.tolist(), truncated.tolist()) == ([False] * 3, [False, True, False])
        assert (reward[1], infos[1]["final_obs"].endswith("/0")) == (0.0, True)
        vec.step(["end"] * 3)
    for kind in ("tuple", "bigint", "surrogate"):
        _, reward, terminated, truncated, infos = vec.step(["a", f"info {kind}", "a"])
        assert infos[1]["odd"] == envs.INFOS[kind]
        assert not truncated.any()
    assert reward.tolist() == [3.0] * 3


def test_an_action_that_cannot_travel_is_a_fault_of_its_slot(make):
    vec = make("process", 3, "test:puppet-io", checks=False)
    vec.reset()
    for action in (threading.Lock(), envs.Unpicklable(), envs.Unreadable()):
        _, reward, _, truncated, infos = vec.step(["a", action, "\ud83d"])
        assert [error_of(info) for info in infos] == [None, "EnvError", None]
        assert "what its step" in infos[1]["error"]["message"]
        assert (reward.tolist(), truncated.tolist()) == ([1.0, 0.0, 1.0], [False, True, False])
        vec.step(["end"] * 3)


def test_calls_that_cannot_travel_raise_why(make):
    vec = make("process", 2)
    vec.reset()
    for given in (threading.Lock(), envs.Unreadable()):
        with pytest.raises(gem.errors.EnvError, match="can't be sent to another process"):
            vec.call("give", given)
    for how in ("badpickle", "badunpickle"):
        with pytest.raises(gem.errors.EnvError, match="what its call returned can't be sent to another process"):
            vec.call("fail", how)
    with pytest.raises(envs.BadText):
        vec.call("fail", "badtext")
    assert_goes_on(vec)


def test_a_text_where_a_fault_would_be_stops_nothing(make, inner):
    vec = make(inner, 2)
    vec.reset()
    infos = vec.step(["info error", "a"])[4]
    assert infos[0]["error"] == "a text where a fault would be"
    assert vec.stats().errors == {"error": 1}
    assert_goes_on(vec)


def test_an_environment_that_guards_itself_is_counted_like_any_other_fault(make, inner):
    vec = make(inner, 2, wrappers=[Guarded])
    vec.reset()
    assert_faulted(vec, vec.step(["raise", "a"]), 0, "RuntimeError", "as asked")
    assert vec.stats().errors == {"RuntimeError": 1}


# -- resets and constructors -------------------------------------------------------------------------------------------


def test_a_reset_that_fails_is_tried_again_with_the_next_episode(make, inner):
    vec = make(inner, 2, tasks=[{"task": "test/0"}, {"do": "raise"}, {"task": "test/2"}])
    _, infos = vec.reset()
    assert [error_of(info) for info in infos] == [None, None]
    assert [info["task"] for info in infos] == ["test/0", "test/2"]
    assert vec.stats().errors == {"RuntimeError": 1}


def test_a_reset_that_fails_is_a_row_with_an_empty_observation(make, inner):
    vec = make(inner, 1, tasks=[{"do": "raise"}, {"task": "test/1"}])
    vec.send_reset()
    rows = list(vec.recv(min_size=2))
    assert [(row.kind, error_of(row.info), row.actionable) for row in rows] == [("reset", "RuntimeError", False), ("reset", None, True)]
    assert (rows[0].obs, rows[0].reward, rows[0].truncated, rows[0].info["error"]["phase"]) == ("", 0.0, True, "reset")


def test_a_reset_that_fails_is_no_fault_of_the_episode_before(make, inner):
    vec = make(inner, 1, turns=1, tasks=[{"task": "test/0"}, {"do": "raise"}, {"task": "test/2"}])
    vec.reset()
    _, reward, terminated, truncated, (info,) = vec.step(["a"])
    assert (reward[0], terminated[0], truncated[0], error_of(info)) == (1.0, True, False, None)
    assert (info["final_info"]["turn"], info["task"]) == (1, "test/2")


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_failed_reset_waits_for_the_caller_without_autoreset(make, inner, mode):
    vec = make(inner, 1, autoreset=mode, tasks=[{"do": "raise"}, {"task": "test/1"}])
    (info,) = vec.reset()[1]
    assert error_of(info) == "RuntimeError"
    (info,) = vec.reset()[1] if mode == "disabled" else vec.step(["a"])[4]
    assert info["task"] == "test/1"


def test_a_constructor_that_fails_in_one_slot_costs_that_slot_alone(make, backend):
    vec = make(backend, 3, env_kwargs=[{}, {"broken": "raise"}, {}], max_restarts=1)
    obs, infos = vec.reset()
    assert [error_of(info) for info in infos] == [None, "RuntimeError", None]
    assert obs[1] == ""
    assert vec.stats().dead == 1
    for turn in (1.0, 2.0):
        _, reward, _, truncated, infos = vec.step(["a"] * 3)
        assert reward.tolist() == [turn, 0.0, turn]
        assert truncated.tolist() == [False, True, False]
        assert [error_of(info) for info in infos] == [None, "EnvCrashed", None]
    obs, infos = vec.reset()
    assert [error_of(info) for info in infos] == [None, "EnvCrashed", None]


def test_a_spec_that_cannot_be_imported_costs_its_own_slots_alone(make, backend):
    vec = make(backend, None, [OWN[backend], "test:missing", OWN[backend]], max_restarts=0)
    _, infos = vec.reset()
    assert [error_of(info) for info in infos] == [None, "RegistrationError", None]
    assert "no module 'no_such_module_anywhere'" in infos[1]["error"]["message"]
    assert_goes_on(vec, [0, 2])


OWN = {"sync": "test:puppet", "thread": "test:puppet", "async": "test:async", "process": "test:puppet"}


def test_a_keyword_that_does_not_fit_is_told(make, inner):
    infos = make(inner, 1, max_restarts=0, nonsense=3).reset()[1]
    assert (error_of(infos[0]), "takes no keyword 'nonsense'" in infos[0]["error"]["message"]) == ("RegistrationError", True)


def test_a_slot_that_fails_too_often_is_given_up_and_the_others_go_on(make, backend):
    seen = []
    forget = events.subscribe(lambda event: seen.append(event) if event.kind == "slot.dead" else None)
    vec = make(backend, 2, max_restarts=2)
    vec.reset()
    for count in range(3):
        assert vec.stats().dead == 0
        infos = vec.step(["raise", "a"])[4]
        assert error_of(infos[0]) == "RuntimeError"
        assert ("final_obs" in infos[0]) == (count < 2)
    forget()
    assert vec.stats().dead == 1
    assert vec.stats().restarts == 2
    assert [event.data["slot"] for event in seen] == [0]
    with pytest.raises(ContractError, match="slot 0 can't take an action: it is dead: it failed too often"):
        vec.send({0: "a"})
    with pytest.raises(ContractError, match="slot 0 can't be reset: it is dead"):
        vec.reset(slots=[0])
    assert_goes_on(vec, [1])
    vec.send_reset()
    assert vec.recv().slots.tolist() == [1]


def test_a_sound_episode_forgets_the_faults_before_it(make, inner):
    vec = make(inner, 1, max_restarts=1)
    vec.reset()
    for _ in range(4):
        vec.step(["raise"])
        vec.step(["end"])
    assert vec.stats().dead == 0


def test_restarts_pause_and_the_pause_burns_no_cpu(make, inner):
    vec = make(inner, 2, max_restarts=3)
    vec.reset()
    start, cpu = time.monotonic(), time.process_time()
    for _ in range(3):
        vec.step(["raise", "a"])
    assert time.monotonic() - start >= 0.3  # 0 + 0.1 + 0.2
    assert time.process_time() - cpu < 0.2


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "id"), [("thread", None), ("async", None), ("process", None), ("process", "test:puppet-io")])
def test_a_step_that_hangs_is_given_up_and_costs_its_slot_alone(make, backend, id):
    more = {"num_workers": 2} if backend == "process" else {}
    vec = make(backend, 2, id, step_timeout=0.5, **more)
    vec.reset()
    assert_faulted(vec, vec.step(["hang", "a"]), 0, "StepTimeout", "its step took longer than 0.5 s")
    assert vec.stats().timeouts == 1
    assert vec.stats().workers == () or all(map(alive, vec.stats().workers))


@pytest.mark.parametrize("backend", WAITING)
def test_a_reset_that_hangs_is_given_up(make, backend):
    vec = make(backend, 1, reset_timeout=0.5, tasks=[{"do": "hang"}, {"task": "test/1"}])
    assert vec.reset()[1][0]["task"] == "test/1"
    assert vec.stats().errors == {"StepTimeout": 1}


def test_a_constructor_that_hangs_is_given_up(make):
    vec = make("thread", 2, reset_timeout=0.2, env_kwargs=[{}, {"broken": "hang"}], max_restarts=0)
    assert [error_of(info) for info in vec.reset()[1]] == [None, "StepTimeout"]


def test_a_hung_step_that_comes_back_is_dropped(make):
    vec = make("thread", 2, step_timeout=0.2, turns=1000)
    vec.reset()
    vec.step(["hang", "a"])
    assert vec.stats().stale == 0
    envs.RELEASE.set()
    turn = 0
    while vec.stats().stale == 0:  # gymnasium returns the results of the step before for ever from here on
        turn += 1
        obs, reward, *_ = vec.step([f"x{turn}", f"y{turn}"])
        assert (obs[0].split()[1], obs[1].split()[1]) == (f"x{turn}", f"y{turn}")
        assert reward[0] == turn
    assert vec.stats().stale == 1


def test_results_that_nobody_has_asked_for_yet_are_not_late(make, backend):
    vec = make(backend, 4, step_timeout=0.2)
    vec.reset()
    vec.send(["a"] * 3 + ["big 3000000"])
    time.sleep(0.4)  # the caller thinks
    rows = []
    while len(rows) < 4:
        rows += vec.recv(min_size=1)
    assert [row.reward for row in rows] == [1.0] * 4
    assert vec.stats().timeouts == 0


def test_a_deadline_counts_from_when_a_step_begins_and_not_from_when_it_waits_behind_others(make):
    """One worker plays its environments one after the other."""
    vec = make("process", 6, step_timeout=0.5)
    vec.reset()
    _, reward, _, truncated, _ = vec.step(["sleep 0.15"] * 6)  # 0.9 s together
    assert (reward.tolist(), truncated.any()) == ([1.0] * 6, False)
    _, reward, _, truncated, infos = vec.step(["a", "a", "a", "sleep 0.15", "hang", "a"])
    assert [error_of(info) for info in infos] == [None] * 4 + ["StepTimeout", "WorkerDied"]
    assert vec.stats().timeouts == 1


# -- workers that die --------------------------------------------------------------------------------------------------


def test_a_worker_that_dies_in_a_step_costs_its_own_slots_alone(make):
    vec = make("process", 4, num_workers=2, turns=9)  # slots 0 and 2 share a worker, and 1 and 3
    vec.reset()
    for turn, (action, how) in enumerate([("exit", "ended with code 3"), ("kill", "was killed by signal 9")]):
        _, reward, terminated, truncated, infos = vec.step(["a", "a", action, "a"])
        assert [error_of(infos[slot]) for slot in (1, 2, 3)] == [None, "WorkerDied", None]
        assert (infos[2]["error"]["phase"], infos[2]["error"]["retryable"]) == ("worker", True)
        assert how in infos[2]["error"]["message"]
        assert not terminated.any()
        assert truncated[2]
        told = [error_of(infos[0])]
        _, reward, _, _, infos = vec.step(["a"] * 4)
        assert [*told, error_of(infos[0])].count("WorkerDied") == 1, "in this step, or with the next one where it had answered"
        assert reward[1::2].tolist() == [turn * 3 + 2.0] * 2
        assert_goes_on(vec)
    assert all(map(alive, vec.stats().workers))


def test_a_worker_that_dies_between_frames_is_told_with_the_next_step(make):
    vec = make("process", 4, num_workers=2, turns=9)
    vec.reset()
    vec.step(["a"] * 4)
    victim = vec.stats().workers[0]
    os.kill(victim, signal.SIGKILL)
    assert until(lambda: not alive(victim))
    _, reward, _, truncated, infos = vec.step(["a"] * 4)
    assert [error_of(info) for info in infos] == ["WorkerDied", None, "WorkerDied", None]
    assert (reward.tolist(), truncated.tolist()) == ([0.0, 2.0, 0.0, 2.0], [True, False, True, False])
    assert_goes_on(vec)
    assert vec.stats().errors == {"WorkerDied": 2}

    victim = vec.stats().workers[1]
    os.kill(victim, signal.SIGKILL)
    assert until(lambda: not alive(victim))
    time.sleep(0.1)
    with pytest.raises(NothingInFlight):  # by now the vector knows
        vec.recv()
    infos = vec.step(["a"] * 4)[4]
    assert [error_of(info) for info in infos] == [None, "WorkerDied", None, "WorkerDied"]
    assert infos[1]["error"]["phase"] == "worker"
    assert_goes_on(vec)


def test_a_worker_that_dies_is_no_fault_of_its_neighbours(make):
    """The slot that crashed uses its restarts up, the others of the worker none of theirs."""
    vec = make("process", 3, max_restarts=2)
    vec.reset()
    for _ in range(3):
        vec.step(["a", "exit", "a"])
        vec.step({0: "a", 2: "a"})  # told now, where it was not before
    assert vec.stats().dead == 1
    assert_goes_on(vec, [0, 2])
    with pytest.raises(ContractError, match="slot 1 .* dead"):
        vec.send({1: "a"})


def test_a_stopped_worker_is_given_up_in_a_step_and_between_frames(make):
    vec = make("process", 2, num_workers=2, step_timeout=0.4)
    vec.reset()
    assert_faulted(vec, vec.step(["stop", "a"]), 0, "StepTimeout")
    vec.reset()
    os.kill(vec.stats().workers[0], signal.SIGSTOP)
    assert_faulted(vec, vec.step(["a", "a"]), 0, "StepTimeout")


def test_a_kill_while_a_large_observation_is_written_loses_no_other_row(make):
    vec = make("process", 4, num_workers=2, turns=100)
    vec.reset()
    size = 100_000_000
    for when_s in (0.0, 0.05, 0.15):
        victim = vec._engine.executor._of[0].process.pid
        vec.send([f"big {size}", "a", "a", f"big {size // 10}"])
        time.sleep(when_s)
        os.kill(victim, signal.SIGKILL)
        rows = {}
        for row in drained(vec):
            if row.kind == "step":
                assert row.slot not in rows, "a doubled row"
                rows[row.slot] = row
        assert sorted(rows) == [0, 1, 2, 3]
        assert [error_of(rows[slot].info) for slot in (1, 3)] == [None, None]
        assert len(rows[3].obs) == size // 10
        for slot in (0, 2):
            assert error_of(rows[slot].info) in (None, "WorkerDied")
        vec.step(["a"] * 4)
        assert_goes_on(vec)


def test_large_observations_and_actions_arrive_whole(make):
    vec = make("process", 2, "test:puppet-io", turns=100)
    vec.reset()
    size = 100_000_000
    obs = vec.step([f"big {size}", "文" * 3_000_000])[0]
    assert len(obs[0]) == size
    assert len(obs[1]) == len("/1 ") + 3_000_000 + len(obs[1].split("/")[0])
    assert_goes_on(vec)


def test_a_worker_that_cannot_start_says_why(make, monkeypatch):
    gem.register("test:homeless", Homeless)
    vec = make("process", 2, "test:homeless", env_kwargs={"doll": Cursed()}, max_restarts=1)
    infos = vec.reset()[1]
    assert [error_of(info) for info in infos] == ["WorkerDied"] * 2
    assert "ended with code 1: ValueError: not to be read" in infos[0]["error"]["message"]
    assert vec.stats().dead == 2


class Homeless(gem.Env):
    def __init__(self, doll=None):
        pass


class Cursed:
    def __reduce__(self):
        return envs._refuse, ()


def test_a_worker_that_cannot_be_started_any_more_is_a_fault_and_not_a_hang(make, monkeypatch):
    vec = make("process", 2, num_workers=2, max_restarts=1)
    vec.reset()
    before = descriptors()

    def no_spawn(*args):
        raise OSError("no more processes")

    monkeypatch.setattr(process, "_spawn", no_spawn)
    infos = vec.step(["exit", "a"])[4]
    assert error_of(infos[0]) == "WorkerDied"
    assert "can't be started: no more processes" in vec.stats().errors.__repr__() or vec.stats().dead == 1
    assert_goes_on(vec, [1])
    assert descriptors() <= before


def test_what_cannot_be_sent_to_a_worker_is_refused_when_the_vector_is_made(make):
    before = descriptors()
    with pytest.raises(RegistrationError, match="slots 0 can't be sent to another process.*backend='thread'"):
        make("process", 1, "test:puppet", wrappers=[envs.Unpicklable()])
    assert descriptors() == before


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_no_row_is_lost_or_doubled_over_many_faults(make, backend):
    """Every action is answered once; rows of one slot come in the order of its episodes."""
    n = 6
    more = {"num_workers": 3} if backend == "process" else {}
    vec = make(backend, n, step_timeout=1.0, max_restarts=1000, turns=4, **more)
    plan = ["a", "a", "a", "a", "raise", "a", "sysexit", "a", "a", "info unpicklable", "a", "exit"]
    sent, answered, last = Counter(), Counter(), {}
    vec.send_reset()
    while sum(sent.values()) < 120:
        batch = vec.recv(min_size=1, timeout=60)
        assert len(batch)
        for row in batch:
            if row.kind == "step":
                answered[row.slot] += 1
                assert answered[row.slot] == sent[row.slot]
            assert row.episode_id >= last.get(row.slot, 0)
            last[row.slot] = row.episode_id
        for row in batch:
            if row.actionable:
                action = plan[(sent[row.slot] * 5 + row.slot) % len(plan)]
                if backend == "thread" and action in ("exit", "info unpicklable"):
                    action = "raise"
                if backend == "process" and action == "exit" and sum(sent.values()) % 3:
                    action = "a"
                vec.send({row.slot: action})
                sent[row.slot] += 1
    for row in drained(vec):
        answered[row.slot] += row.kind == "step"
    assert answered == sent


# -- what a caller does wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (["a"] * 2, "2 actions for 3 slots"),
        (["a"] * 4, "4 actions for 3 slots"),
        ([], "0 actions for 3 slots"),
        ("abc", "not the text|not 'abc'"),
        (b"abc", "not b'abc'"),
        ({0: "a", 7: "b"}, "no slot 7: there are slots 0 to 2"),
        ({-1: "a"}, "no slot -1"),
        ({"0": "a"}, "slots are whole numbers"),
        ({0.5: "a"}, "slots are whole numbers"),
        (None, "actions must be a sequence"),
        (7, "actions must be a sequence"),
        ((action for action in "abc"), "actions must be a sequence"),
    ],
)
@pytest.mark.parametrize("how", ["step", "send"])
def test_actions_that_do_not_fit_begin_nothing(make, inner, how, actions, message):
    vec = make(inner, 3)
    vec.reset()
    with pytest.raises(ContractError, match=message):
        getattr(vec, how)(actions)
    assert vec.step(["a"] * 3)[1].tolist() == [1.0] * 3


def test_actions_and_slots_have_to_go_together(make, inner):
    vec = make(inner, 3)
    vec.reset()
    for actions, slots, message in [
        (["a", "b"], [0, 0], "slot 0 is named twice"),
        (["a"], [0, 1], "1 actions for 2 slots"),
        (["a"], [3], "no slot 3"),
        ({0: "a"}, [0], "leave slots= out"),
    ]:
        with pytest.raises(ContractError, match=message):
            vec.send(actions, slots)
    vec.send(["x", "y"], [2, 0])
    assert {row.slot: row.obs.split()[1] for row in vec.recv()} == {2: "x", 0: "y"}


def test_a_second_action_before_the_answer_is_refused_and_begins_nothing(make, inner):
    vec = make(inner, 2)
    vec.reset()
    vec.send({0: "a"})
    for what in (lambda: vec.send({1: "a", 0: "b"}), lambda: vec.send_reset([1, 0])):
        with pytest.raises(ContractError, match="slot 0 can't .*: it is busy. Receive its row first"):
            what()
    batch = vec.recv()
    assert batch.slots.tolist() == [0]
    assert vec.step(["a", "a"])[1].tolist() == [2.0, 1.0]


def test_a_step_before_the_reset_is_refused(make, inner):
    vec = make(inner, 2)
    with pytest.raises(ContractError, match="slot 0 can't take an action: it is idle. Reset it first"):
        vec.step(["a", "a"])
    with pytest.raises(NothingInFlight):
        vec.recv()
    assert len(vec.reset()[0]) == 2


def test_an_action_for_an_ended_slot_is_refused(make, inner):
    vec = make(inner, 2, autoreset="disabled", turns=1)
    vec.reset()
    vec.send(["a", "a"])
    vec.recv()
    with pytest.raises(ContractError, match="Reset it first"):
        vec.send({1: "a"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": [1, 2]}, "2 values of seed for 3 slots"),
        ({"seed": -1}, "a seed is a whole number of 0 or more, not -1"),
        ({"seed": [1, 2, "3"]}, "not '3'"),
        ({"seed": "12"}, "seed must be one for all slots or a sequence"),
        ({"seed": 1.5}, "seed must be one for all slots or a sequence"),
        ({"options": [{}]}, "1 values of options for 3 slots"),
        ({"options": "x"}, "options must be one for all slots"),
        ({"slots": [0, 3]}, "no slot 3"),
        ({"slots": [1, 1]}, "slot 1 is named twice"),
        ({"slots": 1}, "slots are whole numbers"),
    ],
)
def test_resets_that_do_not_fit_begin_nothing(make, inner, given, message):
    vec, twin = make(inner, 3), make(inner, 3)
    with pytest.raises(ContractError, match=message):
        vec.reset(**given)
    assert vec.reset() == twin.reset()
