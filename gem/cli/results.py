"""The numbers of a run as people read them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from gem.cli.table import Column, table
from gem.evaluation import Summary
from gem.trajectory import Trajectory

__all__ = ["by_environment", "fault_lines", "summary_lines"]

_MOST_FAULTS = 5


def by_environment(summaries: Iterable[Summary], ids: Sequence[str]) -> list[Summary]:
    """Return the rows with those of one environment next to each other, in the order of `ids`; agents keep their order."""
    order = {id: n for n, id in enumerate(ids)}
    return sorted(summaries, key=lambda row: order.get(row.env_id, len(order)))


def summary_lines(summaries: Sequence[Summary], *, width: int | None = None) -> list[str]:
    """Return the table of a run, its headings first. A column that says the same in every row is left out.

    Where the table is wider than the terminal, each id gets a line of its own: it is never cut.
    """
    agents = len({row.agent for row in summaries}) > 1
    uneven = len({row.episodes for row in summaries}) > 1
    faults = any(row.errors for row in summaries)
    titles = ["agent"] * agents + ["episodes"] * uneven + ["failed"] * faults
    columns = [Column("environment"), *(Column(title, right=title != "agent") for title in titles)]
    columns += [Column(title, right=True) for title in ("reward", "95 %", "success", "95 %", "turns")]
    rows = [
        [row.env_id, *[row.agent] * agents, *[str(row.episodes)] * uneven, *[str(row.errors)] * faults, *_numbers(row)] for row in summaries
    ]
    lines = table(columns, rows)
    if width is None or max(map(len, lines)) <= width:
        return lines
    return _stacked(columns, rows)


def _stacked(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    heading, *lines = table(columns[1:], [row[1:] for row in rows], indent="  ")
    shown, last = [heading], ""
    for row, line in zip(rows, lines, strict=True):
        if row[0] != last:
            shown.append(row[0])
        last = row[0]
        shown.append(line)
    return shown


def _numbers(row: Summary) -> list[str]:
    reward = "-" if row.reward is None else f"{row.reward:.3f}"
    # The interval of a mean is symmetric, that of a share is not.
    spread = "-" if row.reward_interval is None else f"{_plus_minus()}{(row.reward_interval[1] - row.reward_interval[0]) / 2:.3f}"
    success = "-" if row.success is None else f"{100 * row.success:.0f} %"
    interval = row.success_interval
    bounds = "-" if interval is None else f"{100 * max(interval[0], 0):.0f}..{100 * min(interval[1], 1):.0f}"
    return [reward, spread, success, bounds, "-" if row.turns is None else f"{row.turns:.1f}"]


def _plus_minus() -> str:
    try:
        "±".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "+-"
    return "±"


def fault_lines(faulted: Sequence[Trajectory], episodes: int) -> list[str]:
    """Return what cut episodes off, the most frequent first, each with one task where it happened."""
    kinds: Counter[str] = Counter()
    where: dict[str, str] = {}
    for episode in faulted:
        error = episode.error or {}
        message = str(error.get("message", ""))
        for prefix in (f"{episode.env_id}, task {episode.task}: ", f"{episode.env_id}: "):
            message = message.removeprefix(prefix)
        kind = f"{error.get('type', 'error')}: {message}"
        kinds[kind] += 1
        where.setdefault(kind, f"{episode.env_id}, task {episode.task}")
    lines = [f"{len(faulted)} of {episodes} episodes were cut off by a fault; they are in none of the means:"]
    for kind, times in kinds.most_common(_MOST_FAULTS):
        lines.append(f"  {times} x {' '.join(kind.split())[:300]} (first: {where[kind]})")
    if len(kinds) > _MOST_FAULTS:
        lines.append(f"  and {len(kinds) - _MOST_FAULTS} other kinds")
    return lines
