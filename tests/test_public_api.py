"""The public API is what `data/public_api.txt` says: a change to it is a change to that file, and to the CHANGELOG.

Write it anew: python -m tests.test_public_api
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import gem

SNAPSHOT = Path(__file__).parent / "data" / "public_api.txt"
# The clauses are the contract's text, the commands are covered by docs/cli.md.
PRIVATE = ("gem.cli", "gem.testing.clauses", "gem.__main__", "gem.envs.games")


def public_api() -> list[str]:
    names = ["gem", *(module.name for module in pkgutil.walk_packages(gem.__path__, "gem."))]
    lines: list[str] = []
    for name in sorted(names):
        if name.startswith(PRIVATE):
            continue
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            lines += describe(f"{name}.{public}", getattr(module, public), name)
    return lines


def describe(path: str, value: object, home: str) -> list[str]:
    if inspect.ismodule(value):
        return [f"{path} module"]
    if inspect.isclass(value):
        if value.__module__ != home and not path.startswith("gem.core."):
            return [f"{path} = {value.__module__}.{value.__qualname__}"]
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        lines = [f"{path} class({bases})"]
        for name, member in sorted(vars(value).items()):
            if name.startswith("_") or name in ("model_config",):
                continue
            if inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod)):
                lines.append(f"{path}.{name}{signature(getattr(value, name))}")
            elif isinstance(member, property):
                lines.append(f"{path}.{name} property")
        return lines
    if inspect.isfunction(value):
        return [f"{path}{signature(value)}"] if value.__module__ == home else [f"{path} = {value.__module__}.{value.__qualname__}"]
    return [f"{path} value"]


def signature(function: object) -> str:
    parts = []
    for parameter in inspect.signature(function).parameters.values():  # type: ignore[arg-type]
        default = "" if parameter.default is parameter.empty else "=..."
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(part[:1] for part in parts):
            parts.append("*")
        parts.append(f"{star}{parameter.name}{default}")
    return f"({', '.join(parts)})"


def test_the_public_api_is_what_was_agreed():
    expected = SNAPSHOT.read_text().splitlines()
    found = public_api()
    assert found == expected, "the public API changed: run `python -m tests.test_public_api`, and tell it in CHANGELOG.md"


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_api()) + "\n")
