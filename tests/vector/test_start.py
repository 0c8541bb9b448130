"""Workers start from anywhere, and end with what started them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import gem
from gem.vector import make_vec
from tests.vector.watch import alive, descriptors, slot_threads, until, zombies

HEAD = """
import os, sys, time
import gem
from gem.vector import make_vec

class Mine(gem.Env):
    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        return f"begin {os.getpid()}", {}

    def step(self, action):
        if action == "hang":
            time.sleep(600)
        if action == "stdin":
            action = sys.stdin.read()
        if action == "print":
            print("said in the worker")
        return f"{action} {os.getpid()}", 1.0, False, False, {}
"""
MAKE = """
vec = make_vec("mine:env", 2, backend="process", num_workers=1, seed=1)
"""
REGISTER = 'gem.register("mine:env", Mine)\n'


def script(body: str) -> str:
    return HEAD + REGISTER + MAKE + textwrap.dedent(body)


PLAY = script(
    """
    obs, _ = vec.reset()
    assert obs[0] == f"begin {vec.stats().workers[0]}" != f"begin {os.getpid()}"
    print("played", vec.step(["a", "b"])[1].tolist())
    vec.close()
    """
)


def run(arguments, stdin=None, timeout=60, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments], input=stdin, capture_output=True, text=True, timeout=timeout, **options
    )


def start(code, tmp_path, **options):
    """Start a script that prints the numbers of its workers first; return it and them."""
    file = tmp_path / "script.py"
    file.write_text(code)
    process = subprocess.Popen(
        [sys.executable, "-W", "error", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )
    pids = [int(word) for word in process.stdout.readline().split()]
    assert pids, process.communicate()
    return process, pids


# -- from anywhere -----------------------------------------------------------------------------------------------------


def test_from_a_script_without_a_guard_with_an_environment_of_its_own(tmp_path):
    (tmp_path / "unguarded.py").write_text(PLAY)
    done = run([str(tmp_path / "unguarded.py")])
    assert (done.returncode, done.stdout, done.stderr) == (0, "played [1.0, 1.0]\n", "")


def test_from_standard_input_which_stays_the_callers_own():
    done = run(["-"], PLAY)
    assert (done.returncode, done.stdout, done.stderr) == (0, "played [1.0, 1.0]\n", "")


def test_a_worker_reads_nothing_from_the_callers_input(tmp_path):
    (tmp_path / "asks.py").write_text(
        script(
            """
            vec.reset()
            assert vec.step(["stdin", "stdin"])[0][0].startswith(" ")
            vec.close()
            print(sys.stdin.read())
            """
        )
    )
    done = run([str(tmp_path / "asks.py")], "for the caller")
    assert (done.returncode, done.stdout, done.stderr) == (0, "for the caller\n", "")


def test_what_lies_in_the_current_folder_comes_before_nothing(tmp_path):
    for name in ("selectors", "queue", "socket", "numpy", "gem"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "main.py").write_text(PLAY)
    done = run([str(tmp_path / "elsewhere" / "main.py")], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "played [1.0, 1.0]\n", "")


def test_what_the_caller_can_import_can_be_imported_and_programs_inherit_nothing_of_it(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "my_envs.py").write_text(
        "import gem, os, subprocess, sys\n"
        "class Far(gem.Env):\n"
        "    def reset(self, seed=None, options=None):\n        super().reset(seed, options)\n        return '', {}\n"
        "    def look(self):\n"
        "        code = 'import signal, sys; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)'\n"
        "        return os.environ.get('PYTHONPATH'), subprocess.run([sys.executable, '-c', code], capture_output=True).stdout\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys\n"
        "from pathlib import Path\n"
        f"sys.path.append({str(tmp_path / 'far')!r})\n"
        "sys.path.append(Path('/nowhere'))\n"  # no text: the import system passes over it
        "import gem\n"
        "from gem.vector import make_vec\n"
        "gem.register('far:env', 'my_envs:Far')\n"
        "with make_vec('far:env', 1, backend='process') as vec:\n"
        "    vec.reset()\n"
        "    print(vec.call('look'))\n"
    )
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = run([str(tmp_path / "main.py")], env=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[(None, b'True\\n')]\n", "")


def test_from_a_test_with_a_class_that_nobody_can_import():
    class Local(gem.Env):
        def reset(self, seed=None, options=None):
            super().reset(seed, options)
            return str(os.getpid()), {}

    gem.register("test:local", Local)
    with make_vec("test:local", 1, backend="process") as vec:
        assert vec.reset()[0] == [str(vec.stats().workers[0])]


def test_from_a_thread_that_ends():
    made = []
    thread = threading.Thread(target=lambda: made.append(make_vec("test:puppet", 1, backend="process", seed=1)))
    thread.start()
    thread.join()
    with made[0] as vec:
        vec.reset()
        time.sleep(0.1)
        assert vec.step(["a"])[1].tolist() == [1.0]


def test_after_a_fork_parent_and_child_do_not_disturb_each_other(tmp_path):
    code = (
        HEAD
        + REGISTER
        + textwrap.dedent(
            """
        vecs = [make_vec("mine:env", 2, backend=backend, num_workers=1, seed=1) for backend in ("process", "thread", "async")]
        for vec in vecs:
            vec.reset()
        pid = os.fork()
        if pid == 0:
            try:
                for vec in vecs:
                    for what in (vec.reset, lambda: vec.send(["a", "a"]), vec.recv, lambda: vec.step(["a", "a"])):
                        try:
                            what()
                        except gem.errors.ContractError as error:
                            assert "forked" in str(error), error
                        else:
                            raise AssertionError(what)
                    vec.close()
                del vec, vecs
                for backend in ("process", "thread", "async"):
                    with make_vec("mine:env", 2, backend=backend, num_workers=1, seed=1) as own:
                        own.reset()
                        assert own.step(["a", "b"])[1].tolist() == [1.0, 1.0]
                print("child", flush=True)
                code = 0
            except BaseException:
                import traceback
                traceback.print_exc()
                code = 1
            os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        for vec in vecs:
            assert vec.step(["a", "b"])[1].tolist() == [1.0, 1.0]
            assert vec.stats().errors == {}
            vec.close()
        print("parent")
        """
        )
    )
    done = run(["-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (0, "child\nparent\n", "")


# -- to the end --------------------------------------------------------------------------------------------------------

ASLEEP = script(
    """
    vec.reset()
    print(*vec.stats().workers, flush=True)
    if "fork" in sys.argv and os.fork() == 0:
        time.sleep(60)
    if "hang" in sys.argv:
        vec.step(["hang", "a"])
    time.sleep(60)
    """
)


@pytest.mark.parametrize("how", ["idle", "hang", "fork"])
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path, how):
    process, pids = start(ASLEEP.replace("sys.argv", repr([how])), tmp_path)
    time.sleep(0.1)
    process.kill()
    killed = time.monotonic()
    assert until(lambda: not any(map(alive, pids)), 20)
    assert time.monotonic() - killed < (2 if os.getloadavg()[0] < 4 else 10)
    os.killpg(process.pid, signal.SIGKILL) if how == "fork" else None
    process.communicate()


@pytest.mark.parametrize("how", ["recv", "step", "starting"])
def test_ctrl_c_is_quiet_and_clean(tmp_path, how):
    body = {
        "recv": "vec.send(['hang', 'a'])\n    vec.recv()",
        "step": "vec.step(['hang', 'a'])",
        "starting": "other = make_vec('mine:env', 2, backend='process', num_workers=2)\n    print(*other.stats().workers, flush=True)\n    other.reset()",
    }[how]
    ready = "vec.reset()\nprint(*vec.stats().workers, flush=True)\n" if how != "starting" else ""
    process, pids = start(HEAD + REGISTER + MAKE + ready + f"try:\n    {body}\nexcept KeyboardInterrupt:\n    print('stopped')\n", tmp_path)
    time.sleep(0.3 if how != "starting" else 0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    for pid in pids if how != "starting" else ():
        os.kill(pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "stopped\n", "") or (how == "starting" and (process.returncode, err) == (0, ""))
    assert until(lambda: not any(map(alive, pids)), 20)


def test_ctrl_c_at_any_moment_leaves_a_vector_that_works(tmp_path):
    code = (
        HEAD
        + REGISTER
        + textwrap.dedent(
            """
        import random, signal, threading
        rng = random.Random(1)
        for backend, times in (("sync", 20), ("thread", 20), ("async", 20), ("process", 2)):
            vec = make_vec("mine:env", 16, backend=backend, num_workers=1, seed=1)
            vec.reset()
            for _ in range(times):
                timer = threading.Timer(rng.uniform(0.001, 0.01), os.kill, [os.getpid(), signal.SIGINT])
                try:
                    timer.start()
                    while True:
                        vec.step(["a"] * 16)
                except KeyboardInterrupt:
                    timer.join()
                if vec.stats().in_flight or vec._engine.rows:
                    vec.recv(min_size=1000, timeout=60)
                assert not vec.stats().in_flight, vec.stats()
                assert set(vec.stats().errors) <= {"Cancelled", "EnvCrashed"}, vec.stats()
                vec.reset()
            assert vec.step(["b"] * 16)[1].tolist() == [1.0] * 16
            assert vec.stats().dead == 0
            vec.close()
        print("done")
        """
        )
    )
    done = run(["-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("backend", ["thread", "async", "process"])
def test_a_program_that_forgets_to_close_ends_at_once_and_quietly(backend):
    code = (
        HEAD
        + REGISTER
        + textwrap.dedent(
            f"""
        vec = make_vec("mine:env", 2, backend={backend!r}, num_workers=1)
        vec.reset()
        vec.send(["hang", "a"])
        print(*vec.stats().workers)
        """
        )
    )
    begun = time.monotonic()
    done = run(["-c", code])
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - begun < 15
    assert until(lambda: not any(alive(int(pid)) for pid in done.stdout.split()), 20)


def test_what_an_environment_prints_is_not_lost():
    done = run(["-c", script("vec.reset()\nvec.step(['print', 'print'])\nvec.close()\n")])
    assert (done.stdout, done.stderr) == ("said in the worker\n" * 2, "")


@pytest.mark.parametrize("backend", ["sync", "thread", "async", "process"])
def test_opening_and_closing_leaves_nothing_behind(backend):
    def cycle(play):
        with make_vec("test:async" if backend == "async" else "test:puppet", 2, backend=backend, num_workers=1, seed=1) as vec:
            if play:
                vec.reset()
                vec.step(["a", "raise"])
                vec.send(["a", "a"])
            return vec.stats().workers

    cycle(True)  # the home loop and its like are made once
    gc.collect()
    before = descriptors(), threading.active_count(), len(slot_threads())
    pids = [pid for k in range(20) for pid in cycle(k % 10 == 0)]
    assert until(lambda: len(slot_threads()) <= before[2])
    assert (descriptors(), threading.active_count()) == before[:2]
    assert not any(map(alive, pids))
    assert len(set(pids)) == (20 if backend == "process" else 0)
    assert zombies() == []


def test_restarts_leave_nothing_behind():
    with make_vec("test:puppet", 2, backend="process", num_workers=2, max_restarts=100, seed=1) as vec:
        vec.reset()
        before, first = descriptors(), vec.stats().workers
        for _ in range(2):
            vec.step(["kill", "a"])
            vec.step(["end", "a"])
        assert descriptors() == before
        assert zombies() == []
        assert not alive(first[0])
        assert vec.stats().workers[1] == first[1]


def test_a_worker_that_is_sending_when_the_vector_closes_still_closes_its_environments(tmp_path):
    vec = make_vec("test:puppet", 1, backend="process", seed=1, closed=str(tmp_path / "closed"))
    vec.reset()
    vec.send(["big 100000000"])
    time.sleep(0.3)
    vec.close(20.0)
    assert (tmp_path / "closed").exists()


def test_closing_in_the_middle_of_steps_is_quiet(tmp_path):
    code = HEAD.replace('"hang"', '"nap"').replace("600", "0.3") + textwrap.dedent(
        """
        for blocking in ("io", "cpu"):
            gem.register("mine:env", Mine, info=gem.EnvInfo(blocking=blocking), override=True)
            with make_vec("mine:env", 3, backend="process", num_workers=1, seed=1) as vec:
                vec.reset()
                vec.send(["nap"] * 3)
                time.sleep(0.1)
        """
    )
    done = run(["-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_close_ends_workers_that_hang_or_never_began_and_takes_no_longer_than_it_may():
    vec = make_vec("test:puppet", 4, backend="process", num_workers=4, seed=1)
    vec.reset(slots=[0, 1])
    vec.send({0: "hang", 1: "big 50000000"})
    pids = vec.stats().workers
    begun = time.monotonic()
    vec.close(0.5)
    assert time.monotonic() - begun < 5
    assert not any(map(alive, pids))
    assert zombies() == []
