"""`gem eval`."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from gem.cli.catalogue import is_pattern, matching
from gem.cli.progress import RunProgress
from gem.cli.results import by_environment, fault_lines, summary_lines
from gem.cli.screen import Interrupted, say, shown_width
from gem.config import settings
from gem.envs.registration import spec
from gem.errors import GemError
from gem.evaluation import Summary, evaluate
from gem.rollout import Agent, agents
from gem.rollout.driver import plan
from gem.trajectory import Trajectory

__all__ = ["eval_command"]


def eval_command(patterns: Sequence[str], *, agent: str, tasks: int, samples: int, out: Path | None, json: bool, **options: Any) -> int:
    """Play, print the table, and say where the episodes are; return 1 where a fault cut off an episode."""
    names = dict.fromkeys(name.strip() for name in agent.split(",") if name.strip()) or {"": None}
    players = [agents.get(name) for name in names]
    ids = _ids(patterns)
    asked = {"tasks": tasks, "samples": samples, "seed": options["seed"], "split": options["split"], "max_turns": options["max_turns"]}
    planned = plan(ids, **asked)  # whatever can't be played is told before there is a folder
    folder = _folder(out, players)
    faulted: list[Trajectory] = []
    summaries: list[Summary] = []
    progress = RunProgress(len(planned), len(players), quiet=json)

    def keep(episode: Trajectory) -> None:
        progress.count(episode)
        if not episode.valid:
            faulted.append(episode)

    try:
        with progress:
            for player in players:
                progress.agent(player.name)
                own = _own(folder, player, players)
                summaries += evaluate(ids, player, out=own, tasks=tasks, samples=samples, on_episode=keep, **options).summaries
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: {progress.ended} of {progress.total} episodes ended, and are in {folder}") from None
    except OSError as why:  # not an environment's: those are faults of episodes
        raise GemError(f"{folder} cannot be written: {why.strerror or why}. {progress.ended} of {progress.total} episodes ended") from None
    summaries = by_environment(summaries, ids)
    if json:
        say(jsonlib.dumps({"out": str(folder), "envs": [asdict(row) for row in summaries]}, indent=2))
    else:
        splits = dict.fromkeys(row.task.partition("/")[0] for row in planned)
        how = f"split {' and '.join(splits)}, seed {options['seed']}"
        _show(summaries, faulted, players, how, folder)
    return int(bool(faulted))


def _ids(patterns: Sequence[str]) -> list[str]:
    rows = [row for pattern in patterns for row in (matching(pattern) if is_pattern(pattern) else [spec(pattern)])]
    return list(dict.fromkeys(row.id for row in rows))


def _own(folder: Path, player: Agent, players: Sequence[Agent]) -> Path:
    return folder if len(players) == 1 else folder / player.name


def _folder(out: Path | None, players: Sequence[Agent]) -> Path:
    """Make the folder of the run.

    Raises:
        GemError: it holds a run already, or cannot be made.
    """
    folder = settings().runs_dir / datetime.now().strftime("%Y%m%d-%H%M%S") if out is None else out
    if out is None:
        number = 1
        while folder.exists():  # another run began in this second
            number += 1
            folder = folder.with_name(f"{folder.name.partition('_')[0]}_{number}")
    for held in (folder, *(_own(folder, player, players) for player in players)):
        if (held / "run.json").exists():
            raise GemError(f"{held} holds a run already. Give --out another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise GemError(f"no folder {folder} can be made: {why.strerror or why}. Give --out another one") from None
    return folder


def _show(summaries: Sequence[Summary], faulted: Sequence[Trajectory], players: Sequence[Agent], how: str, folder: Path) -> None:
    heading, *lines = summary_lines(summaries, width=shown_width())
    say(heading, "bold")
    for line in lines:
        say(line)
    say()
    counts = {row.episodes for row in summaries}
    each = f"{counts.pop()} episodes of each environment" if len(counts) == 1 else f"{sum(row.episodes for row in summaries)} episodes"
    say(f"{' and '.join(player.name for player in players)}, {each}, {how}")
    if faulted:
        for n, line in enumerate(fault_lines(faulted, sum(row.episodes for row in summaries))):
            say(line, "" if n else "red")
    several = f" (one folder for each agent: {', '.join(player.name for player in players)})" if len(players) > 1 else ""
    say(f"episodes in {folder}{several}")
