"""`evaluate`: plays a run and writes it to a folder as it goes.

A run is `run.json` (what was asked), `episodes.jsonl` (one `Trajectory` a line, in the order in which they ended) and
`summary.json` (the numbers).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TextIO

from gem.envs.registration import spec
from gem.errors import GemError
from gem.evaluation.metrics import Summary, summarise
from gem.faults import ErrorInfo
from gem.rollout.agent import Act, Agent, as_agent
from gem.rollout.driver import run
from gem.specs import EnvSpec
from gem.trajectory import Trajectory

__all__ = ["Result", "evaluate"]

_SCHEMA = 1
_log = logging.getLogger("gem.evaluation")


@dataclass(frozen=True)
class Result:
    """A finished run: its folder, its numbers, and its episodes in the order of the plan."""

    out: Path
    summaries: list[Summary]
    episodes: list[Trajectory]


def evaluate(
    envs: str | EnvSpec | Sequence[str | EnvSpec],
    agent: Agent | Act,
    *,
    out: str | Path,
    tasks: int = 20,
    samples: int = 1,
    seed: int = 0,
    on_episode: Callable[[Trajectory], object] | None = None,
    **options: Any,
) -> Result:
    """Let an agent play environments, and write the run to the folder `out`.

    Args:
        envs: An id or spec, or several.
        agent: An agent, or an async function `act(observation, info)`.
        out: The folder; it must not hold a run yet.
        tasks: How many tasks of each environment's split.
        samples: Episodes per task.
        seed: Of the run.
        on_episode: Called with each episode as it ends.
        options: As of `gem.rollout.run`.

    Raises:
        GemError: `out` holds a run already, or is no folder.
    """
    folder, player = Path(out), as_agent(agent)
    rows = [spec(id) for id in ([envs] if isinstance(envs, (str, EnvSpec)) else envs)]
    asked = {
        "schema": _SCHEMA,
        "envs": [{"id": row.id, "version": row.info.version, "kwargs": dict(row.kwargs)} for row in rows],
        "agent": player.name,
        "tasks": tasks,
        "samples": samples,
        "seed": int(seed),
        "options": {name: _plain(value) for name, value in options.items()},
        "gem_version": _version(),
        "started": _now(),
    }
    with _claimed(folder, asked) as file:

        def keep(episode: Trajectory) -> None:
            file.write(_line(episode) + "\n")
            file.flush()
            if on_episode is not None:
                on_episode(episode)

        episodes = run(rows, player, tasks=tasks, samples=samples, seed=seed, on_episode=keep, **options)
    summaries = summarise(episodes)
    _write(folder / "summary.json", {"schema": _SCHEMA, "finished": _now(), "envs": [asdict(row) for row in summaries]})
    return Result(folder, summaries, episodes)


@contextmanager
def _claimed(folder: Path, asked: dict[str, Any]) -> Iterator[TextIO]:
    """Make the files of a run, and take them away again where it fails before its first episode."""
    run_file, episodes = folder / "run.json", folder / "episodes.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if run_file.exists():
            raise FileExistsError
        file = open(episodes, "x", encoding="utf-8")  # noqa: SIM115  # of two runs that begin at once, one gets it
    except (FileExistsError, NotADirectoryError):
        what = "holds a run already" if folder.is_dir() else "is no folder"
        raise GemError(f"{folder} {what}: choose another folder") from None
    with file:
        try:
            _write(run_file, asked)
            yield file
        except BaseException:
            if file.tell() == 0:
                run_file.unlink(missing_ok=True)
                episodes.unlink(missing_ok=True)
            raise


def _line(episode: Trajectory) -> str:
    try:
        return episode.to_json()
    except Exception as error:  # what an agent or environment put in is no JSON: that one episode is lost, and not the run
        _log.warning("%s, task %s: the episode can't be written: %s: %s", episode.env_id, episode.task, type(error).__name__, error)
        episode.turns, episode.metrics, episode.final_observation, episode.reward = [], {}, None, 0.0
        episode.fail(ErrorInfo.of(error, "worker"))
        return episode.to_json()


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it, or described where it can't."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gem-gym")
    except PackageNotFoundError:
        return "unknown"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _write(path: Path, value: Any) -> None:
    # Whole or not at all: a reader never sees half a file.
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    os.replace(part, path)
