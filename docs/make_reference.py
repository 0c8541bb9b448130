"""Writes the parts of these pages that follow from the code.

`python docs/make_reference.py` rewrites, on every page beside it, what stands between `<!-- generated: NAME -->` and
`<!-- end -->`. `tests/test_docs.py` fails where a page differs from what this would write.
"""

from __future__ import annotations

import ast
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import gem
from gem.cli.scaffolding import scaffold
from gem.config import Settings
from gem.envs.games.specs import SPECS
from gem.specs import EnvSpec, load_entry_point
from gem.testing.clauses import CLAUSES

DOCS = Path(__file__).parent
PACKAGE = Path(gem.__file__).parent
_REGION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


# -- tables ------------------------------------------------------------------------------------------------------------


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def settings_table() -> str:
    """Return the variables of `gem.config.Settings`."""
    found = [row for row in fields(Settings) if "variable" in row.metadata]
    rows = [(f"`{row.metadata['variable']}`", f"`{_default(row.default)}`", row.metadata["help"]) for row in found]
    return _table(("variable", "default", "what it sets"), rows)


def _default(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def games_table() -> str:
    """Return the ids of the games with their parameters."""
    return _table(
        ("id", "keywords", "turns", "rewards of an episode", "train and test differ by", "oracle sees"), [_game(row) for row in SPECS]
    )


def _game(row: EnvSpec) -> tuple[str, ...]:
    keywords = {name: value for name, value in row.kwargs.items() if name != "max_turns"}
    turns = "drawn" if "is_random" in keywords else str(row.kwargs.get("max_turns") or _default_turns(row))
    shown = ", ".join(f"`{name}={value!r}`" for name, value in keywords.items())
    low, high = row.info.reward_range
    return f"`{row.id}`", shown or "-", turns, f"{low:g} to {high:g}", row.info.split, row.info.oracle_sees


def _default_turns(row: EnvSpec) -> object:
    return inspect.signature(load_entry_point(row.entry_point)).parameters["max_turns"].default


def clauses_table() -> str:
    """Return the clauses of the contract."""
    return _table(("clause", "what it says"), [(f"`{row.name}`", " ".join(row.says.split())) for row in CLAUSES.values()])


def scaffold_files() -> str:
    """Return the files that `python -m gem new my-envs --kind multi` writes, as code blocks."""
    with tempfile.TemporaryDirectory() as folder:
        root = scaffold("my-envs", kind="multi", out=Path(folder))
        order = ("my_envs/env.py", "my_envs/specs.py", "tests/test_env.py", "pyproject.toml")
        return "\n\n".join(_file(name, (root / name).read_text()) for name in order)


def _file(name: str, text: str) -> str:
    language = "python" if name.endswith(".py") else "toml"
    return f'```{language} title="{name}"\n{text.strip()}\n```'


# -- the reference -----------------------------------------------------------------------------------------------------


@cache
def _source(module: str) -> str | None:
    base = PACKAGE.parent.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.exists():
            return path.read_text("utf-8")
    return None


@cache
def _tree(module: str) -> ast.Module | None:
    source = _source(module)
    return None if source is None else ast.parse(source)


def _modules() -> Iterator[str]:
    # A room without a layer, or with an optional one (in parentheses), is not part of the house yet.
    layers = (DOCS.parent / ".importlinter").read_text("utf-8").partition("layers =\n")[2].partition("\n\n")[0]
    rooms = {"gem", *re.findall(r"(?<![(\w])\w+", layers)}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if "templates" not in parts and parts[:2][-1] in rooms:
            yield ".".join(parts)


def _exported(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []


def _first_line(node: ast.AST) -> str:
    text = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) else None
    return text.splitlines()[0] if text else ""


def _described(module: str, name: str) -> tuple[str, str]:
    """Return how a name of a module is written, and the first line of its docstring, wherever it is defined."""
    tree = _tree(module)
    if tree is None:
        return name, ""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name and not _is_overload(node):
            return f"{name}({_parameters(node.args)})", _first_line(node)
        if isinstance(node, ast.ClassDef) and node.name == name:
            return name, _first_line(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name in _targets(node):
            return name, _comment_above(module, node.lineno)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and any((alias.asname or alias.name) == name for alias in node.names):
            inner = _tree(f"{node.module}.{name}")
            return (name, _first_line(inner)) if inner is not None else _described(node.module, name)
    return name, ""


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _comment_above(module: str, line: int) -> str:
    """Return the comment of a constant or type, which has no docstring."""
    above = (_source(module) or "").splitlines()[line - 2].strip()
    return above[1:].strip() if above.startswith("# ") else "-"


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(getattr(mark, "id", "") == "overload" for mark in node.decorator_list)


def _parameters(args: ast.arguments) -> str:
    names = [arg.arg for arg in args.posonlyargs + args.args]
    if args.vararg or args.kwonlyargs:
        names.append("*" + (args.vararg.arg if args.vararg else ""))
    names += [arg.arg for arg in args.kwonlyargs]
    return ", ".join([*names, *([f"**{args.kwarg.arg}"] if args.kwarg else [])])


def modules() -> str:
    """Return every module that has an `__all__`, with its names."""
    blocks = []
    for module in _modules():
        tree = _tree(module)
        names = _exported(tree) if tree is not None else []
        if tree is None or not names:
            continue
        rows = [(f"`{shown}`", what) for shown, what in (_described(module, name) for name in names)]
        blocks.append(f"## `{module}`\n\n{_first_line(tree)}\n\n{_table(('name', 'what it is'), rows)}")
    return "\n\n".join(blocks)


# -- pages -------------------------------------------------------------------------------------------------------------

REGIONS: dict[str, Callable[[], str]] = {
    "clauses": clauses_table,
    "games": games_table,
    "modules": modules,
    "scaffold": scaffold_files,
    "settings": settings_table,
}


def pages() -> dict[Path, str]:
    """Return the pages that have generated parts, as they should be."""
    found = {}
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text("utf-8")
        if _REGION.search(text):
            found[path] = _REGION.sub(lambda region: f"{region[1]}\n{REGIONS[region[2]]()}\n\n{region[3]}", text)
    return found


if __name__ == "__main__":
    for page, content in pages().items():
        page.write_text(content, encoding="utf-8")
