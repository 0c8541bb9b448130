"""`info`: an environment, or this installation."""

from __future__ import annotations

import json
import platform
from dataclasses import replace

import pytest

import gem_gym_doctor
from gem import register
from gem.specs import EnvInfo, WrapperSpec
from gem.testing import EchoEnv


def facts(text: str) -> dict[str, str]:
    """Return the lines of two columns."""
    return {parts[0]: parts[1] for line in text.splitlines() if len(parts := line.split(maxsplit=1)) == 2}


def test_an_environment_is_told_with_all_it_declares(gem):
    shown = gem("info", "game:Sudoku-v0-easy")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("game:Sudoku-v0-easy\nFill a grid that has exactly one solution\n")
    told = facts(shown.out)
    assert told["entry_point"] == "gem.envs.games.sudoku:Sudoku"
    assert told["kwargs"].startswith("clues=8, max_turns=15, scale=4")
    assert (told["max_turns"], told["oracle"], told["offline"], told["requires"]) == ("15", "actions", "yes", "-")


def test_needs_and_wrappers_are_told(gem):
    info = EnvInfo(tags=("a", "b"), deterministic=False)
    register(
        "lab:env", EchoEnv, max_turns=3, requires=["nothing_here=no-such-thing"], wrappers=[WrapperSpec("gem.wrappers:Timed")], info=info
    )
    told = facts(gem("info", "lab:env").out)
    assert (told["requires"], told["wrappers"], told["max_turns"]) == ("nothing_here=no-such-thing", "gem.wrappers:Timed", "3")
    assert (told["deterministic"], told["tags"]) == ("no", "a, b")
    row = json.loads(gem("info", "lab:env", "--json").out)
    assert (row["requires"], row["wrappers"]) == (["nothing_here=no-such-thing"], ["gem.wrappers:Timed"])


def test_a_pattern_is_no_id(gem):
    shown = gem("info", "game:*")
    assert shown.code == 2
    assert "python -m gem list 'game:*'" in shown.err


def test_the_installation_is_told_with_settings_and_where_each_comes_from(process):
    shown = process("info", GEM_RUNS_DIR="/data/runs")
    assert (shown.code, shown.err) == (0, "")
    told = facts(shown.out)
    assert told["GEM_RUNS_DIR"].split()[:2] == ["/data/runs", "environment"]
    assert told["GEM_PLUGINS"].split()[:2] == ["no", "environment"]
    assert told["GEM_HTTP_RETRIES"].split()[:2] == ["4", "default"]
    assert f"Python {platform.python_version()}" in shown.out


def test_the_installation_as_json(gem):
    told = json.loads(gem("info", "--json").out)
    assert told["settings"]["GEM_HTTP_RETRIES"] == {"value": 4, "from": "default", "help": "Retries of a failed HTTP request."}
    assert told["settings"]["GEM_RUNS_DIR"]["value"] == "runs"
    assert told["doctor"]["status"] == gem_gym_doctor.check().status
    assert told["packages"]["numpy"] != "not installed"
    assert told["environments"] > 30


@pytest.fixture
def clash(monkeypatch) -> gem_gym_doctor.Report:
    """gem-llm is installed beside gem-gym, and owns files of it."""
    rival = gem_gym_doctor.Owner("gem-llm", "0.1.0", "/site", files=40, shared=4, replaced=0, imported=False)
    report = replace(gem_gym_doctor.check(), others=(rival,), lacks=(), missing=(), changed=(), leftovers=())
    monkeypatch.setattr(gem_gym_doctor, "check", lambda: report)
    return report


def test_another_distribution_that_owns_gem_is_told_with_the_repair(gem, clash):
    shown = gem("info").out
    assert "healthy, with a warning" in shown
    assert "gem-llm 0.1.0 in /site (40 files, 4 shared with gem-gym)" in shown
    assert "\n    pip uninstall gem-llm\n" in shown
    doctor = json.loads(gem("info", "--json").out)["doctor"]
    assert (doctor["status"], doctor["others"][0]["name"]) == ("warning", "gem-llm")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("args", [["info"], ["info", "game:Game2048-v0-extreme-hard"]], ids=" ".join)
def test_on_a_terminal_it_fits(terminal, args, columns):
    command = terminal(*args, columns=columns, NO_COLOR="1")
    assert command.end() == 0
    long = [line for line in command.shown.splitlines() if len(line) > columns]
    assert [line for line in long if "installed in" not in line and "comes from" not in line] == []  # paths stay whole
