"""Sudoku levels: grids with exactly one solution and exactly so many clues, made in bounded time."""

from __future__ import annotations

import random
from functools import cache

from gem.envs.games.sudoku_solver import Search, TooLong, layout

__all__ = ["make_level"]

_FILL_STEPS = 1000


def full_grid(scale, rng):
    search = Search([0] * scale**2, scale, _FILL_STEPS)
    search.count(list(range(scale**2)), 1, rng)
    return search.grid


def make_level(scale, clues, rng, budget=300):
    solution = full_grid(scale, rng)
    search = Search(solution, scale, budget)
    order = list(range(scale**2))
    rng.shuffle(order)
    empty = []
    need = scale**2 - clues
    for cell in order:
        if len(empty) == need:
            break
        number = solution[cell]
        search.flip(cell, number)
        if not single(search, cell, number, empty) and other(search, cell, number, empty):
            search.flip(cell, number)
        else:
            empty.append(cell)
            search.grid[cell] = 0
    return search, solution, empty


def single(search, cell, number, empty):
    if search.options(cell) == 1 << number:
        return True
    row, column, box = search.layout.places[cell]
    units = search.layout.units
    n = search.layout.scale
    grid = search.grid
    for unit in (units[row], units[n + column], units[2 * n + box]):
        for c in unit:
            if not grid[c] and c != cell and search.options(c) >> number & 1:
                break
        else:
            return True
    return False


def other(search, cell, number, empty):
    if search.steps <= 0:
        return True
    saved = search.rows[:], search.columns[:], search.boxes[:]
    try:
        for alt in range(1, search.layout.scale + 1):
            if alt != number and search.options(cell) >> alt & 1:
                search.flip(cell, alt)
                n = search.count(empty, 1)
                search.flip(cell, alt)
                if n:
                    for c in empty:
                        search.grid[c] = 0
                    return True

    except TooLong:
        search.rows, search.columns, search.boxes = saved
        for c in empty:
            search.grid[c] = 0
        return True
    return False
