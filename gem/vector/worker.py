"""A worker: a process that runs the environments of some slots.

It is started with a command line of its own (`gem.vector.executors.process`), and never by a fork or an import of the caller's
program: scripts without a guard, standard input and notebooks work. It ends when the socket closes; a step that hangs then is
ended by the lifeline, a pipe that closes with its parent.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from time import monotonic, perf_counter
from typing import Any, NamedTuple, TypeAlias

from gem.core import AsyncEnv
from gem.errors import EnvError
from gem.specs import load_entry_point
from gem.vector.board import Board
from gem.vector.executors.aio import AsyncExecutor
from gem.vector.executors.sync import SyncExecutor
from gem.vector.executors.thread import ThreadExecutor
from gem.vector.host import Host
from gem.vector.protocol import Blueprint, Command, Result
from gem.vector.wire import BUFFER_BYTES, Inbox, frame, pack, pack_checked, unpack

__all__ = ["Hello", "decode", "encode", "main", "packed_command"]

# A worker that computes sends what is done at least so often, and not after every step: waking the parent costs as much as one.
_FLUSH_S = 0.001
# How often a worker looks whether its parent still lives: a process that the parent forked holds the lifeline open.
_ORPHAN_S = 0.5
_CLOSE_S = 2.0

Inner: TypeAlias = SyncExecutor | ThreadExecutor | AsyncExecutor


class Hello(NamedTuple):
    """The first message: what to run."""

    slots: list[int]
    blueprints: list[Blueprint]


def packed_command(command: Command, form: Any = pack) -> list[Any]:
    """Return the row of a frame that stands for a command."""
    data = [form(item) for item in command.data] if command.op == "reset" else form(command.data)
    return [command.ticket, command.slot, command.op, data]


def _command(row: Sequence[Any]) -> Command:
    ticket, slot, op, data = row
    return Command(ticket, slot, op, tuple(map(unpack, data)) if op == "reset" else unpack(data))


def encode(results: Sequence[Result]) -> bytes:
    """Return the frame of some results; one that can't be sent becomes a fault of its own slot."""
    try:
        return frame([_packed(result, pack) for result in results])
    except Exception:
        return b"".join(map(_encoded_alone, results))


def _encoded_alone(result: Result) -> bytes:
    try:
        return frame([_packed(result, pack_checked)])
    except Exception as why:
        return frame([_packed(unsent(result.ticket, result.slot, result.op, f"what its {result.op} returned", why), pack_checked)])


def _packed(result: Result, form: Any) -> list[Any]:
    data = result.data
    if result.op == "step" and data is not None:
        data = [form(data[0]), *data[1:4], form(data[4])]
    elif result.op == "reset" and data is not None:
        data = [form(item) for item in data]
    else:
        data = form(data)
    error = result.error
    return [result.ticket, result.slot, result.op, result.elapsed_s, result.broken, data, None if error is None else form(error)]


def decode(row: Sequence[Any]) -> Result:
    """Return the result that `encode` put into a frame; one that can't be read becomes a fault of its own slot."""
    ticket, slot, op, elapsed_s, broken, data, error = row
    try:
        if op == "call" or data is None:
            data = unpack(data)
        elif op == "step":
            data = (unpack(data[0]), data[1], data[2], data[3], unpack(data[4]))
        else:
            data = (unpack(data[0]), unpack(data[1]))
        return Result(ticket, slot, op, data, elapsed_s, broken, None if error is None else unpack(error))
    except Exception as why:
        return unsent(ticket, slot, op, f"what its {op} returned", why)


def unsent(ticket: int, slot: int, op: Any, what: str, why: Exception) -> Result:
    """Return the result of a command of which something could not travel."""
    error = EnvError(f"slot {slot}: {what} can't be sent to another process: {type(why).__name__}: {why!s:.200}")
    return Result(ticket, slot, op, None, 0.0, True, error)


class _HungUp(Exception):
    """The parent has closed the socket."""


class Worker:
    """Reads commands from a socket and answers them."""

    def __init__(self, sock: socket.socket, board_fd: int) -> None:
        self._sock = sock
        self._board_fd = board_fd
        self._inbox = Inbox()
        self._sending = threading.Lock()

    def run(self) -> None:
        """Serve until the parent hangs up."""
        executor: Inner | None = None
        with contextlib.suppress(_HungUp):
            while data := self._receive():
                for message in self._inbox.feed(data):
                    if executor is None:
                        executor = self._started(Hello(*message))
                    else:
                        self._serve(executor, message)
        if executor is not None:
            executor.close(_CLOSE_S)

    def complain(self, error: BaseException) -> None:
        """Tell the parent why this worker ends."""
        with contextlib.suppress(OSError):
            self._sock.sendall(frame(f"{type(error).__name__}: {error!s:.500}".encode("utf-8", "replace")))

    def _started(self, hello: Hello) -> Inner:
        executor = _executor(hello)
        board = Board(len(hello.slots), self._board_fd)
        places = {slot: k for k, slot in enumerate(hello.slots)}
        executor.start(hello.blueprints, hello.slots, lambda slot, blueprint: _Noted(slot, blueprint, board, places[slot]))
        if not isinstance(executor, SyncExecutor):
            threading.Thread(target=self._forward, args=(executor,), daemon=True).start()
        self._send(frame(isinstance(executor, SyncExecutor)))
        return executor

    def _serve(self, executor: Inner, rows: Sequence[Sequence[Any]]) -> None:
        commands = []
        for row in rows:
            try:
                commands.append(_command(row))
            except Exception as why:
                self._send(encode([unsent(row[0], row[1], row[2], f"what its {row[2]} was given", why)]))
        if isinstance(executor, SyncExecutor):
            self._compute(executor, commands)
        else:
            executor.submit(commands)

    def _compute(self, executor: SyncExecutor, commands: Sequence[Command]) -> None:
        done: list[Result] = []
        sent = perf_counter()
        for command in commands:
            executor.submit([command])
            done += [report for report in executor.poll(0) if isinstance(report, Result)]
            if perf_counter() - sent > _FLUSH_S:
                self._send(encode(done))
                done, sent = [], perf_counter()
        if done:
            self._send(encode(done))

    def _forward(self, executor: ThreadExecutor | AsyncExecutor) -> None:
        while True:
            results = [report for report in executor.poll(None) if isinstance(report, Result)]
            if results:
                try:
                    self._send(encode(results))
                except _HungUp:
                    return

    def _receive(self) -> bytes:
        try:
            return self._sock.recv(BUFFER_BYTES)
        except OSError:
            raise _HungUp from None

    def _send(self, data: bytes) -> None:
        with self._sending:
            try:
                self._sock.sendall(data)
            except OSError:
                raise _HungUp from None


class _Noted(Host):
    """A host that notes on the board what it runs."""

    def __init__(self, slot: int, blueprint: Blueprint, board: Board, place: int) -> None:
        super().__init__(slot, blueprint)
        self._cells, self._place = board.cells, place

    def run(self, command: Command) -> Result:
        self._cells[self._place] = monotonic()
        start = perf_counter()
        try:
            return super().run(command)
        except KeyboardInterrupt as error:  # nobody can press Ctrl-C here: the environment raised it
            return self.failed(command, error, start)
        finally:
            self._cells[self._place] = 0.0

    async def arun(self, command: Command) -> Result:
        self._cells[self._place] = monotonic()
        try:
            return await super().arun(command)
        finally:
            self._cells[self._place] = 0.0


def _executor(hello: Hello) -> Inner:
    """Return the executor that fits what the environments wait for."""
    rows = [source for blueprint in hello.blueprints for source in blueprint.sources]
    if any(_is_async(row.entry_point) for row in rows):
        return AsyncExecutor()
    return ThreadExecutor() if any(row.info.blocking == "io" for row in rows) else SyncExecutor()


def _is_async(entry_point: Any) -> bool:
    try:
        target = load_entry_point(entry_point)
    except Exception:  # the reset of its slot says so
        return False
    return isinstance(target, type) and issubclass(target, AsyncEnv)


def _die_with(lifeline: int, parent: int) -> None:
    """End the process with its parent, whatever the other threads do."""
    while not select.select([lifeline], [], [], _ORPHAN_S)[0] and os.getppid() == parent:
        pass
    os._exit(1)


def main(argv: Sequence[str]) -> None:
    """Serve the socket, watch the pipe and the parent, and note on the memory, whose numbers are given."""
    sock, lifeline, board, parent = map(int, argv)
    # Ctrl-C is the parent's to handle. Not SIG_IGN, which the programs that an environment starts would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=_die_with, args=(lifeline, parent), daemon=True).start()
    worker = Worker(socket.socket(fileno=sock), board)
    code = 0
    try:
        worker.run()
    except BaseException as error:
        worker.complain(error)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)  # threads of environments that hang must not keep it
