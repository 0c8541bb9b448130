"""`VectorEnv`: many environments at once, in lock-step or first-ready."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, TypeVar

from gem.errors import ContractError
from gem.spaces import Text
from gem.specs import EnvSpec
from gem.vector.batch import Batch, Row
from gem.vector.engine import Engine
from gem.vector.lockstep import STILL, is_fault, raise_fault, still_row
from gem.vector.receiving import NothingInFlight, Receiver
from gem.vector.selection import chosen_slots, resets, slots_of
from gem.vector.slots import Status
from gem.vector.stats import VectorStats
from gem.vector.summary import summary
from gem.vector.turn import Turn
from gem.vector.waiting import Waiter

__all__ = ["NothingInFlight", "VectorEnv"]

ObsT = TypeVar("ObsT", default=str)
ActT = TypeVar("ActT", default=str)
Steps = tuple[list[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], list[dict[str, Any]]]


class VectorEnv(Generic[ObsT, ActT]):
    """Environments in slots 0 to `num_envs - 1`; `gem.make_vec` builds it.

    Lock-step: `reset` and `step` wait for all. First-ready: `send` and `send_reset` begin, `recv` returns what is done first.
    A fault ends the episode of its slot alone (`info["error"]`), and the slot goes on with the next. One thread receives at a
    time; all else may come from any, also meanwhile.

    Attributes:
        num_envs: How many slots.
        batch_size: How many rows `recv` waits for by default.
        backend: Name of the executor.
        autoreset: `same_step`, `next_step` or `disabled`.
        specs: Spec of each slot's environment; None where a mixture fills it.
    """

    single_observation_space = Text()
    single_action_space = Text()

    def __init__(self, engine: Engine, *, backend: str, specs: Sequence[EnvSpec | None], batch_size: int, raise_errors: bool) -> None:
        self.num_envs, self.batch_size, self.backend, self.specs = len(specs), batch_size, backend, tuple(specs)
        self.autoreset = engine.autoreset
        self._engine = engine
        self._raise_errors = raise_errors
        self._closing = threading.Lock()
        self._turn = Turn(engine.executor.wake)
        self._waiter = Waiter(engine.executor.wake)
        self._receiver = Receiver(engine, self._turn, raise_errors)

    # -- lock-step -----------------------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        slots: Sequence[int] | None = None,
    ) -> tuple[list[ObsT], list[dict[str, Any]]]:
        """Begin an episode in all slots, or in some, and wait for them.

        Args:
            seed: A number seeds the vector anew: every episode of every slot follows from it. A sequence gives each slot the
                seed of this one episode.
            options: Reset options, the same for all or one per slot.
            slots: Which; by default all but those that failed too often.

        Returns:
            Observations and infos, in the order of `slots`.

        Raises:
            ContractError: rows wait or are under way, a slot is unknown or can't be reset.
        """
        self._begin_reset(seed=seed, options=options, slots=slots)
        return self._were_reset(chosen_slots(slots, self.num_envs))

    def _begin_reset(self, stop: threading.Event | None = None, **given: Any) -> None:
        self._check_lock_step("reset")
        self.send_reset(**given)
        self._receiver.wait_for_all(stop)

    def _were_reset(self, chosen: Sequence[int]) -> tuple[list[ObsT], list[dict[str, Any]]]:
        rows = self._receiver.take_by_slot()
        found = [rows[number] if number in rows else self._still_row(number) for number in chosen]
        return [row.obs for row in found], [row.info for row in found]

    def step(self, actions: Sequence[ActT] | Mapping[int, ActT]) -> Steps:
        """Take an action in each slot, or in those of a mapping, and wait for all.

        With autoreset `same_step`, an ended slot returns the first observation of its next episode; the reward and flags are of
        the ended one, whose observation and info are `info["final_obs"]` and `info["final_info"]`. A slot whose tasks are used
        up takes its action for nothing and says `info["exhausted"]`, one that failed too often says `info["error"]`.

        Returns:
            Observations, rewards, terminated, truncated and infos, in the order of the slots (of the mapping).

        Raises:
            ContractError: rows wait or are under way, the number of actions is not that of the slots, or a slot can't take one.
        """
        self._begin_step(actions)
        return self._were_stepped(slots_of(actions, None, self.num_envs))

    def _begin_step(self, actions: Sequence[ActT] | Mapping[int, ActT], stop: threading.Event | None = None) -> None:
        self._check_lock_step("step")
        self.send(actions, skip_exhausted=True)
        self._receiver.wait_for_all(stop)

    def _were_stepped(self, chosen: Sequence[int]) -> Steps:
        rows = self._receiver.take_by_slot()
        return Batch.of([rows[number] if number in rows else self._still_row(number) for number in chosen]).unzip()

    def _still_row(self, number: int) -> Row:
        row = still_row(self._engine.slots[number])
        if self._raise_errors and is_fault(row):
            raise_fault(row)
        return row

    def _check_lock_step(self, what: str) -> None:
        self._turn.check_open()
        if self._engine.rows or self._engine.in_flight:
            raise ContractError(
                f"{what} while {self._engine.in_flight} commands are under way and {len(self._engine.rows)} rows wait: recv them first"
            )

    # -- first-ready ---------------------------------------------------------------------------------------------------

    def send(
        self, actions: Sequence[ActT] | Mapping[int, ActT], slots: Sequence[int] | None = None, *, skip_exhausted: bool = False
    ) -> None:
        """Begin a step in each slot of `actions`; `recv` returns the rows.

        Args:
            actions: By slot, or a sequence that goes with `slots` (all by default).
            slots: Which slots the sequence is for.
            skip_exhausted: Pass over slots whose tasks are used up, and over those that failed too often.

        Raises:
            ContractError: an action too many or too few, a slot twice, or one that can't take an action. Nothing is begun then.
        """
        with self._turn:
            self._turn.check_open()
            chosen = slots_of(actions, slots, self.num_envs)
            values = actions.values() if isinstance(actions, Mapping) else actions
            begun = [(self._engine.slots[number], action) for number, action in zip(chosen, values, strict=True)]
            if skip_exhausted:
                begun = [(slot, action) for slot, action in begun if slot.status not in STILL]
            for slot, _ in begun:
                if slot.status is not Status.READY:
                    slot.check("step")
            with self._engine.whole():
                for slot, action in begun:
                    self._engine.step(slot, action)

    def send_reset(
        self,
        slots: Sequence[int] | None = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
    ) -> None:
        """Begin an episode in some slots; `recv` returns the rows. See `reset`.

        Raises:
            ContractError: a slot is unknown, busy or failed too often, or a seed is none. Nothing is begun then.
        """
        with self._turn:
            self._turn.check_open()
            anew, wanted = resets(slots, seed, options, self.num_envs)
            begun = [(self._engine.slots[number], own_seed, own_options) for number, own_seed, own_options in wanted]
            if slots is None:
                begun = [row for row in begun if row[0].status is not Status.DEAD]
            for slot, _, _ in begun:
                slot.check("reset")
            with self._engine.whole():
                if anew is not None:
                    self._engine.feed.reseed(anew)
                for slot, own_seed, own_options in begun:
                    self._engine.leave(slot)
                    if own_seed is None and own_options is None:
                        self._engine.next_episode(slot)
                    else:
                        self._engine.reset(slot, self._engine.feed.own(slot.number, own_seed, own_options))

    def recv(self, min_size: int | None = None, max_size: int | None = None, timeout: float | None = None) -> Batch:
        """Return rows that are done, first come first.

        Args:
            min_size: Wait for that many rows, or for as many as can come; `batch_size` by default.
            max_size: Return no more than that; the rest waits for the next call.
            timeout: Seconds to wait at most; then what there is is returned, an empty batch too.

        Raises:
            NothingInFlight: no row waits and none is under way.
            ContractError: the vector is closed.
        """
        self._receiver.wait(self.batch_size if min_size is None else min_size, timeout)
        return self._receiver.take(max_size)

    # -- async twins ---------------------------------------------------------------------------------------------------

    async def areset(self, **options: Any) -> tuple[list[ObsT], list[dict[str, Any]]]:
        """Begin an episode in all slots and await them; see `reset`. A cancelled call leaves its rows to `recv`."""
        await self._waiter.run(lambda stop: self._begin_reset(stop, **options))
        return self._were_reset(chosen_slots(options.get("slots"), self.num_envs))

    async def astep(self, actions: Sequence[ActT] | Mapping[int, ActT]) -> Steps:
        """Take an action in each slot and await all; see `step`. A cancelled call leaves its rows to `recv`."""
        await self._waiter.run(lambda stop: self._begin_step(actions, stop))
        return self._were_stepped(slots_of(actions, None, self.num_envs))

    async def arecv(self, min_size: int | None = None, max_size: int | None = None, timeout: float | None = None) -> Batch:
        """Await rows; see `recv`. Rows are taken only when it returns: a cancelled call loses none."""
        await self._waiter.run(lambda stop: self._receiver.wait(self.batch_size if min_size is None else min_size, timeout, stop))
        return self._receiver.take(max_size)

    # -- the rest ------------------------------------------------------------------------------------------------------

    def call(self, name: str, *args: Any, slots: Sequence[int] | None = None, timeout: float | None = None, **kwargs: Any) -> list[Any]:
        """Call a method of the environments of some slots and return what it returns, in their order.

        Raises:
            ContractError: a slot is busy or has no environment yet.
            Exception: what the method raised in the first slot where it did.
        """
        self._check_lock_step("call")
        chosen = chosen_slots(slots, self.num_envs)
        with self._turn:
            for number in chosen:
                self._engine.slots[number].check("call")
            with self._engine.whole():
                for number in chosen:
                    self._engine.call(self._engine.slots[number], name, args, kwargs, timeout)
        self._receiver.wait_for_all()
        rows = self._receiver.take_by_slot()
        for number in chosen:
            if "exception" in rows[number].info:
                raise rows[number].info["exception"]
        return [rows[number].info["value"] for number in chosen]

    def cancel(self, slots: Sequence[int]) -> None:
        """Give up what is under way in some slots: their episodes are truncated with the error `Cancelled`.

        With `process`, this ends the worker, and with it the episodes of the worker's other slots.
        """
        chosen = chosen_slots(slots, self.num_envs)
        with self._turn:
            if not self._turn.closed:
                for number in chosen:
                    self._engine.cancel(self._engine.slots[number])

    def stats(self) -> VectorStats:
        """Return counts, latencies, and what the slots do."""
        return summary(self._engine)

    def state_dict(self) -> dict[str, Any]:
        """Return what a vector of the same environments needs to go on with the same tasks and seeds, in JSON values.

        Episodes that were begun and not finished are played again from their beginning.
        """
        with self._turn:
            return self._engine.feed.state_dict(self._engine.unfinished())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken; call it before the first reset."""
        self._check_lock_step("load_state_dict")
        self._engine.feed.load_state_dict(state)

    def close(self, timeout: float = 5.0) -> None:
        """Close all environments, and wait for that up to `timeout` seconds; calling it again does nothing. From any thread."""
        with self._closing:
            if self._turn.closed:
                return
            self._turn.closed = True
        if self._turn.forked:
            self._engine.executor.disown()
            return
        self._engine.executor.wake()
        held = self._turn.take(timeout)
        try:
            self._engine.executor.close(timeout)
        finally:
            if held:
                self._turn.give()
            self._waiter.close()

    def __del__(self) -> None:
        # At exit the workers see their sockets close, and threads can't be waited for any more.
        if "_receiver" in self.__dict__ and not sys.is_finalizing():
            with contextlib.suppress(Exception):
                self.close(1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.num_envs

    def __repr__(self) -> str:
        return (
            f"<VectorEnv {self.num_envs} x {', '.join(sorted({spec.id if spec else 'mixture' for spec in self.specs}))} ({self.backend})>"
        )
