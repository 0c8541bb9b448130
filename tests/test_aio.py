"""The home loop is one per process, and it neither hangs nor leaks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from gem import aio


def test_there_is_one_loop_whatever_the_thread():
    loops = []
    threads = [threading.Thread(target=lambda: loops.append(aio.home_loop())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, loops))) == 1


def test_a_result_and_an_exception_come_back():
    async def give(value):
        return value

    async def fail():
        raise KeyError("as asked")

    assert aio.run(give(3)) == 3
    with pytest.raises(KeyError, match="as asked"):
        aio.run(fail())


def test_hop_runs_on_the_home_loop_from_any_other():
    async def where():
        return threading.current_thread().name

    async def main():
        return await aio.hop(where())

    assert asyncio.run(main()) == "gem-loop"


def test_hop_on_the_home_loop_stays_there():
    async def inner():
        return aio.on_home_loop()

    async def outer():
        return await aio.hop(inner())

    assert aio.run(outer())


def python(code: str, timeout: float = 20) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=timeout)


def test_the_interpreter_exits_quietly_with_work_in_flight():
    done = python(
        "import asyncio, gem.aio as aio\n"
        "async def forever():\n    await asyncio.sleep(3600)\n"
        "asyncio.run_coroutine_threadsafe(forever(), aio.home_loop())\nprint('end')"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_the_interpreter_exits_with_a_step_that_hangs():
    start = time.monotonic()
    done = python(
        "import asyncio, time\nfrom gem.core import Env\n"
        "class Hang(Env):\n    def step(self, action):\n        time.sleep(3600)\n"
        "async def main():\n"
        "    try:\n        await asyncio.wait_for(Hang().astep('x'), 0.2)\n"
        "    except asyncio.TimeoutError:\n        print('timeout')\n"
        "asyncio.run(main())"
    )
    assert (done.returncode, done.stdout) == (0, "timeout\n")
    assert time.monotonic() - start < 15


def test_ctrl_c_in_a_sync_call_cancels_the_body():
    done = python(
        "import asyncio, os, signal, threading, gem.aio as aio\n"
        "ended = threading.Event()\n"
        "async def body():\n"
        "    try:\n        await asyncio.sleep(3600)\n"
        "    finally:\n        ended.set()\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    aio.run(body())\n"
        "except KeyboardInterrupt:\n    print('interrupted', ended.wait(5))"
    )
    assert (done.stdout, done.stderr) == ("interrupted True\n", "")


def test_a_lane_runs_calls_in_order_on_one_thread():
    async def main():
        lane = aio.Lane("test-lane")
        seen = await asyncio.gather(*(lane.call(lambda k=k: (k, threading.current_thread().name)) for k in range(50)))
        lane.stop()
        return seen

    assert asyncio.run(main()) == [(k, "test-lane") for k in range(50)]
