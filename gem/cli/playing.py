"""`gem play`: a person plays an environment.

A person types what belongs in the box, and a typo costs nothing: a move that could not be read and would have ended the episode
is taken back.
"""

from __future__ import annotations

import sys
import textwrap
from contextlib import suppress
from typing import Any

from gem.cli.screen import Interrupted, OutputFailed, flush, say, shown_width
from gem.core import Env
from gem.envs.registration import make, spec
from gem.parsing import last_boxed, message_text
from gem.seeding import fresh_seed

__all__ = ["play_command"]

_COMMANDS = "Or: hint (a good move), help (this again), quit."
_FENCE = "```"


def play_command(id: str, *, seed: int | None, split: str | None) -> int:
    """Play one episode with lines of standard input; return 0 also when it is left early."""
    seed = fresh_seed() % 1_000_000 if seed is None else seed
    exact = spec(id).info.snapshot == "exact"
    # What can be copied is played as agents play it: a typo is taken back. From the others, a softer rule is asked for.
    with make(id, split=split, on_invalid=None if exact else "retry") as env:
        game = _Game(env, again=f"python -m gem play {id} --seed {seed}" + (f" --split {split}" if split else ""), exact=exact)
        try:
            return game.play(seed)
        except KeyboardInterrupt:
            say()
            raise Interrupted(game.left()) from None


class _Game:
    def __init__(self, env: Env[Any, Any], *, again: str, exact: bool) -> None:
        self._env, self._again, self._exact = env, again, exact
        self._example: str | None = None
        self._boxed = False
        self._turn = 0
        self._total = 0.0

    def play(self, seed: int) -> int:
        obs, _ = self._env.reset(seed=seed)
        prompt = message_text(obs)
        self._boxed, self._example = "\\boxed" in prompt, last_boxed(prompt)
        say(f"{self._env._name}, seed {seed}", "bold")
        say(self._help(), "dim")
        say()
        say(_wrapped(prompt))
        while True:
            line = self._read()
            if line is None or line == "quit":
                say(self.left())
                return 0
            if line == "help":
                say(self._help(), "dim")
            elif line == "hint":
                say(self._hint(), "dim")
            elif line and self._move(line):
                return 0

    def left(self) -> str:
        """Return the line that says goodbye."""
        return f"You left after {_turns(self._turn)}. The same game again: {self._again}"

    def _help(self) -> str:
        return f"{self._what()} and press Enter.\n{_COMMANDS}{' A typo costs nothing.' if self._exact else ''}"

    def _what(self) -> str:
        if not self._boxed:
            return "Type your move"
        example = (self._example or "").strip()
        return "Type what belongs in the box" + (f", for example {example}," if example else "")

    def _read(self) -> str | None:
        """Return what the player typed, stripped; a fence is read up to its end. None: there is no more."""
        limit = f"/{self._env.max_turns}" if self._env.max_turns else ""
        line = _line(f"\n[{self._turn + 1}{limit}] > ")
        if line is None or not line.startswith(_FENCE):
            return line
        lines = [line]
        while (line := _line("... ", strip=False)) is not None:
            lines.append(line)
            if line.rstrip() == _FENCE:
                break
        return "\n".join(lines)

    def _hint(self) -> str:
        action = self._env.oracle_action()
        if action is None:
            return "There is no hint here."
        text = message_text(action)
        return f"Try: {last_boxed(text) or text}"

    def _move(self, line: str) -> bool:
        """Make a move and show what came of it; say whether the episode is over."""
        state = self._env.get_state() if self._exact else None
        boxed = self._boxed and last_boxed(line) is None
        obs, reward, terminated, truncated, info = self._env.step(f"\\boxed{{{line}}}" if boxed else line)
        over = terminated or truncated
        if over and self._exact and info.get("invalid_action", {"kind": "illegal"}).get("kind") != "illegal":
            self._env.set_state(state)
            say(_wrapped(self._not_counted(info["invalid_action"])))
            return False
        self._turn, self._total = self._turn + 1, self._total + reward
        say(_wrapped(message_text(obs)))
        if reward and not over:
            say(f"reward {reward:+.3g}", "dim")
        if over:
            say()
            say(self._verdict(truncated, info), "bold")
            say(f"The same game again: {self._again}", "dim")
        return over

    def _not_counted(self, why: dict[str, Any]) -> str:
        reason = str(why.get("reason", "")).rstrip(".")
        what = f"{self._what().rstrip(',')}." if self._boxed else str(why.get("hint", ""))
        return f"That is no move{': ' * bool(reason)}{reason}. It does not count. {what}".rstrip()

    def _verdict(self, truncated: bool, info: dict[str, Any]) -> str:
        if "error" in info:
            return f"The environment failed: {info['error']['message']}"
        told = {True: "You won", False: "You lost"}.get(info.get("success"))  # type: ignore[arg-type]
        told = told or ("The turns are used up" if truncated else "The end")
        return f"{told} after {_turns(self._turn)}, reward {self._total:.3g}."


def _wrapped(text: str) -> str:
    """Break lines that are too long for the terminal between words; a board's lines stay as they are."""
    width = shown_width()
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        short = len(line) < width or "  " in line.strip()
        lines += [line] if short else textwrap.wrap(line, width - 1, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def _turns(number: int) -> str:
    return f"{number} turn{'s' * (number != 1)}"


def _line(prompt: str, *, strip: bool = True) -> str | None:
    """Return the next line of standard input, or None at its end. A line that was piped in is shown behind the prompt."""
    try:
        if sys.stdin.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401  # arrow keys and the lines before
            line = input(prompt)
        else:
            line = sys.stdin.readline()
            if not line:
                say()
                return None
            say(f"{prompt}{line}".rstrip())
    except EOFError:
        say()
        return None
    except BrokenPipeError as why:
        raise OutputFailed from why
    flush()
    return line.strip() if strip else line.rstrip("\n")
