"""`gem new`: writes a package with an environment, its spec, its tests and a README."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.abc import Traversable
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from gem.errors import RegistrationError

__all__ = ["KINDS", "new_command", "scaffold"]

# kind -> the name of its environment
KINDS = {"single": "letters:count", "multi": "lock:digits"}
_SUFFIX = ".jinja"


def scaffold(package: str, *, kind: str = "single", out: Path = Path(".")) -> Path:
    """Write the package and return its folder.

    Raises:
        RegistrationError: no such kind, a name that is no package name, or a folder that exists.
    """
    if kind not in KINDS:
        raise RegistrationError(f"no kind {kind!r:.80}; there are {', '.join(KINDS)}")
    module = package.replace("-", "_").lower()
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", package) or keyword.iskeyword(module) or module == "gem":
        raise RegistrationError(f"{package!r:.80} is no name for a package: letters, digits and dashes, such as 'my-envs'")
    folder = out / package
    if folder.exists():
        raise RegistrationError(f"{folder} exists already: choose another name, or --out")
    engine = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701  # it writes Python, not HTML
    for target, source in _files(kind, module):
        text = engine.from_string(source.read_text("utf-8")).render(package=package, module=module, name=KINDS[kind])
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
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
    print(f"wrote {folder}. Next:\n\n  cd {folder}\n  pip install -e '.[test]'\n  pytest\n  python -m gem play {package}/{KINDS[kind]}")
    return 0
