"""Tells whether the `gem` on disk is gem-gym's, and how to repair it when it is not.

The wheel of `gem-llm` owns files that gem-gym owns too (`gem/__init__.py`, `gem/envs/registration.py`, ...): whichever is installed
last wins, and uninstalling one guts the other. So this module lies beside `gem/`, needs the standard library only, and imports
`gem` no earlier than its files have been compared with what gem-gym's RECORD promises.

`python -m gem_gym_doctor` reports (exit code 1: broken). `main` is the entry of both console scripts, `guard` that of `gem/__main__.py`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import PathFinder

__all__ = ["Owner", "Report", "check", "guard", "main"]

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_FACADE = "gem/__init__.py"
# What a copy without a RECORD must have to be gem-gym's; gem-llm has a file gem/core.py where this package is.
_LANDMARKS = (_FACADE, "gem/core/__init__.py", "gem/envs/registration.py")
# What every start compares by hash; of the other files it asks only whether they are there.
_WATCHED = {*_LANDMARKS, "gem/__main__.py", *(f"gem/{room}/__init__.py" for room in ("cli", "envs", "multiagent", "wrappers"))}


@dataclass(frozen=True)
class Owner:
    """Another installed distribution whose RECORD lists files under `gem/`.

    Attributes:
        shared: Paths that gem-gym owns too, in the same folder: uninstalling this distribution removes them.
        replaced: Those of the shared paths that hold this distribution's content now.
        imported: Whether `import gem` runs this distribution's `gem/__init__.py`.
    """

    name: str
    version: str
    location: str
    files: int
    shared: int
    replaced: int
    imported: bool

    def __str__(self) -> str:
        replaced = f", {self.replaced} of them now hold its content" if self.replaced else ""
        return f"{self.name} {self.version} in {self.location} ({self.files} files, {self.shared} shared with gem-gym{replaced})"


@dataclass(frozen=True)
class Report:
    """What `check` found.

    Attributes:
        installation: "wheel", "editable" (no hashes to compare) or "none" (no distribution gem-gym).
        location: The folder that distribution lies in.
        imported_from: The folder that holds the `gem` Python imports, None when it finds none.
        lacks: What gem-gym's `gem` has and the `gem` Python imports has not.
        missing: Files of gem-gym's RECORD that are gone; `changed` are there with other content.
        leftovers: Modules under `gem/` that no distribution owns.
    """

    installation: str
    version: str | None
    location: str | None
    imported_from: str | None
    lacks: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    leftovers: tuple[str, ...]
    others: tuple[Owner, ...]

    @property
    def status(self) -> str:
        """Return "healthy", "warning" (intact, but something hides it or may break it) or "broken"."""
        if self.lacks or self.missing or self.changed or any(other.imported for other in self.others):
            return "broken"
        return "warning" if self.leftovers or self.others or self._elsewhere() else "healthy"

    def _elsewhere(self) -> bool:
        return self.installation == "wheel" and self.imported_from != self.location

    def summary(self) -> str:
        """Return the finding in one line."""
        subject = f"gem-gym {self.version}" if self.version else "gem-gym (no such distribution is installed)"
        if self.missing or self.changed:
            return f"{subject} is broken: {len(self.missing)} files missing, {len(self.changed)} changed."
        states = {"broken": "is not the gem that Python finds", "warning": "is healthy, with a warning", "healthy": "is healthy"}
        return f"{subject} {states[self.status]}."

    def notes(self) -> Iterator[str]:
        """Yield what the facts mean."""
        if self.installation == "none":
            yield "No distribution gem-gym, so no hashes: a source checkout or a copy, or gem-gym was uninstalled and files remain."
        if self.installation == "editable":
            yield "gem-gym is installed editable, so there are no hashes to compare."
        for other in self.others:
            if other.shared:
                yield f"{other.name} owns files of gem-gym too. Installed last wins, and uninstalling {other.name} will break gem-gym."
            elif other.imported:
                yield f"{other.name} is what import gem finds, not gem-gym."
            if other.name == "gem-llm":
                yield "Both packages are imported as gem, so that only one of them can be whole."
        if self.missing and not self.others:
            yield "Files go missing when another distribution that owned them too, such as gem-llm, is uninstalled."
        if self.leftovers:
            yield "Modules that nobody owns stayed behind and hide gem-gym's own answers to their names: delete them."
        if self._elsewhere() and not any(other.imported for other in self.others):
            yield f"import gem takes another copy, in {self.imported_from}: rename that folder or take it off Python's path."

    def repair(self) -> Iterator[str]:
        """Yield the commands that mend this, or forestall the break, in their order."""
        here = self.imported_from if self.status == "broken" else None
        rivals = [other for other in self.others if other.shared or other.location == here]
        yield from (f"pip uninstall {other.name}" for other in rivals)
        if self.installation == "editable":
            if self.lacks and not rivals:
                yield "pip install --no-deps --editable FOLDER_OF_YOUR_CHECKOUT"
        elif self.missing or self.changed or any(other.shared for other in rivals) or (self.lacks and self.installation == "none"):
            yield "pip install --force-reinstall --no-deps gem-gym"

    def text(self) -> str:
        """Return the report as people read it."""
        facts = [
            ("installed in", self.location),
            ("gem comes from", self.imported_from or "nowhere"),
            ("which lacks", "" if self.missing else _some(self.lacks)),
            ("missing", _some(self.missing)),
            ("changed", _some(self.changed)),
            ("owned by nobody", _some(self.leftovers)),
            *(("owns gem/ too", str(other)) for other in self.others),
        ]
        lines = [self.summary(), *(f"  {label:<16}{value}" for label, value in facts if value)]
        lines += [line for note in self.notes() for line in ("", note)]
        commands = [f"  {command}" for command in self.repair()]
        title = "To repair, in this order:" if self.status == "broken" else "To be safe, in this order:"
        return "\n".join([*lines, "", title, *commands] if commands else lines)

    def json(self) -> str:
        """Return the report for machines: the fields, and `status`, `summary`, `notes` and `repair`."""
        import json

        words = {"status": self.status, "summary": self.summary(), "notes": list(self.notes()), "repair": list(self.repair())}
        return json.dumps({**words, **asdict(self)}, indent=2)


@dataclass(frozen=True)
class _Installed:
    name: str
    version: str
    root: str
    rows: Mapping[str, str]

    def holds(self, path: str) -> bool:
        return _matches(os.path.join(self.root, path), self.rows[path])


def _some(paths: Sequence[str], most: int = 6) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(paths[:most]) + more


def _rows(record: str) -> dict[str, str]:
    """Map the files under `gem/` that a RECORD lists to their hashes; compiled files have none and are left out."""
    # Not the csv module: gem's paths need no quotes, and every start of the command line pays for this.
    rows = (line.rsplit(",", 2) for line in record.splitlines() if line.startswith("gem/"))
    return {row[0]: row[1] for row in rows if len(row) == 3 and row[1]}


def _matches(file: str, expected: str) -> bool:
    algorithm, _, value = expected.partition("=")
    try:
        with open(file, "rb") as content:
            digest = hashlib.new(algorithm, content.read()).digest()
    except (OSError, ValueError):
        return False
    return b2a_base64(digest, newline=False).translate(_URL_SAFE, b"=").decode() == value


def _home(paths: Sequence[str] | None) -> str | None:
    """Return the folder out of which `import gem` would take (or took) `gem`, executing nothing."""
    try:
        spec = importlib.util.find_spec("gem") if paths is None else PathFinder.find_spec("gem", paths)
    except ValueError:
        return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    return os.path.realpath(os.path.dirname(places[0]))


def _installed(paths: Sequence[str] | None) -> list[_Installed]:
    """List the distributions that own files under `gem/`, and gem-gym in any case, in the order of the search path."""
    import json
    import re
    from importlib.metadata import distributions

    found: dict[tuple[str, str], _Installed] = {}
    for dist in distributions() if paths is None else distributions(path=list(paths)):
        head = (dist.read_text("METADATA") or "").partition("\n\n")[0]
        named = dict(re.findall(r"^(Name|Version):[ \t]*(.*?)\s*$", head, re.MULTILINE))
        name = re.sub(r"[-_.]+", "-", named.get("Name", "")).lower()
        # Not dist.files: from Python 3.12 on it leaves out the files that are missing.
        direct = json.loads(dist.read_text("direct_url.json") or "{}")
        rows = {} if direct.get("dir_info", {}).get("editable") else _rows(dist.read_text("RECORD") or "")
        if rows or name == "gem-gym":
            root = os.path.realpath(str(dist.locate_file("")))
            found.setdefault((name, root), _Installed(name, named.get("Version", "?"), root, rows))
    return list(found.values())


def _owner(other: _Installed, root: str | None, rows: Mapping[str, str], home: str | None) -> Owner:
    mine = rows if other.root == root else {}
    theirs = {path for path, expected in other.rows.items() if mine.get(path) != expected and other.holds(path)}
    return Owner(
        name=other.name,
        version=other.version,
        location=other.root,
        files=len(other.rows),
        shared=len(other.rows.keys() & mine.keys()),
        replaced=len(theirs & mine.keys()),
        imported=other.root == home and _FACADE in theirs,
    )


def _absent(root: str | None, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if root is None or not os.path.isfile(os.path.join(root, path))))


def _unowned(root: str, owned: Iterable[str]) -> tuple[str, ...]:
    files = (os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(root, "gem")) for name in names)
    modules = {os.path.relpath(file, root).replace(os.sep, "/") for file in files if file.endswith(".py")}
    return tuple(sorted(modules - set(owned)))


def check(paths: Sequence[str] | None = None) -> Report:
    """Compare gem-gym's files with its RECORD and look for other owners of `gem/`, importing nothing of either.

    Args:
        paths: The folders to search, in order, in place of `sys.path`.
    """
    importlib.invalidate_caches()
    found, home = _installed(paths), _home(paths)
    ours = next((dist for dist in found if dist.name == "gem-gym"), None)
    rows = ours.rows if ours else {}
    root = ours.root if ours and rows else home
    lacks, missing = _absent(home, _LANDMARKS), _absent(root, rows)
    # A checkout's files belong to no distribution and are no leftovers.
    owned = [path for dist in found if dist.root == root for path in dist.rows]
    return Report(
        installation="wheel" if rows else "editable" if ours else "none",
        version=ours.version if ours else None,
        location=ours.root if ours else None,
        imported_from=home,
        lacks=lacks,
        missing=missing,
        changed=tuple(sorted(path for path in rows if path not in missing and ours and not ours.holds(path))),
        leftovers=_unowned(root, owned) if root and (rows or lacks) else (),
        others=tuple(_owner(dist, root, rows, home) for dist in found if dist.name != "gem-gym"),
    )


def _looks_intact() -> bool:
    """Say within a millisecond or two that this start can go on; a False only means that `check` must look."""
    root = os.path.dirname(os.path.abspath(__file__))
    try:
        records = [name for name in os.listdir(root) if name.startswith(("gem_gym-", "gem-gym-")) and name.endswith(".dist-info")]
        if len(records) > 1 or _home(None) != os.path.realpath(root):
            return False
        rows: Mapping[str, str] = {}
        if records:
            with open(os.path.join(root, records[0], "RECORD"), encoding="utf-8") as record:
                rows = _rows(record.read())
    except OSError:
        return False
    if _absent(root, rows or _LANDMARKS):
        return False
    return all(_matches(os.path.join(root, path), rows[path]) for path in _WATCHED if path in rows)


def guard() -> None:
    """End the process with the report when gem-gym is broken."""
    if _looks_intact():
        return
    report = check()
    if report.status == "broken":
        print(report.text(), file=sys.stderr)
        raise SystemExit(1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gem's command line, or print what is broken and return 1."""
    try:
        guard()
    except SystemExit:
        return 1
    from gem.cli import main as cli

    return cli(argv)


def _doctor(argv: Sequence[str] | None = None) -> int:
    from argparse import ArgumentParser

    about = "Tell whether the installed gem is gem-gym's, and how to repair it. Exit code 1: broken."
    parser = ArgumentParser(prog="python -m gem_gym_doctor", description=about)
    parser.add_argument("--json", action="store_true", help="print the report for machines")
    options, report = parser.parse_args(argv), check()
    print(report.json() if options.json else report.text())
    return 1 if report.status == "broken" else 0


if __name__ == "__main__":
    raise SystemExit(_doctor())
