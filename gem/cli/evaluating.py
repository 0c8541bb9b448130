"""`gem eval`."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gem.cli.screen import screen
from gem.config import settings
from gem.envs.registration import list_envs, spec
from gem.errors import EnvNotFound
from gem.evaluation import Summary, evaluate
from gem.rollout import agents
from gem.trajectory import Trajectory

__all__ = ["eval_command", "summary_table"]


def _ids(patterns: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        rows = list_envs(pattern) if any(sign in pattern for sign in "*?[") else [spec(pattern)]
        if not rows:
            raise EnvNotFound(f"no environment matches {pattern!r}. All of them: python -m gem list")
        found.update(dict.fromkeys(row.id for row in rows))
    return list(found)


def eval_command(patterns: Sequence[str], *, agent: str, tasks: int, samples: int, out: Path | None, json: bool, **options: Any) -> int:
    """Play, print the table, and say where the episodes are; return 1 where an episode failed."""
    ids = _ids(patterns)
    names = [name.strip() for name in agent.split(",") if name.strip()]
    players = [agents.get(name) for name in names]
    folder = out or settings().runs_dir / datetime.now().strftime("%Y%m%d-%H%M%S")
    summaries: list[Summary] = []
    with _Progress(len(ids) * tasks * samples * len(players), quiet=json) as progress:
        for player in players:
            own = folder if len(players) == 1 else folder / player.name
            summaries += evaluate(ids, player, out=own, tasks=tasks, samples=samples, on_episode=progress.count, **options).summaries
    if json:
        print(jsonlib.dumps({"out": str(folder), "envs": [asdict(row) for row in summaries]}, indent=2))
    else:
        console = screen()
        console.print(summary_table(summaries))
        console.print(f"\nepisodes in {folder}", markup=False, soft_wrap=True)
    return int(any(row.errors for row in summaries))


class _Progress:
    """A progress line on a terminal: episodes, success so far, errors, time left. Nothing elsewhere."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=screen(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty())
        self._task = self._bar.add_task("episodes", total=total, told="")
        self._won = self._ended = self._errors = 0

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._bar.stop()

    def count(self, episode: Trajectory) -> None:
        self._errors += not episode.valid
        self._ended += episode.success is not None
        self._won += episode.success is True
        told = f"success {self._won / self._ended:.0%}" if self._ended else ""
        if self._errors:
            told += f"  errors {self._errors}"
        self._bar.update(self._task, advance=1, told=told)


def summary_table(summaries: Sequence[Summary]) -> Table:
    """Return the numbers of a run as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("environment", no_wrap=True)
    table.add_column("agent", no_wrap=True)
    for name in ("episodes", "errors", "reward", "95 %", "success", "95 %", "turns"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in summaries:
        table.add_row(
            row.env_id,
            row.agent,
            str(row.episodes),
            str(row.errors),
            _number(row.reward),
            _interval(row.reward_interval),
            _number(row.success),
            _interval(row.success_interval),
            "-" if row.turns is None else f"{row.turns:.1f}",
        )
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(value: tuple[float, float] | None) -> str:
    return "-" if value is None else f"{value[0]:.2f}..{value[1]:.2f}"
