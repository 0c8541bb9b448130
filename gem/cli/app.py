"""The commands, as typer sees them. Each is a thin door to a module of this package, imported when it is used."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

__all__ = ["app"]


class _Command(TyperCommand):
    """A command whose help page is the same with every version of typer: `ID`, `[ID]` and `ID...`, without types."""

    def get_help(self, ctx: Any) -> str:
        """Return the page; what stood in columns stays in them."""
        usage, page = super().get_help(ctx).split("\n", 1)
        for argument in self.params:
            name = argument.metavar
            if argument.param_type_name == "argument" and name:
                shown = name + "..." * (argument.nargs != 1)
                usage = re.sub(rf"[\[{{]*{name}[\]}}.]*$", shown if argument.required else f"[{shown}]", usage)
                page = re.sub(
                    rf"^  {name}( <\S+>)", lambda found: found[0].replace(found[1], " " * len(found[1])), page, flags=re.MULTILINE
                )
        return f"{usage}\n{page}".replace("\\[", "[")


app = typer.Typer(
    help="Environments for LLM agents: list, inspect, check, play and evaluate them.",
    epilog="Exit codes: 0 done, 1 the answer is no, 2 wrong use, 130 interrupted.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Kind(str, Enum):
    """What `new` can write."""

    single = "single"
    multi = "multi"


def _examples(*lines: str) -> str:
    """Return the end of a help page; the control character keeps its lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  python -m gem {line}" for line in lines)])


Id = Annotated[str, typer.Argument(metavar="ID", help="An environment, such as game:Sudoku-v0-easy.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Split that the tasks come from.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from gem.cli.facts import version_line

        print(version_line())
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command("list", cls=_Command, epilog=_examples("list 'game:*-easy'", "list --json"))
def list_(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="Shell pattern over ids, in quotes, such as 'game:*'.")] = "*",
    json: Json = False,
    offline: Annotated[bool, typer.Option("--offline", help="Only those that need no network.")] = False,
) -> int:
    """List environments."""
    from gem.cli.catalogue import list_command

    return list_command(pattern, json=json, offline=offline)


@app.command(cls=_Command)
def info(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="An environment; without one: this installation.")] = None,
    json: Json = False,
) -> int:
    """Tell about an environment, or about this installation.

    Without an ID: versions, the settings and where each comes from, and whether another package owns files of gem.
    """
    from gem.cli.facts import info_command

    return info_command(id, json=json)


@app.command(
    cls=_Command,
    short_help="Check an environment against the contract.",
    epilog=_examples("check game:Sudoku-v0-easy", "check 'my-envs/*'", "check my_envs.env:MyEnv"),
)
def check(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="An id, a pattern over ids, or package.module:Class.")],
    episodes: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes that measure random play.")] = 200,
    json: Json = False,
) -> int:
    """Check an environment against the contract; the exit code is 1 where it breaks a clause."""
    from gem.cli.checking import check_command

    return check_command(target, episodes=episodes, json=json)


@app.command(cls=_Command, short_help="Play an environment yourself.")
def play(
    id: Id,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The same seed gives the same game.")] = None,
    split: Split = None,
) -> int:
    """Play an environment yourself.

    Type a move and press Enter; `hint` shows a good one, `quit` leaves. Moves can be piped in, one a line.
    """
    from gem.cli.playing import play_command

    return play_command(id, seed=seed, split=split)


@app.command(cls=_Command, short_help="Write a package with an environment of your own.")
def new(
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help="Its name, such as my-envs; its folder is made here.")],
    kind: Annotated[Kind, typer.Option(help="One answer, or many turns.")] = Kind.single,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to make it in.")] = Path("."),
) -> int:
    """Write a package with an environment of your own, its tests and a README: ready to install, play and change."""
    from gem.cli.scaffolding import new_command

    return new_command(package, kind=kind.value, out=out)


@app.command(
    "eval",
    cls=_Command,
    short_help="Let an agent play environments, and print how it did.",
    epilog=_examples("eval game:Sudoku-v0-easy --agent oracle", "eval 'game:*-easy' --agent oracle,random --tasks 50"),
)
def eval_(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Environments, or patterns over ids such as 'game:*-easy'.")],
    agent: Annotated[str, typer.Option(metavar="NAME", help="Who plays: oracle or random; 'oracle,random' plays with both.")] = "random",
    tasks: Annotated[int, typer.Option("-n", "--tasks", min=1, metavar="N", help="Tasks per environment.")] = 20,
    samples: Annotated[int, typer.Option("-k", "--samples", min=1, metavar="K", help="Episodes per task.")] = 1,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Seed of the run.")] = 0,
    split: Annotated[str | None, typer.Option(metavar="NAME", help="By default test, or the only split.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Replaces the turn limit.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes at a time.")] = 16,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the run; by default a new one under runs/.")] = None,
    json: Json = False,
) -> int:
    """Let an agent play environments, and print how it did.

    The folder of the run gets run.json (what was asked), episodes.jsonl (every episode) and summary.json (the numbers); with
    several agents it has one such folder for each. The exit code is 1 where a fault cut off an episode.
    """
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
