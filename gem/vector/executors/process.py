"""`process`: workers of several environments each, for environments that compute.

One frame per worker and flush carries all its commands, since waking a process costs more than what is in the frame. A worker
that dies takes its own environments with it and is started again with the next command for one of them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from time import monotonic

from gem.errors import RegistrationError, WorkerDied
from gem.vector.board import Board
from gem.vector.protocol import Blueprint, Command, Lost, Report
from gem.vector.wire import BUFFER_BYTES, Inbox, frame, pack_checked, pickled_frame, tuned
from gem.vector.worker import Hello, decode, packed_command, unsent

__all__ = ["ProcessExecutor"]

# Until a worker has read its environments' modules, no deadline of theirs counts, for so long.
_START_S = 120.0


class ProcessExecutor:
    """Runs the environments in `num_workers` processes; by default one per core."""

    waiting = False

    def __init__(self, num_workers: int | None = None) -> None:
        if num_workers is not None and num_workers < 1:
            raise RegistrationError(f"num_workers must be 1 or more, not {num_workers}")
        self._num_workers = num_workers or os.cpu_count() or 1

    def start(self, blueprints: Sequence[Blueprint]) -> None:
        """Start the workers.

        Raises:
            RegistrationError: an environment can't be sent to another process.
            OSError: no worker can be started.
        """
        count = min(self._num_workers, len(blueprints))
        self._selector = selectors.DefaultSelector()
        self._bell, self._button = socket.socketpair()
        self._bell.setblocking(False)
        self._button.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, None)
        self._reports: list[Report] = []
        self._workers = [_Worker(list(range(first, len(blueprints), count)), blueprints) for first in range(count)]
        self._of = {slot: worker for worker in self._workers for slot in worker.slots}
        try:
            for worker in self._workers:
                worker.open()
                self._attend(worker)
        except BaseException:
            self.close(0.0)
            raise

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that run."""
        return [process.pid for process in [worker.process for worker in self._workers] if process is not None]

    def submit(self, commands: Sequence[Command]) -> None:
        """Send each worker its commands, in one frame."""
        by_worker: dict[_Worker, list[Command]] = {}
        for command in commands:
            by_worker.setdefault(self._of[command.slot], []).append(command)
        for worker, own in by_worker.items():
            if worker.process is None and not self._reopen(worker):
                continue
            worker.used = True
            worker.outbox += self._frame(own)
            self._write(worker)

    def _frame(self, commands: Sequence[Command]) -> bytes:
        try:
            return frame([packed_command(command) for command in commands])
        except Exception:
            return b"".join(map(self._frame_alone, commands))

    def _frame_alone(self, command: Command) -> bytes:
        try:
            return frame([packed_command(command, pack_checked)])
        except Exception as why:
            self._reports.append(unsent(command.ticket, command.slot, command.op, f"what its {command.op} is given", why))
            return b""

    def poll(self, timeout_s: float | None) -> list[Report]:
        """Return what the workers have sent; wait for the first."""
        if self._reports:
            timeout_s = 0
        self.waiting = True
        ready = self._selector.select(timeout_s)
        self.waiting = False
        for key, events in ready:
            worker = key.data
            if worker is None:
                with contextlib.suppress(BlockingIOError):
                    self._bell.recv(4096)
                continue
            if events & selectors.EVENT_WRITE:
                self._write(worker)
            if events & selectors.EVENT_READ:
                self._reports += self._read(worker)
        reports, self._reports = self._reports, []
        return reports

    def abandon(self, slot: int, error: BaseException) -> None:
        """Kill the slot's worker: nothing less stops what hangs in it."""
        worker = self._of[slot]
        if worker.process is None:  # Ctrl-C came when it had ended, before that was told
            self._reports.append(Lost(tuple(worker.slots), error))
            return
        worker.abandoned.add(slot)
        worker.process.kill()
        if worker.sock is not None and worker.sock not in self._selector.get_map():
            self._selector.register(worker.sock, selectors.EVENT_READ, worker)

    def began(self, slot: int, sent: float) -> float:
        """Return when the worker began the slot's command, by its board; now, while it runs another one or starts."""
        worker, now = self._of[slot], monotonic()
        if not worker.greeted:
            return now if now < worker.opened + _START_S else worker.opened
        began = worker.board.cells[worker.slots.index(slot)]
        if began:
            return began
        if worker.serial and worker.board.running():
            return now
        return max(sent, worker.heard)

    def wake(self) -> None:
        """Let a waiting `poll` return."""
        with contextlib.suppress(OSError):
            self._button.send(b"x")

    def disown(self) -> None:
        """Close this process's copies of the sockets and pipes, which ends nothing."""
        for worker in self._workers:
            if worker.process is not None:
                worker.process.returncode = 0  # not a child of this process: nothing to wait for
                worker.free()
        self._selector.close()
        self._bell.close()
        self._button.close()

    def close(self, timeout_s: float) -> None:
        """Hang up, and kill the workers that do not end in time."""
        end = monotonic() + timeout_s
        for worker in self._workers:
            if worker.sock is not None:
                with contextlib.suppress(OSError):
                    worker.sock.shutdown(socket.SHUT_RDWR)  # both ways: a worker that is sending does not wait for a reader
            if worker.process is not None and not worker.used:
                worker.process.kill()  # it may still be starting, and has no environment to close
        for worker in self._workers:
            worker.end(max(end - monotonic(), 0.0))
        self._selector.close()
        self._bell.close()
        self._button.close()

    def _reopen(self, worker: _Worker) -> bool:
        try:
            worker.open()
        except OSError as why:
            slots = tuple(worker.slots)
            error = WorkerDied(f"the worker of slots {_shown(slots)} can't be started: {why}")
            self._reports.append(Lost(slots, error, frozenset(slots)))
            return False
        self._attend(worker)
        return True

    def _attend(self, worker: _Worker) -> None:
        self._selector.register(worker.sock, selectors.EVENT_READ, worker)  # type: ignore[arg-type]  # it is open
        self._write(worker)

    def _write(self, worker: _Worker) -> None:
        """Send what the socket takes; the rest goes when it is writable again."""
        if worker.sock is None:
            return
        try:
            while worker.outbox:
                sent = worker.sock.send(memoryview(worker.outbox)[:BUFFER_BYTES])
                del worker.outbox[:sent]
        except BlockingIOError:
            pass
        except OSError:
            worker.outbox.clear()  # it has died, which the next read tells
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
        if events != worker.events:
            worker.events = events
            self._selector.modify(worker.sock, events, worker)

    def _read(self, worker: _Worker) -> Iterator[Report]:
        if worker.sock is None:
            return
        try:
            data = worker.sock.recv(BUFFER_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            worker.heard = monotonic()
            for message in worker.inbox.feed(data):
                if isinstance(message, list):
                    yield from map(decode, message)
                else:
                    worker.note(message)
            return
        self._selector.unregister(worker.sock)
        guilty = worker.guilty()
        code = worker.end(1.0)
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
        yield Lost(tuple(worker.slots), WorkerDied(f"the worker of slots {_shown(worker.slots)} {how}{worker.last_words}"), guilty)


class _Worker:
    """A worker process, its socket, and what waits to be sent.

    Attributes:
        greeted: It has read its environments' modules and serves.
        used: It was sent a command.
        serial: It runs one environment at a time.
        heard: When something last came from it.
        abandoned: The slots for whose sake it is killed.
        last_words: Why it ended, by itself.
    """

    def __init__(self, slots: list[int], blueprints: Sequence[Blueprint]) -> None:
        self.slots = slots
        self._blueprints = [blueprints[slot] for slot in slots]
        self.process: subprocess.Popen[bytes] | None = None
        self.sock: socket.socket | None = None

    def open(self) -> None:
        """Start the process and greet it."""
        try:
            hello = pickled_frame(Hello(self.slots, self._blueprints))
        except Exception as why:
            raise RegistrationError(
                f"the environments of slots {_shown(self.slots)} can't be sent to another process: {type(why).__name__}: {why!s:.300}. "
                f"backend='thread' runs them in this one"
            ) from why
        with contextlib.ExitStack() as undo:
            self.board = Board(len(self.slots))
            undo.callback(self.board.close)
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            with theirs:
                pipe, lifeline = os.pipe()
                undo.callback(os.close, lifeline)
                try:
                    self.process = _spawn(theirs.fileno(), pipe, self.board.fd)
                finally:
                    os.close(pipe)
            undo.pop_all()
        self._lifeline = lifeline
        self.sock = tuned(ours)
        self.sock.setblocking(False)
        self.inbox = Inbox()
        self.events = selectors.EVENT_READ
        self.outbox = bytearray(hello)
        self.greeted, self.used, self.serial, self.last_words = False, False, True, ""
        self.abandoned: set[int] = set()
        self.opened = self.heard = monotonic()

    def note(self, message: bool | bytes) -> None:
        """Take in what the worker says of itself: its way of working when it begins, and why it ends."""
        if isinstance(message, bool):
            self.greeted, self.serial = True, message
        else:
            self.last_words = f": {message.decode('utf-8', 'replace')}"

    def guilty(self) -> frozenset[int]:
        """Return the slots that may have ended it: those that it is killed for, else those that ran, else all if it never began."""
        if self.abandoned:
            return frozenset(self.abandoned)
        return frozenset(self.slots[k] for k in self.board.running()) if self.greeted else frozenset(self.slots)

    def end(self, timeout_s: float) -> int | None:
        """Wait for the process to end, kill it if it does not, and free what is left. Returns its exit code."""
        process, self.process = self.process, None
        if process is None:
            return None
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self.free()
        return code

    def free(self) -> None:
        """Close what this process holds of it."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None
        os.close(self._lifeline)
        self.board.close()


def _spawn(sock: int, lifeline: int, board: int) -> subprocess.Popen[bytes]:
    # Where gem itself is imported from may be known to this process alone, and what lies in the current folder must not come first.
    # Not by PYTHONPATH: the programs that an environment starts would inherit it.
    path = [entry for entry in sys.path if isinstance(entry, str)]
    code = f"import sys; sys.path[:] = {path!r}; from gem.vector.worker import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *map(str, (sock, lifeline, board, os.getpid()))]
    # A session of its own: Ctrl-C on the terminal, which comes while it starts too, is not for it.
    return subprocess.Popen(command, pass_fds=(sock, lifeline, board), stdin=subprocess.DEVNULL, start_new_session=True)


def _shown(slots: Sequence[int]) -> str:
    return ", ".join(map(str, slots[:8])) + (f" and {len(slots) - 8} more" if len(slots) > 8 else "")
