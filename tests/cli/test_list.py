"""`list`: which environments there are, in a table that fits or as JSON."""

from __future__ import annotations

import json

import pytest

from gem import list_envs, register
from gem.specs import EnvInfo
from gem.testing import EchoEnv

GAMES = [row.id for row in list_envs("game:*")]


def test_the_table_has_a_row_for_each_environment(gem):
    shown = gem("list", "game:*")
    heading, *rows = shown.out.splitlines()
    assert (shown.code, shown.err) == (0, "")
    assert heading.split() == ["id", "what", "it", "is"]
    assert [row.split()[0] for row in rows] == sorted(GAMES)
    assert len({row.index(row.split(maxsplit=1)[1]) for row in rows}) == 1  # aligned
    assert [row for row in rows if row != row.rstrip()] == []


def test_a_pattern_selects(gem):
    assert [line.split()[0] for line in gem("list", "game:Su*-easy").out.splitlines()[1:]] == ["game:Sudoku-v0-easy"]


def test_json_has_all_that_is_declared(gem):
    rows = {row["id"]: row for row in json.loads(gem("list", "game:*", "--json").out)}
    assert list(rows) == sorted(GAMES)
    row = rows["game:Sudoku-v0-easy"]
    assert row["entry_point"] == "gem.envs.games.sudoku:Sudoku"
    assert (row["kwargs"]["scale"], row["max_turns"], row["oracle"], row["offline"]) == (4, 15, "actions", True)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("sudoku", "Did you mean '*Sudoku*'?"),
        ("*SUDOKU*", "Did you mean '*Sudoku*'?"),
        ("game:Sudko-v0*", "Did you mean 'game:Sudoku-v0'"),
        ("gme:*", "Did you mean 'game:*'?"),
        ("x*", "no environment matches 'x*'. All of them: python -m gem list"),
        ("", "no environment matches ''. All of them: python -m gem list"),
    ],
)
def test_what_matches_nothing_names_what_is_near(gem, pattern, told):
    shown = gem("list", pattern)
    assert (shown.code, shown.out) == (2, "")
    assert told in shown.err
    assert gem("list", pattern, "--json").code == 2


def test_offline_leaves_out_what_needs_the_network(gem):
    register("web:page", EchoEnv, info=EnvInfo(description="Read a page", offline=False))
    register("web:copy", EchoEnv, info=EnvInfo(description="Read a copy"))
    assert "web:page  Read a page (needs the network)\n" in gem("list", "web:*").out
    assert [line.split()[0] for line in gem("list", "web:*", "--offline").out.splitlines()] == ["id", "web:copy"]
    shown = gem("list", "web:page", "--offline")
    assert shown.code == 2
    assert "Leave out --offline" in shown.err


def test_wide_characters_stay_aligned(gem):
    from gem.cli.table import Column, table

    assert table([Column("a"), Column("b")], [("数独", "x"), ("go", "y")]) == ["a     b", "数独  x", "go    y"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_on_a_terminal_the_table_fits_and_no_id_is_cut(terminal, columns):
    command = terminal("list", "game:*", columns=columns, NO_COLOR="1")
    assert command.end() == 0
    lines = command.shown.splitlines()
    assert [line.split()[0] for line in lines[1 : len(GAMES) + 1]] == sorted(GAMES)
    assert max(map(len, lines[: len(GAMES) + 1])) <= max(columns, 47)  # 29 of the longest id, a gap, and 16 that are always left
    assert lines[-1] == f"{len(GAMES)} environments. More about one: python -m gem info ID"
    assert any(line.endswith("...") for line in lines) == (columns < 89)


def test_what_a_program_reads_is_never_cut(process):
    shown = process("list", "game:WikiGame-v0-easy", COLUMNS="40")
    assert shown.out.endswith("Get from a page of an encyclopedia to another by its links\n")
