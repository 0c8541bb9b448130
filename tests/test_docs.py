"""The documentation runs, is complete, and says what the code says.

Every Python block of a page runs, in one namespace a page; every command does too. What pages take from the code is written by
`python docs/make_reference.py`: where a test here says that a page is out of date, run it.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gem.cli.app import app
from gem.cli.scaffolding import scaffold
from gem.envs.games.specs import SPECS
from gem.specs import load_entry_point
from gem.wrappers import NAMES as WRAPPERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command that ends in this reads what a person types; here it reads these lines.
INTERACTIVE, TYPED = "# interactive", "hint\nquit\n"
# A command that ends in this is of a package that the page installs before; here nothing is installed.
INSTALLED = "# once installed"
# Runs the blocks in the real `__main__`: a notebook's classes can be pickled too.
RUNNER = """
import sys as _sys
for _source in _sys.stdin.read().split("\\0"):
    _line, _, _code = _source.partition("\\n")
    exec(compile("\\n" * int(_line) + _code, _sys.argv[1], "exec"))
"""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Return the code blocks of a language, each after the number of the line it stands in."""
    text = page.read_text("utf-8")
    return [(text[: fence.start()].count("\n") + 1, fence[3]) for fence in FENCE.finditer(text) if fence[1] == language]


def commands(page: Path) -> list[str]:
    """Return the lines of shell blocks that run `python -m gem`, or the doctor."""
    lines = [line.strip() for _, block in blocks(page, "bash") for line in block.splitlines()]
    return [line for line in lines if re.search(r"(^|\| )python -m gem", line) and not line.endswith(INSTALLED)]


def clean_environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GEM_")}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_python_of_a_page_runs(page, tmp_path):
    sources = "\0".join(f"{line}\n{code}" for line, code in blocks(page, "python"))
    if page.stem == "write-your-own-environment":
        scaffold("my-envs", kind="multi", out=tmp_path)  # what the page makes first: its blocks import each other
        tmp_path = tmp_path / "my-envs"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER, str(page)],
        input=sources,
        cwd=tmp_path,
        env=clean_environ(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_the_commands_of_a_page_run(page, tmp_path):
    script = ["set -euo pipefail", 'python() { "$PYTHON" "$@"; }']
    for line in commands(page):
        script.append(f"{line.partition(INTERACTIVE)[0]} < typed" if INTERACTIVE in line else line)
    (tmp_path / "typed").write_text(TYPED)
    environ = clean_environ() | {"PYTHON": sys.executable}
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=tmp_path, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- what follows from the code ----------------------------------------------------------------------------------------


def make_reference():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    return make_reference().pages()


def test_each_generated_part_stands_on_a_page(generated):
    text = "".join(generated.values())
    assert [name for name in make_reference().REGIONS if f"<!-- generated: {name} -->" not in text] == []


@pytest.mark.parametrize("name", ["games.md", "reference.md", "settings.md", "write-your-own-environment.md"])
def test_what_a_page_takes_from_the_code_is_up_to_date(name, generated):
    page = ROOT / "docs" / name
    assert page.read_text("utf-8") == generated[page], f"{name} is out of date: run python docs/make_reference.py"


def test_the_tutorial_holds_the_files_of_the_scaffold(tmp_path):
    root = scaffold("my-envs", kind="multi", out=tmp_path)
    page = (ROOT / "docs" / "write-your-own-environment.md").read_text("utf-8")
    for name in ("my_envs/env.py", "my_envs/specs.py", "tests/test_env.py", "pyproject.toml"):
        assert (root / name).read_text().strip() in page, name


def sections(page: Path) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", sorted({row.id.partition(":")[2].partition("-v")[0] for row in SPECS}))
def test_each_game_has_a_section_with_its_keywords_and_its_format(name):
    section = sections(ROOT / "docs" / "games.md")[name]
    game = load_entry_point(next(row.entry_point for row in SPECS if row.id.startswith(f"game:{name}-")))
    shared = {"is_random"}  # told once, at the top of the page
    assert [word for word in inspect.signature(game).parameters if f"`{word}" not in section and word not in shared] == []
    assert "\\boxed{" in section


def test_each_command_has_a_section_with_its_options():
    found = sections(ROOT / "docs" / "cli.md")
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        section = found[f"`{name}`"]
        options = [row.replace("_", "-") for row in inspect.signature(command.callback).parameters if row not in ("pattern", "id", "ids")]
        positional = {"target", "package"}
        assert [option for option in options if option not in positional and f"`--{option}" not in section] == [], name


def test_each_wrapper_is_in_the_concepts():
    page = (ROOT / "docs" / "concepts.md").read_text("utf-8")
    assert [name for name in WRAPPERS if f"`{name}`" not in page] == []
    assert [target.__name__ for target, _ in WRAPPERS.values() if f"`{target.__name__}`" not in page] == []


def test_each_layer_is_in_the_architecture():
    rows = [row.split("|")[1] for row in sections(ROOT / "docs" / "architecture.md")["Layers"].splitlines() if row.startswith("| `")]
    layers = (ROOT / ".importlinter").read_text().partition("layers =\n")[2].partition("\n\n")[0]
    built = [line for line in layers.splitlines() if "(" not in line]  # a layer in parentheses is optional: its room is being built
    assert [re.findall(r"`(\w+)`", row) for row in rows] == [re.findall(r"\w+", line) for line in built]


# -- links and pages ---------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=name_of)
def test_relative_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path) if path else page
        assert found.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(found), f"{target}: no such heading"


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page.name for page in PAGES[1:] if page.name not in nav] == []


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text("utf-8").count("\n") < 120


def test_python_blocks_stand_only_where_they_are_run():
    """Indented fences would be passed over."""
    for page in PAGES:
        text = page.read_text("utf-8")
        assert len(re.findall(r"^\s*```python", text, re.MULTILINE)) == len(blocks(page, "python")), page
