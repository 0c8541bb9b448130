"""The commands, as typer sees them. Each is a thin door to a module of this package, imported when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

__all__ = ["app"]

app = typer.Typer(
    help="Environments for LLM agents: list, inspect, check, play and evaluate them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Pattern = Annotated[str, typer.Argument(help="Shell pattern over ids, such as 'game:*'.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("list")
def list_(
    pattern: Pattern = "*", json: Json = False, offline: Annotated[bool, typer.Option(help="Only those that need no network.")] = False
) -> int:
    """List environments."""
    from gem.cli.catalogue import list_command

    return list_command(pattern, json=json, offline=offline)


@app.command()
def info(
    id: Annotated[Optional[str], typer.Argument(help="An environment; without one: this installation.")] = None, json: Json = False
) -> int:  # noqa: UP045  # typer evaluates it on 3.10 too
    """Tell about an environment, or about this installation."""
    from gem.cli.catalogue import info_command

    return info_command(id, json=json)


@app.command()
def check(
    target: Annotated[str, typer.Argument(help="An id, a pattern over ids such as 'game:*', or package.module:Class.")],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes that measure random play.")] = 200,
    json: Json = False,
) -> int:
    """Check an environment against the contract; exit code 1 where it breaks it."""
    from gem.cli.checking import check_command

    return check_command(target, episodes=episodes, json=json)


@app.command()
def play(
    id: Annotated[str, typer.Argument(help="An environment.")],
    seed: Annotated[Optional[int], typer.Option(min=0, help="The same seed gives the same game.")] = None,  # noqa: UP045
    split: Annotated[Optional[str], typer.Option(help="Split of the task.")] = None,  # noqa: UP045
) -> int:
    """Play an environment yourself. Works on a terminal and with piped input."""
    from gem.cli.playing import play_command

    return play_command(id, seed=seed, split=split)


@app.command()
def new(
    package: Annotated[str, typer.Argument(help="Name of the package, such as my-envs; its folder is made here.")],
    kind: Annotated[str, typer.Option(help="single (one answer) or multi (many turns).")] = "single",
    out: Annotated[Path, typer.Option(help="Folder to make it in.")] = Path("."),
) -> int:
    """Write a package with an environment of your own, ready to install and test."""
    from gem.cli.scaffolding import new_command

    return new_command(package, kind=kind, out=out)


@app.command("eval")
def eval_(
    ids: Annotated[list[str], typer.Argument(help="Environments, or patterns over ids such as 'game:*-easy'.")],
    agent: Annotated[str, typer.Option(help="Who plays; 'oracle,random' plays with both.")] = "random",
    tasks: Annotated[int, typer.Option("--tasks", "-n", min=1, help="Tasks per environment.")] = 20,
    samples: Annotated[int, typer.Option("--samples", "-k", min=1, help="Episodes per task.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 0,
    split: Annotated[Optional[str], typer.Option(help="By default test, or the only split.")] = None,  # noqa: UP045
    max_turns: Annotated[Optional[int], typer.Option(min=1, help="Replaces the turn limit.")] = None,  # noqa: UP045
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 16,
    out: Annotated[Optional[Path], typer.Option(help="Folder of the run; by default a new one under runs/.")] = None,  # noqa: UP045
    json: Json = False,
) -> int:
    """Let an agent play environments, and print how it did."""
    from gem.cli.evaluating import eval_command

    return eval_command(
        ids,
        agent=agent,
        tasks=tasks,
        samples=samples,
        seed=seed,
        split=split,
        max_turns=max_turns,
        concurrency=concurrency,
        out=out,
        json=json,
    )
