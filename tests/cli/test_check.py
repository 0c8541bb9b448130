"""`check`: does an environment keep the contract?"""

from __future__ import annotations

import json

import pytest

from gem import register
from gem.testing import CrashEnv, EchoEnv
from gem.testing.clauses import CLAUSES

LAB = """
import gem

class Half(gem.Env):
    def reset(self, seed=None, options=None):
        _, info = super().reset(seed, options)
        return "hello", info
    def step(self, action):
        return "x", 1, True, True, {}

class Needs(gem.Env):
    def __init__(self, size):
        self.size = size

class Broken(gem.Env):
    def __init__(self):
        raise OSError("no disk")

not_a_class = 3
"""


@pytest.fixture
def lab(gem, tmp_path, monkeypatch):
    """Run a command beside a module `lab_<n>` that nobody has imported yet."""
    name = f"lab_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(LAB)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_an_environment_that_keeps_the_contract(gem):
    shown = gem("check", "game:GuessTheNumber-v0-easy", "--episodes", "50")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"ok      game:GuessTheNumber-v0-easy  ({len(CLAUSES)} clauses)\n"


def test_a_pattern_checks_all_and_sums_up(gem):
    register("lab:echo", EchoEnv)
    register("lab:crash", CrashEnv)
    shown = gem("check", "lab:*", "--episodes", "20")
    assert shown.code == 1
    assert shown.out.startswith("broken  lab:crash\n        never_raises: ")
    assert f"        ({CLAUSES['never_raises'].says})" in shown.out.replace("          (", "        (")
    assert f"\nok      lab:echo  ({len(CLAUSES)} clauses)\n" in shown.out
    assert shown.out.endswith("\n1 of 2 are broken\n")


def test_json_maps_each_environment_to_what_it_breaks(gem):
    register("lab:echo", EchoEnv)
    register("lab:crash", CrashEnv)
    shown = gem("check", "lab:*", "--episodes", "20", "--json")
    found = json.loads(shown.out)
    assert (shown.code, found["lab:echo"]) == (1, {})
    assert "never_raises" in found["lab:crash"]


def test_a_class_of_the_current_folder(gem, lab):
    shown = gem("check", f"{lab}:Half", "--episodes", "5")
    assert shown.code == 1
    assert "reward_is_float: a reward is 1 of type int" in shown.out
    assert "ends_in_one_way" in shown.out


@pytest.mark.parametrize(("name", "told"), [("Needs", "missing 1 required positional argument"), ("Broken", "OSError: no disk")])
def test_what_cannot_be_made_is_an_answer(gem, lab, name, told):
    shown = gem("check", f"{lab}:{name}")
    assert (shown.code, shown.err) == (1, "")
    assert f"broken  {lab}:{name}\n        it cannot be made: " in shown.out
    assert told in shown.out


def test_an_environment_that_cannot_be_made_does_not_stop_the_others(gem):
    register("lab:a", "no_such_module_here:Env")
    register("lab:b", EchoEnv)
    shown = gem("check", "lab:*", "--episodes", "5")
    assert shown.code == 1
    assert "it cannot be made: RegistrationError: lab:a: no module 'no_such_module_here'" in shown.out
    assert "ok      lab:b" in shown.out


def test_what_is_not_installed_is_skipped_among_others_and_an_error_alone(gem):
    register("lab:a", EchoEnv, requires=["no_such_thing=no-such-thing"])
    register("lab:b", EchoEnv)
    shown = gem("check", "lab:*", "--episodes", "5")
    assert (shown.code, shown.out) == (0, f"ok      lab:b  ({len(CLAUSES)} clauses)\n")
    assert shown.err == "skipped: lab:a needs no-such-thing. Install it: pip install 'no-such-thing'\n"
    assert json.loads(gem("check", "lab:*", "--episodes", "5", "--json").out) == {"lab:b": {}}
    alone = gem("check", "lab:a")
    assert (alone.code, alone.err) == (2, "MissingDependency: lab:a needs no-such-thing. Install it: pip install 'no-such-thing'\n")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("{lab}:Haf", "Did you mean '{lab}:Half'?"),
        ("{lab}:not_a_class", "is a int, not a class"),
        ("json:JSONDecoder", "json:JSONDecoder is not a subclass of gem.Env"),
        ("gem.testing:EchoEn", "Did you mean 'gem.testing:EchoEnv'?"),
        ("no_such_package.mod:Env", "no module 'no_such_package'"),
        ("game:Sudoku", "Did you mean 'game:Sudoku-v0'"),
        ("math:arithmetik", "no environment 'math:arithmetik'"),
        ("lab*", "no environment matches 'lab*'"),
    ],
)
def test_a_target_that_is_nowhere_is_one_line(gem, lab, target, told):
    shown = gem("check", target.format(lab=lab))
    assert (shown.code, shown.out) == (2, "")
    assert told.format(lab=lab) in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def f(:", "cannot be imported: SyntaxError: invalid syntax"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("import no_such_package", "needs no_such_package. Install it: pip install no_such_package"),
    ],
)
def test_a_module_that_fails_is_one_line(gem, tmp_path, monkeypatch, source, told):
    name = f"failing_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    shown = gem("check", f"{name}:Env")
    assert (shown.code, shown.out) == (2, "")
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_a_terminal_shows_what_is_being_checked(terminal):
    command = terminal("check", "game:GuessTheNumber-v0-[eh]*", "--episodes", "20", columns=80)
    assert command.end() == 0
    assert "checking game:GuessTheNumber-v0-easy (1 of 2)" in command.shown
    assert command.shown.endswith("all 2 keep the contract\x1b[0m\n")
