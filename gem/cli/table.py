"""Tables of plain text: aligned, without trailing spaces, and as wide as what is in them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len, set_cell_size

__all__ = ["Column", "table"]

_GAP = "  "
_LEAST = 16  # the last column is never made narrower


@dataclass(frozen=True)
class Column:
    """A heading, and whether the column is set to the right."""

    title: str = ""
    right: bool = False


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    last: Literal["cut", "wrap"] = "cut",
    indent: str = "",
) -> list[str]:
    """Return the lines of a table, its headings first if there are any.

    Args:
        columns: One for each cell of a row.
        rows: The cells.
        width: Columns of the terminal. Only the last column gives way to it: the ids before it must stay whole.
        last: How it gives way: `cut` or `wrap`.
        indent: Put before each line.
    """
    titles = [column.title for column in columns]
    lines = [titles, *rows] if any(titles) else list(rows)
    widths = [max((cell_len(row[n]) for row in lines), default=0) for n in range(len(columns))]
    before = sum(widths[:-1]) + len(_GAP) * (len(columns) - 1) + len(indent)
    room = None if width is None else max(width - before, _LEAST)
    shown: list[str] = []
    for row in lines:
        cells = [_aligned(cell, size, column.right) for cell, size, column in zip(row[:-1], widths[:-1], columns, strict=False)]
        parts = _fit(_aligned(row[-1], widths[-1], columns[-1].right), room, last)
        for n, part in enumerate(parts):
            front = _GAP.join([*cells, part]) if n == 0 else " " * (before - len(indent)) + part
            shown.append((indent + front).rstrip())
    return shown


def _aligned(text: str, size: int, right: bool) -> str:
    pad = " " * (size - cell_len(text))
    return pad + text if right else text + pad


def _fit(text: str, room: int | None, how: str) -> list[str]:
    text = text.rstrip()
    if room is None or cell_len(text) <= room:
        return [text]
    if how == "wrap":
        return textwrap.wrap(text, room) or [""]
    return [set_cell_size(text, room - 3).rstrip() + "..."]
