"""`import gem` is lazy, typed and sorted, and nothing in the house imports it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gem

ROOT = Path(gem.__file__).parent


def test_import_gem_loads_nothing_heavy():
    code = "import sys, gem; print(sorted(m for m in sys.modules if m.split('.')[0] in {'numpy', 'gymnasium', 'datasets', 'msgspec', 'httpx', 'rich'}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_every_public_name_can_be_had():
    for name in gem.__all__:
        assert getattr(gem, name) is not None
    assert set(gem.__all__) <= set(dir(gem))
    with pytest.raises(AttributeError, match="module 'gem' has no attribute 'nothing'"):
        _ = gem.nothing


def test_the_typed_names_are_the_lazy_names():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(gem.__all__) == set(gem._WHERE)


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "templates" not in path.parts)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_all_is_sorted_and_exists(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
            assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name)) or names == sorted(names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_room_is_too_large(path):
    text = path.read_text()
    assert text.count("\n") <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = node.end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= 60, f"{node.name} is too long"


def test_nothing_prints_outside_the_command_line():
    for path in modules():
        if "cli" in path.parts:
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not [call for call in calls if getattr(call.func, "id", "") == "print"], path
