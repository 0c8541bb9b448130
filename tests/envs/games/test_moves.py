"""Moves are read however models write them, and nothing else is read as a move."""

from __future__ import annotations

import pytest

from gem.envs.games.moves import clean, direction, integers, word

NUMBERS = {
    "2 3": [2, 3],
    "(2, 3)": [2, 3],
    "row 2, col 3": [2, 3],
    r"2\ 3": [2, 3],
    r"2 \, 3": [2, 3],
    r"2\quad 3": [2, 3],
    "2~3": [2, 3],
    r"\left(2, 3\right)": [2, 3],
    r"\text{row } 2,\ \text{col } 3": [2, 3],
    r"\mathbf{\text{2 3}}": [2, 3],
    "2-3": [2, 3],
    "-2 3": [-2, 3],
    "1,2-1,6": [1, 2, 1, 6],
    "2 3 x": None,
    "two": None,
    "": None,
}


@pytest.mark.parametrize("text", NUMBERS, ids=repr)
def test_numbers(text):
    assert integers(text) == NUMBERS[text]


def test_a_count_is_kept():
    assert integers("1 2 3", 3) == [1, 2, 3]
    assert integers("1 2 3", 2) is None


@pytest.mark.parametrize(
    "text",
    [
        "up",
        "UP",
        " Up ",
        "u",
        "(up)",
        "[up]",
        r"\text{up}",
        r"\textit{up}",
        r"\mathrm{up}",
        r"\textbf{\text{up}}",
        r"\left(up\right)",
        "'up'",
        "**up**",
    ],
)
def test_directions(text):
    assert direction(text) == "up"


@pytest.mark.parametrize("text", ["upwards", "up up", "", "north", "up down"])
def test_what_is_no_direction(text):
    assert direction(text) is None


@pytest.mark.parametrize("text", ["cat", "C A T", "c-a-t", r"\text{CAT}", r"c\,a\,t", "'cat'"])
def test_words(text):
    assert word(text) == "cat"


def test_long_text_is_cut():
    assert len(clean("x" * 10_000)) == 200
