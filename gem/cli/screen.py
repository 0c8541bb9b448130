"""Where the commands print: plain text, with colours and the terminal's width on a terminal and neither elsewhere."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TextIO

__all__ = ["Interrupted", "ReaderGone", "coloured", "flush", "mend_streams", "say", "shown_width"]

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class ReaderGone(Exception):
    """Whoever read standard output has closed it, as `head` does."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with the line that says what is left behind."""


def mend_streams() -> None:
    """Make text that a stream cannot show a `?`, in place of an error, and give closed streams somewhere to go."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for the rest of the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def coloured(stream: TextIO) -> bool:
    """Say whether a stream gets colours: a terminal that knows them, and whose user wants them (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def shown_width() -> int | None:
    """Return the columns of the terminal, or None where standard output is none: what a program reads is never cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str = "", style: str = "") -> None:
    """Print to standard output.

    Raises:
        ReaderGone: nobody reads it any more.
    """
    if style and text and coloured(sys.stdout):
        text = f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
    try:
        print(text)
    except BrokenPipeError:
        raise ReaderGone from None


def flush() -> None:
    """Write out what was said; raises as `say` does."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None
