"""`Engine`: what happens to the slots of a vector; `gem.vector.env` is what callers see of it.

It turns commands into tickets, reports into rows, and takes care of what goes wrong in between: late commands, lost
environments, restarts with pauses, the next episode after an end. It is used by one thread at a time.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, TypeAlias

from gem.errors import EnvCrashed, EnvError, StepTimeout, WorkerDied
from gem.events import emit
from gem.faults import fault_reset, fault_step
from gem.vector.batch import Row
from gem.vector.feed import Episode, Feed
from gem.vector.limits import Cancelled, Limits
from gem.vector.protocol import Command, Executor, Lost, Result, tellable
from gem.vector.restarts import Restarts
from gem.vector.slots import Slot, Status
from gem.vector.stats import Meter, told

__all__ = ["Autoreset", "Engine"]

Autoreset: TypeAlias = Literal["same_step", "next_step", "disabled"]
_UNFINISHED = (Status.READY, Status.BUSY, Status.QUEUED, Status.LOST)
_LONGEST_WAIT_S = 3600.0  # the system's own waits end somewhere


class Engine:
    """Keeps the slots going."""

    def __init__(self, executor: Executor, feed: Feed, names: Sequence[Sequence[str]], autoreset: Autoreset, limits: Limits) -> None:
        self.executor, self.feed, self.autoreset = executor, feed, autoreset
        self.slots = [Slot(number) for number in range(len(names))]
        self.rows: deque[Row] = deque()
        self.meter = Meter()
        self._names, self._limits = names, limits
        self._restarts = Restarts(len(names), limits.max_restarts)
        self._queue: deque[tuple[Slot, Episode]] = deque()
        self._outbox: list[Command] = []
        self._resetting = 0
        self._in_flight = 0
        self._timed = False  # whether any command has had a limit
        self._failure: Exception | None = None
        self.torn = False  # something is half done

    # -- commands ------------------------------------------------------------------------------------------------------

    def step(self, slot: Slot, action: Any) -> None:
        """Begin a step of a slot that is ready; `flush` sends it."""
        if slot.status is Status.READY:
            self._begin(slot, "step", action, self._limits.step_timeout)
        elif slot.status is Status.LOST:
            self._tell_lost(slot)
        else:
            slot.check("step")
            self.next_episode(slot)

    def reset(self, slot: Slot, episode: Episode) -> None:
        """Begin an episode in a slot that does nothing else."""
        slot.check("reset")
        self._put_in_queue(slot, episode, 0.0)

    def leave(self, slot: Slot) -> None:
        """Note the turns of an episode that the caller gives up."""
        if slot.turns:
            self.feed.played(slot.number, slot.turns)
            slot.turns = 0

    def next_episode(self, slot: Slot, delay: float = 0.0) -> None:
        """Begin what the feed has for a slot, or tell that there is nothing left."""
        try:
            episode = self.feed.next(slot.number)
        except Exception as error:  # of the caller's tasks: raised when everything else is in order
            episode, self._failure = None, error
        if episode is None:
            slot.status, slot.episode = Status.EXHAUSTED, None
            self.rows.append(Row(slot.number, -1, slot.last_obs, 0.0, False, False, {"exhausted": True}, "reset", False))
        else:
            self._put_in_queue(slot, episode, delay)

    def call(self, slot: Slot, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], timeout_s: float | None) -> None:
        """Begin a call of a method of a slot's environment."""
        slot.check("call")
        slot.before = slot.status
        self._begin(slot, "call", (name, args, dict(kwargs)), timeout_s)

    def cancel(self, slot: Slot) -> None:
        """Give the command up that is under way in a slot, if there is one; a reset that has not begun, too."""
        error = Cancelled(f"slot {slot.number}: its {slot.op} was cancelled")
        if slot.status is Status.BUSY:
            self._give_up(slot, error)
        elif slot.status is Status.QUEUED:
            self._queue = deque(item for item in self._queue if item[0] is not slot)
            self._in_flight -= 1
            self._was_reset(slot, fault_reset(_empty(slot), Cancelled(f"slot {slot.number}: its reset was cancelled")), blame=False)

    def _give_up(self, slot: Slot, error: BaseException) -> None:
        """Abandon a command: its result is stale from now on, and the next poll tells that the environment is gone."""
        if slot.error is None:
            slot.error = error
            slot.ticket += 1
            slot.deadline = None
            self.executor.abandon(slot.number, error)

    def _begin(self, slot: Slot, op: Any, data: Any, timeout_s: float | None) -> None:
        slot.ticket += 1
        slot.op, slot.status, slot.error = op, Status.BUSY, None
        if timeout_s is not None:
            self._timed = True
            slot.sent, slot.limit_s = monotonic(), timeout_s
            slot.deadline = slot.sent + timeout_s
        self._in_flight += 1
        self._outbox.append(Command(slot.ticket, slot.number, op, data))

    def _put_in_queue(self, slot: Slot, episode: Episode, delay: float) -> None:
        slot.status, slot.episode, slot.turns, slot.error = Status.QUEUED, episode, 0, None
        slot.due = monotonic() + delay if delay else 0.0
        self._in_flight += 1
        self._queue.append((slot, episode))

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """Begin commands inside; they are sent at its end. What Ctrl-C interrupts is put in order by the next `pump`."""
        if self.torn:
            self._mend()
        self.torn = True
        yield
        self.flush()
        self.torn = False

    def flush(self) -> None:
        """Send what was begun, and the resets whose turn it is."""
        if self._queue:
            self._start_resets()
        if self._outbox:
            commands, self._outbox = self._outbox, []
            self.executor.submit(commands)

    def _start_resets(self) -> None:
        now = monotonic()
        for _ in range(len(self._queue)):
            slot, episode = self._queue.popleft()
            if slot.due > now or self._resetting >= self._limits.max_resets:
                self._queue.append((slot, episode))
                continue
            self._resetting += 1
            self._in_flight -= 1  # as a queued one; `_begin` counts it again
            self.meter.sources[self._names[slot.number][episode.source]] += 1
            self._begin(slot, "reset", (episode.source, episode.seed, episode.options), self._limits.reset_timeout)

    def unfinished(self) -> dict[int, Episode]:
        """Return the episodes that were begun and have not ended, by slot."""
        return {slot.number: slot.episode for slot in self.slots if slot.episode is not None and slot.status in _UNFINISHED}

    # -- reports -------------------------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """How many rows are on their way."""
        return self._in_flight

    def pump(self, timeout_s: float | None) -> None:
        """Send what waits, and take in what has happened; wait for it up to `timeout_s` seconds.

        Raises:
            Exception: what the caller's tasks raised.
        """
        if self.torn:
            self._mend()
        self.torn = True
        self.flush()
        for report in self.executor.poll(self._patience(timeout_s)):
            if isinstance(report, Lost):
                for number in report.slots:
                    self._lose(self.slots[number], report.error, number in report.guilty)
            else:
                self._take(report)
        if self._timed:
            self._expire()
        self.flush()
        self.torn = False
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _mend(self) -> None:
        """Give up what is under way where Ctrl-C came in the middle of something; in a mere wait it does no harm."""
        self.torn = False
        if self.executor.waiting:
            self.executor.waiting = False
            return
        self._outbox.clear()
        self._queue = deque((slot, slot.episode) for slot in self.slots if slot.status is Status.QUEUED and slot.episode is not None)
        busy = [slot for slot in self.slots if slot.status is Status.BUSY]
        self._in_flight = len(busy) + len(self._queue)
        self._resetting = sum(slot.op == "reset" for slot in busy)
        for slot in busy:
            slot.error = None
            self._give_up(slot, Cancelled(f"slot {slot.number}: its {slot.op} was interrupted"))

    def _patience(self, timeout_s: float | None) -> float | None:
        """Return how long to wait at most: till the caller's end, the next deadline, or the next restart."""
        wait = _LONGEST_WAIT_S if timeout_s is None else min(timeout_s, _LONGEST_WAIT_S)
        if wait == 0 or not (self._timed or self._queue):
            return wait
        ends = [slot.deadline for slot in self.slots if slot.deadline is not None] + [slot.due for slot, _ in self._queue if slot.due]
        return min(wait, max(min(ends) - monotonic(), 0.0)) if ends else wait

    def _expire(self) -> None:
        now = monotonic()
        for slot in self.slots:
            if slot.deadline is None or slot.deadline > now or slot.status is not Status.BUSY:
                continue
            deadline = self.executor.began(slot.number, slot.sent) + slot.limit_s
            if deadline > now:
                slot.deadline = deadline
                continue
            self.meter.counts["timeouts"] += 1
            self._give_up(slot, StepTimeout(f"slot {slot.number} ({self._name(slot)}): its {slot.op} took longer than {slot.limit_s} s"))

    def _take(self, result: Result) -> None:
        slot = self.slots[result.slot]
        if result.ticket != slot.ticket or slot.status is not Status.BUSY:
            self.meter.counts["stale"] += 1
            return
        slot.deadline = None
        self._in_flight -= 1
        error = result.error  # of a step or reset: it could not travel
        if result.op == "step":
            self.meter.times.append(result.elapsed_s)
            self._stepped(slot, result.data if error is None else fault_step(slot.last_obs, error))
        elif result.op == "reset":
            self._resetting -= 1
            self._was_reset(slot, result.data if error is None else fault_reset(_empty(slot), error))
        else:
            self._was_called(slot, result)

    def _stepped(self, slot: Slot, data: Any, blame: bool = True) -> None:
        obs, reward, terminated, truncated, info = data
        slot.turns += 1
        slot.last_obs = obs
        self.meter.counts["steps"] += 1
        assert slot.episode is not None
        info = self._with_source(slot, info)
        if not (terminated or truncated):
            slot.status = Status.READY
            self.rows.append(Row(slot.number, slot.episode.id, obs, reward, terminated, truncated, info, "step", True))
            return
        self._end(slot, Row(slot.number, slot.episode.id, obs, reward, terminated, truncated, info, "step", False), blame)

    def _end(self, slot: Slot, row: Row, blame: bool) -> None:
        """Append the last row of an episode, and begin the next where that is asked for."""
        self.feed.played(slot.number, slot.turns)
        slot.turns = 0
        delay: float | None = 0.0
        if "error" in row.info:
            delay = self._restarts.next_delay(slot.number) if blame else 0.0
            self.meter.counts["restarts"] += delay is not None
            self._note_fault(slot, row.info)
        else:
            self._restarts.sound(slot.number)
            self.meter.counts["episodes"] += 1
        if delay is None:
            self.rows.append(row)
            self._die(slot)
        elif self.autoreset == "same_step":
            self.rows.append(row)
            self.next_episode(slot, delay)
        else:
            slot.status = Status.ENDED if self.autoreset == "next_step" else Status.IDLE
            self.rows.append(row._replace(actionable=slot.status is Status.ENDED))

    def _was_reset(self, slot: Slot, data: Any, blame: bool = True) -> None:
        obs, info = data
        self.meter.counts["resets"] += 1
        assert slot.episode is not None
        info = self._with_source(slot, info)
        if "error" not in info:
            slot.status, slot.last_obs = Status.READY, obs
            self.rows.append(Row(slot.number, slot.episode.id, obs, 0.0, False, False, info, "reset", True))
            return
        self._end(slot, Row(slot.number, slot.episode.id, obs, 0.0, False, True, info, "reset", False), blame)

    def _was_called(self, slot: Slot, result: Result) -> None:
        self.meter.counts["calls"] += 1
        slot.status = slot.before
        info = {"value": result.data}
        if result.error is not None:
            info = {"error": fault_step("", tellable(result.error))[4]["error"], "exception": result.error}
        id = slot.episode.id if slot.episode is not None else -1
        self.rows.append(Row(slot.number, id, slot.last_obs, 0.0, False, False, info, "call", slot.status is Status.READY))

    def _lose(self, slot: Slot, error: BaseException, blame: bool) -> None:
        """Take in that a slot's environment is gone: at once where a command was under way, else with its next command."""
        if slot.error is not None:
            error, slot.error = slot.error, None
            blame = not isinstance(error, Cancelled)
        if slot.status is Status.BUSY:
            op = slot.op
            slot.ticket += 1  # whatever still comes is stale
            slot.deadline = None
            self._in_flight -= 1
            if op == "reset":
                self._resetting -= 1
                self._was_reset(slot, fault_reset(_empty(slot), error), blame)
            elif op == "call":
                if slot.before is Status.READY:
                    slot.before, slot.error = Status.LOST, error
                self._was_called(slot, Result(slot.ticket, slot.number, "call", None, error=error))
            else:
                self._stepped(slot, fault_step(slot.last_obs, error, "worker" if isinstance(error, WorkerDied) else "step"), blame)
        elif slot.status is Status.READY:
            slot.status, slot.error = Status.LOST, error

    def _tell_lost(self, slot: Slot) -> None:
        error, slot.error = slot.error or EnvError(f"slot {slot.number}: its environment is gone"), None
        self._stepped(slot, fault_step(slot.last_obs, error, "worker"), blame=False)

    def _die(self, slot: Slot) -> None:
        slot.status = Status.DEAD
        error = EnvCrashed(f"slot {slot.number} ({self._name(slot)}) failed {self._limits.max_restarts + 1} times in a row and is given up")
        emit("slot.dead", slot=slot.number, message=str(error))

    def _note_fault(self, slot: Slot, info: Mapping[str, Any]) -> None:
        self.meter.fault(info)
        error = told(info)
        emit("fault", env_id=self._name(slot), slot=slot.number, **{key: error[key] for key in ("phase", "type", "message")})

    def _name(self, slot: Slot) -> str:
        return self._names[slot.number][slot.episode.source if slot.episode is not None else 0]

    def _with_source(self, slot: Slot, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "source": self._name(slot)} if len(self._names[slot.number]) > 1 else info


def _empty(slot: Slot) -> Any:
    return [] if isinstance(slot.last_obs, list) else ""
