"""The home loop: one daemon thread per process on which all asynchronous bodies run.

Sync callers enter through `run`, coroutines of any other loop through `hop`. The loop is made on first use, made anew after a
fork, and stopped at exit. `Lane` is the other way round: one thread that runs one environment's sync methods in order.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from gem.errors import ContractError

__all__ = ["Lane", "home_loop", "hop", "on_home_loop", "run"]

T = TypeVar("T")
_EXIT_JOIN_S = 2.0


class _Home:
    """The loop and its thread, or nothing yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None


_home = _Home()


def _forget() -> None:
    # In a forked child the loop's thread does not exist, and the lock may have been held.
    global _home
    _home = _Home()


os.register_at_fork(after_in_child=_forget)


def _serve(loop: asyncio.AbstractEventLoop, started: threading.Event) -> None:
    asyncio.set_event_loop(loop)
    loop.call_soon(started.set)
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


@atexit.register
def _stop() -> None:
    loop, thread = _home.loop, _home.thread
    if loop is None or thread is None or threading.current_thread() is thread:
        return
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_EXIT_JOIN_S)


def home_loop() -> asyncio.AbstractEventLoop:
    """Return the process's home loop, started."""
    home = _home
    with home.lock:
        if home.loop is None:
            started = threading.Event()
            home.loop = asyncio.new_event_loop()
            home.thread = threading.Thread(target=_serve, args=(home.loop, started), name="gem-loop", daemon=True)
            home.thread.start()
            started.wait()
        return home.loop


def on_home_loop() -> bool:
    """Say whether the calling thread is the home loop's."""
    return threading.current_thread() is _home.thread


def run(coro: Coroutine[Any, Any, T]) -> T:
    """Run `coro` on the home loop and wait for its result.

    Raises:
        ContractError: called on the home loop itself, where waiting would never end.
    """
    if on_home_loop():
        coro.close()
        raise ContractError(
            "a sync call of an async environment on gem's home loop would wait for itself: await areset, astep or aclose instead"
        )
    future = asyncio.run_coroutine_threadsafe(coro, home_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C in the caller must not leave the coroutine running; a no-op if it has ended
        raise


async def hop(coro: Coroutine[Any, Any, T]) -> T:
    """Await `coro` on the home loop, whichever loop the caller runs on."""
    if on_home_loop():
        return await coro
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coro, home_loop()))


class Lane:
    """Runs calls one after the other on a thread of its own, so that what they touch stays on one thread.

    The thread is a daemon and not `concurrent.futures`': a hung step must not keep the interpreter from exiting. It ends with
    `stop`, or when the lane is garbage.
    """

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._pid = os.getpid()
        threading.Thread(target=_work, args=(self._calls,), name=name, daemon=True).start()

    @property
    def alive(self) -> bool:
        """False in a forked child, where the thread does not exist."""
        return self._pid == os.getpid()

    async def call(self, fn: Callable[..., T], *args: Any) -> T:
        """Run `fn(*args)` on the lane and await its result."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args))
            except StopIteration as error:  # no future can carry one: whoever awaits it would wait for ever
                why = RuntimeError(f"{getattr(fn, '__qualname__', fn)} raised StopIteration")
                why.__cause__ = error
                future.set_exception(why)
            except BaseException as error:
                future.set_exception(error)

        self._calls.put(work)
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """End the thread after the calls that wait."""
        self._calls.put(None)

    def __del__(self) -> None:
        self._calls.put(None)


def _work(calls: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (call := calls.get()) is not None:
        call()
        del call  # it holds the environment, which may be waiting to be freed
