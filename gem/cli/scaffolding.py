"""`gem new`: writes a package with an environment, its spec, its tests and a README."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from gem.cli.screen import say
from gem.errors import RegistrationError

if TYPE_CHECKING:
    from importlib.abc import Traversable

__all__ = ["KINDS", "module_of", "new_command", "scaffold"]

# kind -> the name of its environment
KINDS = {"single": "letters:count", "multi": "lock:digits"}
_SUFFIX = ".jinja"
# Names of modules that the package would hide, or that would hide it.
_TAKEN = frozenset({"gem", "gem_gym", "gem_gym_doctor", "gymnasium", "numpy", "pytest", "test", "tests"})
_LONGEST = 64


def module_of(package: str) -> str:
    """Return the module of a package, after its name was checked.

    Raises:
        RegistrationError: it is no name for a package; the message says why.
    """
    module = re.sub(r"[-.]", "_", package).lower()
    example = "Take one such as 'my-envs'"
    if not re.fullmatch(r"[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])?", package) or len(package) > _LONGEST:
        raise RegistrationError(
            f"{package!r:.80} is no name for a package: letters, digits, - and _, a letter first and no dash last. {example}"
        )
    if keyword.iskeyword(module):
        raise RegistrationError(f"{package!r} is no name for a package: Python could not import it, {module!r} is a keyword. {example}")
    if module in _TAKEN or module in sys.stdlib_module_names:
        raise RegistrationError(f"{package!r} is no name for a package: there is a module {module!r} already. {example}")
    return module


def scaffold(package: str, *, kind: str = "single", out: Path = Path(".")) -> Path:
    """Write the package and return its folder.

    Raises:
        RegistrationError: no such kind, a name that is no package name, or a folder that exists or cannot be written.
    """
    from jinja2 import Environment, StrictUndefined

    if kind not in KINDS:
        raise RegistrationError(f"no kind {kind!r:.80}; there are {', '.join(KINDS)}")
    module = module_of(package)
    folder = out / package
    if folder.exists():
        raise RegistrationError(f"{folder} exists already. Choose another name, or another place with --out")
    engine = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)  # it writes Python, not HTML
    texts = {
        target: engine.from_string(source.read_text("utf-8")).render(package=package, module=module, kind=kind, name=KINDS[kind])
        for target, source in _files(kind, module)
    }
    try:
        for target, text in texts.items():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            (folder / target).write_text(text, encoding="utf-8")
    except OSError as why:
        raise RegistrationError(f"{folder} cannot be written: {why.strerror or why}. Choose another place with --out") from None
    return folder


def _files(kind: str, module: str) -> Iterator[tuple[str, Traversable]]:
    """Yield each file's path in the package and its template."""
    root = files("gem.cli") / "templates"
    common = root / "common"
    for name in ("pyproject.toml", "README.md"):
        yield name, common / (name + _SUFFIX)
    yield "tests/test_env.py", common / "tests" / f"test_env.py{_SUFFIX}"
    yield f"{module}/__init__.py", common / "module" / f"__init__.py{_SUFFIX}"
    for name in ("env.py", "specs.py"):
        yield f"{module}/{name}", root / kind / (name + _SUFFIX)


def new_command(package: str, *, kind: str, out: Path) -> int:
    """Write the package and say what to do next."""
    folder = scaffold(package, kind=kind, out=out)
    say(f"wrote {folder}")
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        say(f"  {path.relative_to(folder)}", "dim")
    say("\nNext:\n")
    for command in (f"cd {shlex.quote(str(folder))}", "pip install -e '.[test]'", "pytest", f"python -m gem play {package}/{KINDS[kind]}"):
        say(f"  {command}")
    say(f"\nThen change {module_of(package)}/env.py.")
    return 0
