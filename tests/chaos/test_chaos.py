"""A soak: random faults over first-ready play, and a ledger of every step against which each row is held.

Every environment writes what it did to a file. Afterwards each sound row must be in the ledger once, each line of the ledger must
be a sound row or belong to a step that a fault took, and each fault must be one that the test made.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import gem
from gem.envs import registration
from gem.seeding import derive
from gem.vector import make_vec
from tests.chaos import envs
from tests.vector.watch import alive, descriptors, slot_threads, until, zombies

ROOT, SLOTS, WORKERS = 20, 12, 3
STEP_S = 1.0  # the limit of a step
DEADLINE_S = 100.0  # for 200 faults

# What happens with a step, by weight; `kill`, `stop` and `cancel` come from outside.
PLANS = {
    "sync": {"raise": 4, "badtext": 2, "late": 4, "cancel": 4},
    "thread": {"raise": 4, "badtext": 2, "late": 4, "cancel": 4, "hang": 1},
    "async": {"raise": 4, "badtext": 2, "late": 4, "cancel": 4, "hang": 1},
    "process": {"raise": 40, "badtext": 20, "late": 40, "unpicklable": 40, "cancel": 5, "hang": 2, "exit": 6, "kill": 12, "stop": 2},
}
TYPES = {
    "raise": "RuntimeError",
    "late": "RuntimeError",
    "badtext": "EnvCrashed",
    "unpicklable": "EnvError",
    "exit": "WorkerDied",
    "hang": "StepTimeout",
}


class Soak:
    """Plays, makes faults, and holds what comes back against what it did."""

    def __init__(self, vec, backend, faults):
        self.vec, self.backend, self.wanted = vec, backend, faults
        self.rng = random.Random(f"chaos {backend} {faults}")
        self.faults = Counter()
        self.seeds, self.turns, self.sent, self.since = {}, {}, {}, {}
        self.reasons = {slot: [] for slot in range(SLOTS)}  # [(type of error, time)] that a fault of the slot may have
        self.sound, self.lost = [], set()
        self.unexplained = []

    def run(self):
        end = time.monotonic() + DEADLINE_S * max(self.wanted / 200, 1)
        self.vec.send_reset()
        self.since = dict.fromkeys(range(SLOTS), time.monotonic())
        while self.vec.stats().in_flight or self.vec._engine.rows:
            assert time.monotonic() < end, (self.faults, self.vec.stats())
            batch = self.vec.recv(min_size=1, timeout=10.0)
            self.take(list(batch))
            if self.faults.total() < self.wanted:
                self.play([row.slot for row in batch if row.actionable])

    # -- sending -------------------------------------------------------------------------------------------------------

    def play(self, slots):
        actions, outside = {}, []
        for slot in slots:
            kind = "a"
            if self.rng.random() < 0.2:
                kind = self.rng.choices(list(PLANS[self.backend]), list(PLANS[self.backend].values()))[0]
                self.faults[kind] += 1
            if kind in ("cancel", "kill", "stop"):
                outside.append((kind, slot))
                kind = "a"
            actions[slot] = kind
            self.turns[slot] += 1
            self.sent[slot] = (self.seeds[slot], self.turns[slot], kind, time.monotonic())
            if kind in TYPES:
                self.reasons[slot].append((TYPES[kind], float("inf")))  # until it is told
        self.vec.send(actions)
        for kind, slot in outside:
            self.disturb(kind, slot)

    def disturb(self, kind, slot):
        if kind == "cancel":
            if self.vec._engine.slots[slot].in_flight:
                self.vec.cancel([slot])
                self.reasons[slot].append(("Cancelled", float("inf")))
                self.neighbours(slot)
            return
        worker = self.vec._engine.executor._of[slot]
        if worker.process is not None:
            os.kill(worker.process.pid, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
            if kind == "kill":
                self.neighbours(slot)

    def neighbours(self, slot):
        """Note that the worker of a slot dies, now."""
        if self.backend == "process":
            for other in range(slot % WORKERS, SLOTS, WORKERS):
                self.reasons[other].append(("WorkerDied", time.monotonic()))

    # -- receiving -----------------------------------------------------------------------------------------------------

    def take(self, rows):
        for row in rows:
            error = row.info.get("error", {}).get("type")
            if error in ("StepTimeout", "WorkerDied", "Cancelled"):
                self.neighbours(row.slot)  # the others of the worker are told in the same batch, or with their next step
        now = time.monotonic()
        for row in rows:
            if row.kind == "step":
                seed, turn, action, sent = self.sent.pop(row.slot)  # a KeyError is a doubled row
                if "error" in row.info:
                    self.lost.add((row.slot, seed, turn))
                    self.explain(row, now - sent)
                else:
                    assert row.obs == f"{seed}/{turn} {action}", row
                    self.sound.append((row.slot, seed, turn, action, row.reward))
                    self.reasons[row.slot] = [reason for reason in self.reasons[row.slot] if reason[1] > sent]
            elif "error" in row.info:
                self.explain(row, now - self.since[row.slot])
            else:
                assert row.info["seed"] == derive(ROOT, row.slot, row.episode_id // SLOTS)
                self.seeds[row.slot], self.turns[row.slot] = row.info["seed"], 0
            self.since[row.slot] = now

    def explain(self, row, waited_s):
        """Strike the reason off that a fault has, or note that it has none."""
        error = row.info["error"]["type"]
        if error == "TypeError" and row.kind == "step":
            error = "EnvError"  # at an end what can't be sent can't be copied either
        own = next((reason for reason in self.reasons[row.slot] if reason[0] == error), None)
        if row.kind == "reset" and error == "RuntimeError":
            known = envs.fails_at_reset(derive(ROOT, row.slot, row.episode_id // SLOTS))
        else:
            known = own is not None or (error == "StepTimeout" and waited_s >= STEP_S)
        if not known:
            self.unexplained.append((row, self.reasons[row.slot]))
        # The episode is over, and with it all that was done to it; what its worker may still suffer is not.
        self.reasons[row.slot] = [reason for reason in self.reasons[row.slot] if reason is not own and reason[1] != float("inf")]


@pytest.fixture(autouse=True)
def _registry():
    gem.list_envs()
    before = dict(registration.ENV_REGISTRY)
    gem.register("chaos:ledger", "tests.chaos.envs:Ledger", info=gem.EnvInfo(blocking="cpu"))
    gem.register("chaos:waiting", "tests.chaos.envs:Ledger", info=gem.EnvInfo(blocking="io"))
    gem.register("chaos:async", "tests.chaos.envs:AsyncLedger", info=gem.EnvInfo(blocking="io"))
    envs.RELEASE.clear()
    yield
    envs.RELEASE.set()
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


@pytest.mark.timeout(3600)  # the soak has a deadline of its own, which grows with --chaos
@pytest.mark.parametrize(
    ("backend", "id"),
    [
        ("sync", "chaos:ledger"),
        ("thread", "chaos:ledger"),
        ("async", "chaos:async"),
        ("process", "chaos:ledger"),
        ("process", "chaos:waiting"),
    ],
)
def test_a_soak_loses_and_doubles_nothing_and_leaves_nothing_behind(backend, id, faults, tmp_path):
    with make_vec("chaos:async", 1, backend="async", env_kwargs={"folder": str(tmp_path), "slot": 99}) as first:
        first.reset()  # the home loop is made once
    gc.collect()
    before = descriptors(), threading.active_count(), len(slot_threads())
    vec = make_vec(
        id,
        SLOTS,
        backend=backend,
        num_workers=WORKERS,
        seed=ROOT,
        checks=False,
        env_kwargs=[{"folder": str(tmp_path), "slot": slot} for slot in range(SLOTS)],
        step_timeout=STEP_S,
        reset_timeout=STEP_S,
        max_restarts=1_000_000,
    )
    soak = Soak(vec, backend, faults)
    pids = set(vec.stats().workers)
    try:
        soak.run()
        pids |= set(vec.stats().workers)
        stats = vec.stats()
    finally:
        vec.close()
        envs.RELEASE.set()
    assert until(lambda: len(slot_threads()) <= before[2]), "threads are left"
    reconcile(soak, tmp_path)
    assert stats.dead == 0
    assert soak.faults.total() >= faults
    assert not any(map(alive, pids))
    assert zombies() == []
    assert until(lambda: (descriptors(), threading.active_count()) == before[:2]), (before, descriptors(), threading.enumerate())


def reconcile(soak, folder: Path):
    lines = Counter()
    for slot in range(SLOTS):
        for line in (folder / str(slot)).read_text().splitlines():
            slot_text, seed, turn, action, reward = line.split()
            lines[int(slot_text), int(seed), int(turn), action, float(reward)] += 1
    assert soak.sent == {}, "actions without an answer"
    assert soak.unexplained == [], "faults that nobody made"
    assert [line for line, count in lines.items() if count > 1] == [], "steps taken twice"
    rows = Counter(soak.sound)
    assert [row for row, count in rows.items() if count > 1] == [], "rows delivered twice"
    assert [row for row in rows if row not in lines] == [], "rows of steps that nobody took"
    silent = [line for line in lines if line not in rows and line[:3] not in soak.lost]
    assert silent == [], "steps whose row was lost without a fault"
    assert len(rows) > 100
