"""What all commands share: help, mistakes in one line, exit codes, pipes that close, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gem.cli import main
from tests.cli.conftest import PATIENCE_S, environ

COMMANDS = ("list", "info", "check", "play", "new", "eval")
SCRIPTS = Path(sys.executable).parent


def test_help_names_every_command_and_the_exit_codes(gem):
    shown = gem("--help")
    assert shown.code == 0
    assert shown.err == ""
    assert shown.out.startswith("Usage: python -m gem ")
    assert [name for name in COMMANDS if f"\n  {name} " not in shown.out] == []
    assert "0 done, 1 the answer is no, 2 wrong use, 130 interrupted" in shown.out
    assert "..." not in shown.out.partition("Commands:")[2]  # no sentence is cut


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_page_that_fits(gem, command, flag):
    shown = gem(command, flag)
    assert (shown.code, shown.err) == (0, "")
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "<str>" not in shown.out
    assert "{" not in shown.out


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("list", "[OPTIONS] [PATTERN]"),
        ("info", "[OPTIONS] [ID]"),
        ("check", "[OPTIONS] TARGET"),
        ("play", "[OPTIONS] ID"),
        ("new", "[OPTIONS] PACKAGE"),
        ("eval", "[OPTIONS] ID..."),
    ],
)
def test_the_usage_line_says_what_a_command_takes(gem, command, usage):
    assert gem(command, "--help").out.splitlines()[0] == f"Usage: python -m gem {command} {usage}"


def test_without_a_command_the_help_page_is_an_error(gem):
    shown = gem()
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith("Usage: python -m gem ")


def test_the_version_is_that_of_the_package(gem):
    from gem import __version__

    assert gem("--version").out == f"gem-gym {__version__}\n"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["lst"], "Error: No such command 'lst'"),
        (["list", "--jsn"], "--json"),
        (["list", "a", "b"], "unexpected extra argument"),
        (["eval"], "Error: Missing argument 'ID'. Help: python -m gem eval --help"),
        (["eval", "game:Sudoku-v0", "--tasks", "0"], "--tasks"),
        (["eval", "game:Sudoku-v0", "--tasks", "many"], "--tasks"),
        (["new", "zq-envs", "--kind", "sngle"], "'single', 'multi'"),
        (["info", "game:Sudko-v0"], "Did you mean 'game:Sudoku-v0'"),
        (["play", "game:Sudko-v0"], "Did you mean 'game:Sudoku-v0'"),
        (["play", "game:Sudoku-v0", "--split", "trian"], "it has train, test"),
        (["check", "game:Sudko-v0"], "Did you mean 'game:Sudoku-v0'"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line_on_standard_error(gem, args, told):
    shown = gem(*args)
    assert shown.code == 2
    assert shown.out == ""
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_a_setting_that_cannot_be_read_is_one_line(process):
    shown = process("list", GEM_HTTP_RETRIES="some")
    assert shown.code == 2
    assert shown.err.startswith("Error: GEM_HTTP_RETRIES='some' cannot be read")
    assert shown.err.count("\n") == 1


def test_an_error_of_the_program_keeps_its_traceback(gem, monkeypatch):
    monkeypatch.setattr("gem.cli.catalogue.list_envs", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gem("list")


@pytest.mark.parametrize("script", ["gem", "gem-gym"])
def test_the_scripts_speak_of_themselves(process, script):
    if not (SCRIPTS / script).exists():
        pytest.skip(f"{script} is not installed beside this Python")
    assert process("list", "--help", program=(str(SCRIPTS / script),)).out.startswith(f"Usage: {script} list ")
    assert f"Help: {script} --help" in process("lst", program=(str(SCRIPTS / script),)).err


def test_warnings_of_the_library_are_one_line(process):
    code = (
        "import warnings, gem.cli, gem.cli.catalogue as catalogue\n"
        "real = catalogue.list_envs\n"
        "catalogue.list_envs = lambda *a, **k: (warnings.warn('package x is broken', RuntimeWarning), real(*a, **k))[1]\n"
        "raise SystemExit(gem.cli.main())"
    )
    shown = process("list", "game:Su*", program=(sys.executable, "-c", code))
    assert shown.code == 0
    assert shown.err == "warning: package x is broken\n"


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["info"], ["--help"]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(args, tmp_path):
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as closed:
        command = [sys.executable, "-m", "gem", *args]
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, cwd=tmp_path, env=environ(), timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "args", [["check", "game:GuessTheNumber-v0-easy"], ["eval", "game:GuessTheNumber-v0-easy", "-n", "2"]], ids=" ".join
)
def test_a_terminal_that_knows_nothing_gets_plain_lines(terminal, args):
    command = terminal(*args, TERM="dumb")
    assert command.end() == 0
    assert "\x1b" not in command.shown
    assert not command.shown.startswith("\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "gem", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environ(), timeout=PATIENCE_S)
    assert done.returncode == 2
    assert done.stderr == b"Error: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(process, closed):
    shown = process(program=("sh", "-c", f"exec {sys.executable} -m gem list 'game:Su*' {closed}"))
    assert (shown.code, shown.err) == (0, "")


def test_text_that_the_locale_cannot_show_is_no_error(process):
    shown = process("eval", "game:Sudoku-v0-easy", "-n", "2", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (shown.code, shown.err) == (0, "")
    assert "+-" in shown.out


def test_colours_are_for_terminals_that_want_them(terminal, gem):
    coloured, plain, dumb = (
        terminal("list", "game:Su*"),
        terminal("list", "game:Su*", NO_COLOR="1"),
        terminal("list", "game:Su*", TERM="dumb"),
    )
    assert [coloured.end(), plain.end(), dumb.end()] == [0, 0, 0]
    assert "\x1b[" in coloured.shown
    assert "\x1b" not in plain.shown + dumb.shown + gem("list", "game:Su*").out


def test_ctrl_c_is_a_short_line(terminal):
    command = terminal("check", "game:*")
    command.wait("ok      game:")
    command.press("c")
    assert command.end() == 130
    assert command.shown.endswith("\ninterrupted\n")
    assert "Traceback" not in command.shown


def test_ctrl_c_while_the_program_loads_is_a_short_line(terminal):
    clean = 0
    for after_s in (0.1, 0.2, 0.3, 0.5, 1.0, 3.0):
        command = terminal("check", "game:*")
        time.sleep(after_s)
        command.press("c")
        code = command.end()
        if code == -signal.SIGINT or (", in main" not in command.shown and "Traceback" in command.shown):
            continue  # Python itself was still starting, and nothing of gem ran
        assert (code, command.shown.splitlines()[-1]) == (130, "interrupted")
        assert "Traceback" not in command.shown
        clean += 1
        if clean == 3:
            break
    assert clean


def test_ctrl_c_that_python_has_wrapped_is_ctrl_c(monkeypatch, capsys):
    def interrupted(args):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("gem.cli._run", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
