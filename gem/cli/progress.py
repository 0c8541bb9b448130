"""How far a run is and how long it takes: a live line on a terminal, elsewhere a line now and then, for logs."""

from __future__ import annotations

import sys
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from gem.cli.screen import coloured, live
from gem.trajectory import Trajectory

__all__ = ["RunProgress"]

_LOG_EVERY_S = 30.0
_WIDEST = 100


class RunProgress:
    """Counts the episodes of a run and tells on standard error: done of all, success, faults, time gone and time left.

    Attributes:
        ended: Episodes that ended, of all agents.
        total: Episodes of all agents.
    """

    def __init__(self, episodes: int, agents: int, *, quiet: bool) -> None:
        self.ended, self.total = 0, episodes * agents
        self._episodes, self._agents, self._quiet = episodes, agents, quiet
        self._live = not quiet and live(sys.stderr)
        self._played = self._done = self._told = self._won = self._faults = 0
        self._started = self._logged = monotonic()
        self._name = ""
        console = Console(stderr=True, highlight=False, color_system="auto" if coloured(sys.stderr) else None)
        console.width = min(console.width, _WIDEST)
        # Only the bar gives way to a narrow terminal.
        columns = (
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(None, style="dim", complete_style="green", finished_style="green", table_column=Column(ratio=1)),
            TextColumn("{task.fields[told]}", table_column=Column(no_wrap=True)),
            _Times(table_column=Column(no_wrap=True)),
        )
        self._bar = Progress(*columns, console=console, transient=True, expand=True, disable=not self._live)
        self._task: TaskID | None = None

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._bar.stop()

    def agent(self, name: str) -> None:
        """Begin to count the episodes of the next agent."""
        self._played += 1
        self._done = self._told = self._won = self._faults = 0
        self._started = self._logged = monotonic()
        self._name = name if self._agents == 1 else f"{name} ({self._played} of {self._agents})"
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(self._name, total=self._episodes, told=self._state())

    def count(self, episode: Trajectory) -> None:
        """Take in an episode that ended."""
        self.ended += 1
        self._done += 1
        self._faults += not episode.valid
        self._told += episode.success is not None
        self._won += episode.success is True
        if self._task is not None:
            self._bar.update(self._task, advance=1, told=self._state())
        self._log()

    def _state(self) -> str:
        parts = [f"{self._done}/{self._episodes}"]
        if self._told:
            parts.append(f"success {100 * self._won / self._told:.0f} %")
        if self._faults:
            parts.append(f"{self._faults} failed")
        return ", ".join(parts)

    def _log(self) -> None:
        now = monotonic()
        if self._quiet or self._live or now - self._logged < _LOG_EVERY_S:
            return
        self._logged, gone = now, now - self._started
        left = gone / self._done * (self._episodes - self._done)
        print(f"{self._name}: {self._state()}, {_clock(gone)} gone, about {_clock(left)} left", file=sys.stderr, flush=True)


class _Times(ProgressColumn):
    def render(self, task: Task) -> Text:
        left = "?" if task.time_remaining is None else _clock(task.time_remaining)
        return Text(f"{_clock(task.elapsed or 0.0)} gone, {left} left", style="dim")


def _clock(seconds: float) -> str:
    """Return minutes and seconds, and hours where there are some."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
