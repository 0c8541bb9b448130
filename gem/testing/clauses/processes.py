"""The clause on other processes: an episode must be the same where strings hash differently.

Keeps one interpreter with another `PYTHONHASHSEED`. It forks for each question, and so imports an author's modules anew.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

from gem.core import Env
from gem.specs import EnvInfo
from gem.testing.clauses.base import Breach, Subject, clause, first_difference
from gem.testing.clauses.tasks import HASHED

__all__ = ["serve"]

Make = Callable[[], Env[Any, Any]]
_SERVE = "from gem.testing.clauses.processes import serve; serve()"
_asking = threading.Lock()


@clause(*HASHED)
def same_in_every_process(subject: Subject) -> None:
    """The same seed gives the same episode and task in every process: nothing depends on the hash of a string."""
    if not subject.info.deterministic:
        return
    plays = [(seed, subject.play(seed).actions) for seed in subject.seeds]
    here, there = _seen(subject.make, plays), _ask(subject.make, plays)
    for (seed, _), one, two in zip(plays, here, there or here, strict=True):
        if one != two:
            raise Breach(
                f"seed {seed} gave another episode in another process, where strings hash differently: {first_difference(one, two)}"
            )


def _seen(make: Make, plays: list[tuple[int, list[Any]]]) -> list[list[str]]:
    """Return all that must repeat: the episode of each seed, and before it the key and the hash of its task."""
    found = []
    for seed, actions in plays:
        with make() as env:
            episode = Subject(make, EnvInfo(), "").replay(seed, actions, env=env)
            task = f" {episode.first_info.get('task')} {env.tasks(env.split)[0].hash}"
        first, *rest = episode.seen()
        found.append([first + task, *rest])  # the prompt first: a difference in it says more than one between two hashes
    return found


def _ask(*question: Any) -> list[list[str]] | None:
    """Return what `_seen` returns in the other interpreter, or None where the environment can't be made there."""
    try:
        line = base64.b64encode(cloudpickle.dumps((sys.path, cloudpickle.dumps(question))))
        with _asking:
            pipe = _interpreter(os.getpid())
            assert pipe.stdin is not None
            assert pipe.stdout is not None
            pipe.stdin.write(line + b"\n")
            pipe.stdin.flush()
            answer: list[list[str]] | None = json.loads(pipe.stdout.readline())
            return answer
    except BaseException as why:
        _interpreter.cache_clear()  # it may still write the answer
        if isinstance(why, Exception):  # it can't be pickled, or processes can't be started here
            return None
        raise


@lru_cache(maxsize=1)
def _interpreter(pid: int) -> subprocess.Popen[bytes]:
    """Start the interpreter of the process `pid`: a fork must not talk to its parent's."""
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environ = {**os.environ, "PYTHONHASHSEED": other, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _SERVE]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    started = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environ, start_new_session=True)
    atexit.register(_end, started)
    return started


def _end(started: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)  # and an environment that hangs there
    started.communicate()


def serve() -> None:
    """Answer questions from stdin, a line each, until it closes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what an environment prints is no answer
    for line in sys.stdin.buffer:
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                with os.fdopen(writer, "wb") as out:
                    out.write(_answer(line))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            answers.write((told.read() or b"null") + b"\n")
        os.wait()
        answers.flush()


def _answer(line: bytes) -> bytes:
    try:
        sys.path[:], question = cloudpickle.loads(base64.b64decode(line))
        return json.dumps(_seen(*cloudpickle.loads(question))).encode()
    except Exception:
        return b"null"
