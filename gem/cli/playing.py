"""`gem play`: a person plays an environment."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from gem.cli.screen import screen
from gem.core import Env
from gem.envs.registration import make
from gem.parsing import last_boxed, message_text
from gem.seeding import fresh_seed

__all__ = ["play_command"]

_HELP = "Type your answer and press Enter. `hint` shows a good move, `quit` (or Ctrl-D) leaves."


def play_command(id: str, *, seed: int | None, split: str | None) -> int:
    """Play one episode with lines of standard input; return 0 also when it is left early."""
    console = screen()
    seed = fresh_seed() % 1_000_000 if seed is None else seed
    # A typo must not end a person's game.
    with make(id, split=split, on_invalid="retry") as env:
        obs, _ = env.reset(seed=seed)
        console.print(f"{id}, seed {seed}. {_HELP}\n", style="dim", markup=False)
        boxed = "\\boxed" in message_text(obs)
        _show(console, obs)
        total, turn = 0.0, 0
        while True:
            line = _ask(console, turn + 1, env)
            if line is None:
                console.print("\nYou left before the end.", markup=False)
                return 0
            if line in ("hint", "help"):
                console.print(_hint(env) if line == "hint" else _HELP, style="dim", markup=False)
                continue
            action = f"\\boxed{{{line}}}" if boxed and last_boxed(line) is None else line
            obs, reward, terminated, truncated, info = env.step(action)
            total, turn = total + reward, turn + 1
            _show(console, obs)
            if reward:
                console.print(f"reward {reward:+.3g}", style="dim", markup=False)
            if terminated or truncated:
                console.print(_verdict(total, turn, info), style="bold", markup=False)
                return 0


def _show(console: Console, obs: Any) -> None:
    console.print(message_text(obs), markup=False, soft_wrap=True)


def _ask(console: Console, turn: int, env: Env[Any, Any]) -> str | None:
    limit = f"/{env.max_turns}" if env.max_turns else ""
    try:
        if sys.stdin.isatty():
            line = input(f"\n[{turn}{limit}] > ")
        else:
            line = sys.stdin.readline()
            if not line:
                return None
            console.print(f"\n[{turn}{limit}] > {line.rstrip()}", markup=False)
    except (EOFError, KeyboardInterrupt):
        return None
    line = line.strip()
    return None if line == "quit" else line


def _hint(env: Env[Any, Any]) -> str:
    action = env.oracle_action()
    if action is None:
        return "There is no hint here."
    return f"Try: {last_boxed(message_text(action)) or message_text(action)}"


def _verdict(total: float, turn: int, info: dict[str, Any]) -> str:
    if "error" in info:
        return f"The environment failed: {info['error']['message']}"
    told = {True: "You won", False: "You lost"}.get(info.get("success"), "The end")  # type: ignore[arg-type]
    return f"\n{told} after {turn} turn{'s' * (turn != 1)}, reward {total:.3g}."
