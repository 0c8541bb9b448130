"""Shows that the tests catch faults: puts one fault at a time into a copy of the package, and runs the tests that must fail.

The faults are the `[[mutant]]` entries of the `.toml` files here. Exits with 1 where one survives, where its `find` does not occur
exactly once, and where its tests fail without it.

    python tests/mutants/run.py --only wrappers --jobs 1
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COPIED = ("gem", "tests", "pyproject.toml", "gem_gym_doctor.py")
TIMEOUT_S = 120
PASSED, FAILED = 0, 1  # pytest's exit codes; any other says that the tests could not be run


@dataclass(frozen=True)
class Mutant:
    """One fault: `find`, a part of a line that occurs once in `gem/<file>`, becomes `replace`."""

    area: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.area:<10} {self.file}: {self.find}  ->  {self.replace or '(nothing)'}"


@dataclass(frozen=True)
class Verdict:
    """What came of a mutant, or of tests without one: `caught`, `hung`, `survived` or `wrong`, and what to show of it."""

    word: str
    seconds: float = 0.0
    more: str = ""

    @property
    def good(self) -> bool:
        """Whether the fault was noticed."""
        return self.word in ("caught", "hung")


def load(folder: Path) -> list[Mutant]:
    """Read the lists of a folder; a file is an area."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["mutant"]:
            tests = tuple(row.pop("tests"))
            found.append(Mutant(area=path.stem, tests=tests, **row))
    return found


def mutated(mutant: Mutant, text: str) -> str:
    """Return the source with the fault in it.

    Raises:
        ValueError: the mutant is not a change of one place in one line, or no Python comes of it.
    """
    times = text.count(mutant.find)
    if times != 1:
        raise ValueError(f"`find` occurs {times} times and must occur once")
    if "\n" in mutant.find + mutant.replace or mutant.find == mutant.replace:
        raise ValueError("a mutant changes a part of one line")
    changed = text.replace(mutant.find, mutant.replace)
    try:
        compile(changed, mutant.file, "exec")
    except SyntaxError as why:
        raise ValueError(f"it is not Python: {why}") from None
    return changed


class Copy:
    """A copy of what the tests need, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, folder / name)
        self.environ = {**os.environ, "PYTHONPATH": str(folder)}
        self._check_import()

    def _check_import(self) -> None:
        command = [sys.executable, "-c", "import gem; print(gem.__file__)"]
        done = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=True)
        where = Path(done.stdout.strip()).resolve()
        assert self.folder.resolve() in where.parents, f"the tests would import {where}, which is not in the copy {self.folder}"

    def test(self, tests: Sequence[str]) -> tuple[int | None, float, str]:
        """Run tests; return pytest's exit code (None for a hang), the seconds and the last lines of the output."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            running = subprocess.Popen(
                command, cwd=self.folder, env=self.environ, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
            code: int | None = None
            with suppress(subprocess.TimeoutExpired):
                code = running.wait(TIMEOUT_S)
            with suppress(ProcessLookupError):  # a hang, or processes that tests left behind
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            output.seek(0)
            shown = output.read().decode("utf-8", "replace").splitlines()[-12:]
        return code, time.monotonic() - started, "\n".join(f"      | {line:.200}" for line in shown)

    @contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        """Put the fault into the copy, and take it out again.

        Raises:
            ValueError: it cannot be put there.
        """
        path = self.folder / "gem" / mutant.file
        if not path.is_file():
            raise ValueError(f"there is no gem/{mutant.file}")
        text = path.read_text("utf-8")
        _write(path, mutated(mutant, text))
        try:
            yield
        finally:
            _write(path, text)

    def judge(self, mutant: Mutant) -> Verdict:
        """Say whether the tests notice a fault."""
        try:
            with self.having(mutant):
                code, seconds, shown = self.test(mutant.tests)
        except ValueError as why:
            return Verdict("wrong", more=f"      {why}")
        if code is None:
            return Verdict("hung", seconds)
        if code == FAILED:
            return Verdict("caught", seconds)
        if code == PASSED:
            return Verdict("survived", seconds, f"      {mutant.why}\n      {' '.join(mutant.tests)}")
        return Verdict("wrong", seconds, f"      its tests could not be run (pytest: {code})\n{shown}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    # Bytecode is told to be old by seconds and length, which a mutant may share with what was there before.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def judge_all(mutants: Sequence[Mutant], copies: SimpleQueue[Copy]) -> list[tuple[Mutant, Verdict]]:
    """Judge mutants whose tests are in the same files: first all these tests must pass without a fault."""
    tests = tuple(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    copy = copies.get()
    try:
        code, seconds, shown = copy.test(tests)
        if code == PASSED:
            return [(mutant, show(mutant, copy.judge(mutant))) for mutant in mutants]
        verdict = Verdict("wrong", seconds, f"      without it these tests do not pass: {' '.join(tests)}\n{shown}")
        return [(mutant, show(mutant, verdict)) for mutant in mutants]
    finally:
        copies.put(copy)


def show(mutant: Mutant, verdict: Verdict) -> Verdict:
    """Print a line about a mutant, and more where something is wrong with it."""
    text = f"{verdict.word:<8} {verdict.seconds:5.1f} s  {mutant}"
    print(f"{text:.230}" if verdict.good else f"{text}\n{verdict.more}", flush=True)
    return verdict


def run(mutants: Sequence[Mutant], jobs: int) -> list[tuple[Mutant, Verdict]]:
    """Judge mutants, `jobs` at a time, those with tests in the same files together and the largest groups first."""
    groups: dict[frozenset[str], list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(frozenset(test.partition("::")[0] for test in mutant.tests), []).append(mutant)
    rows = sorted(groups.values(), key=len, reverse=True)
    copies: SimpleQueue[Copy] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="gem-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(Copy(Path(folder, str(number))))
        return [pair for found in pool.map(lambda row: judge_all(row, copies), rows) for pair in found]


def main() -> int:
    """Run the mutants that the command line asks for."""
    parser = argparse.ArgumentParser(description="Put one fault at a time into a copy of gem, and show that the tests notice it.")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only those with this in their area, file, fault, tests or why")
    args = parser.parse_args()
    mutants = [mutant for mutant in load(HERE) if args.only in f"{mutant}{' '.join(mutant.tests)}{mutant.why}"]
    if not mutants:
        parser.error(f"no mutant has {args.only!r}")
    started = time.monotonic()
    found = run(mutants, max(args.jobs, 1))
    words = Counter(verdict.word for _, verdict in found)
    areas = Counter(mutant.area for mutant, _ in found)
    print(f"\n{len(found)} mutants in {time.monotonic() - started:.0f} s: " + ", ".join(f"{n} {area}" for area, n in areas.items()))
    print(", ".join(f"{words[word]} {word}" for word in ("caught", "hung", "survived", "wrong") if words[word] or word == "survived"))
    return 0 if all(verdict.good for _, verdict in found) else 1


if __name__ == "__main__":
    sys.exit(main())
