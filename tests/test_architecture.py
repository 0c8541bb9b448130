"""The layers hold, and the linter would notice if they did not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINT = Path(sys.executable).parent / "lint-imports"


@pytest.fixture
def copy(tmp_path) -> Path:
    shutil.copytree(ROOT / "gem", tmp_path / "gem", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def lint(folder: Path) -> tuple[int, str]:
    done = subprocess.run([LINT, "--no-cache"], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/env.py", "from gem.wrappers import TimeLimit"),
        ("seeding.py", "import gem.errors"),
        ("clients/http.py", "def late():\n    from gem.envs.registration import make"),
    ],
)
def test_an_import_upwards_is_noticed(copy, module, line):
    with open(copy / "gem" / module, "a") as file:
        file.write(f"\n{line}\n")
    code, output = lint(copy)
    assert code == 1
    assert "Imports go down only BROKEN" in output


def test_an_import_of_the_facade_is_noticed(copy):
    with open(copy / "gem" / "rollout" / "driver.py", "a") as file:
        file.write("\nimport gem\n")
    code, output = lint(copy)
    assert code == 1
    assert "Nothing in the house imports the facade BROKEN" in output


def test_a_room_that_is_in_no_layer_is_noticed(copy):
    (copy / "gem" / "utils.py").write_text('"""Whatever."""\n')
    assert lint(copy)[0] == 1
