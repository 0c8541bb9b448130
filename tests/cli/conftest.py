"""The command line in this process (`gem`), as a process of its own (`process`), and on a terminal (`terminal`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

from gem.cli import main
from gem.config import Settings
from gem.envs import registration

ROOT = Path(__file__).parents[2]
# Long: a loaded machine takes its time, and who waits for a prompt goes on as soon as it is there.
PATIENCE_S = 90
_HIDDEN = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONWARNINGS", "PYTHONIOENCODING")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def environ(**more: str) -> dict[str, str]:
    """Return the environment of a child: none of the machine's wishes, and no environments of packages that happen to be installed."""
    kept = {name: value for name, value in os.environ.items() if name not in _HIDDEN and not name.startswith(("GEM_", "LC_"))}
    return kept | {"LANG": "C.UTF-8", "TERM": "xterm-256color", "GEM_PLUGINS": "0", "INPUTRC": os.devnull} | more


@pytest.fixture(autouse=True)
def own_registry(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(registration, "settings", lambda: Settings(plugins=False))
    registration.list_envs()
    before = dict(registration.ENV_REGISTRY)
    yield
    registration.ENV_REGISTRY.clear()
    registration.ENV_REGISTRY.update(before)


@pytest.fixture
def gem(capsys, monkeypatch, tmp_path) -> Callable[..., Outcome]:
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Outcome:
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return Outcome(code, shown.out, shown.err)

    return run


@pytest.fixture
def process(tmp_path) -> Callable[..., Outcome]:
    """Run a command as a process of its own, in an empty folder."""

    def run(*args: str, input: str | bytes = b"", program: tuple[str, ...] = (sys.executable, "-m", "gem"), **env: str) -> Outcome:
        data = input if isinstance(input, bytes) else input.encode()
        done = subprocess.run([*program, *args], input=data, capture_output=True, cwd=tmp_path, env=environ(**env), timeout=PATIENCE_S)
        return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    return run


class Terminal:
    """A command on a pseudo-terminal. `read` is what it has shown up to what was waited for."""

    def __init__(self, args: tuple[str, ...], columns: int, cwd: Path, env: dict[str, str]) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "gem", *args],
            dimensions=(50, columns),
            env=env,
            cwd=str(cwd),
            encoding="utf-8",
            codec_errors="replace",
            timeout=PATIENCE_S,
        )
        self.child.delaybeforesend = None
        self.shown = ""

    def wait(self, *patterns: str) -> int:
        """Wait for one of the patterns, or with `""` for the end; say which came."""
        found = self.child.expect([pexpect.EOF if pattern == "" else pattern for pattern in patterns])
        after = self.child.after if isinstance(self.child.after, str) else ""
        self.read = (self.child.before + after).replace("\r\n", "\n")
        self.shown += self.read
        return found

    def type(self, line: str) -> None:
        self.child.sendline(line)

    def press(self, key: str) -> None:
        """Press a key together with Ctrl."""
        self.child.sendcontrol(key)

    def interrupt(self) -> int:
        """Press Ctrl-C until that ends it, and return the exit code.

        Python's `input` passes over the one that comes in the instant before it waits for a key. And what is typed must have been
        echoed: Ctrl-C empties the terminal's queue, and readline then waits for the key that it was promised.
        """
        for _ in range(PATIENCE_S // 3):
            self.press("c")
            if self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=3) == 0:
                break
        self.read = self.child.before.replace("\r\n", "\n")
        self.shown += self.read
        return self._code()

    def end(self) -> int:
        """Wait for the end and return the exit code (minus the signal, where one ended it)."""
        self.wait("")
        return self._code()

    def _code(self) -> int:
        self.child.close()
        return self.child.exitstatus if self.child.signalstatus is None else -self.child.signalstatus


@pytest.fixture
def terminal(tmp_path) -> Iterator[Callable[..., Terminal]]:
    """Run a command on a terminal, in an empty folder."""
    open_: list[Terminal] = []

    def start(*args: str, columns: int = 80, **env: str) -> Terminal:
        open_.append(Terminal(args, columns, tmp_path, environ(**env)))
        return open_[-1]

    yield start
    for one in open_:
        one.child.close(force=True)
