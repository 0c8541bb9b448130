"""Where the commands print: plain text, with colours and the terminal's width on a terminal and neither elsewhere."""

from __future__ import annotations

import io
import os
import select
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = [
    "Interrupted",
    "OutputFailed",
    "coloured",
    "flush",
    "live",
    "mend_streams",
    "reader_gone",
    "say",
    "shown_warnings",
    "shown_width",
]

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class OutputFailed(Exception):
    """Standard output takes nothing more: its reader has closed it, as `head` does, or the disk is full. The cause is the OSError."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with the line that says what is left behind. The cursor stands at the beginning of a line."""


def mend_streams() -> None:
    """Make text that a stream cannot show a `?`, in place of an error, and give closed streams somewhere to go."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for the rest of the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _show_warning(message: Warning | str, *where: object, **more: object) -> None:
    print(f"warning: {message}", file=sys.stderr)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Show in one line each what the library warns of, such as a package whose environments cannot be loaded."""
    before, warnings.showwarning = warnings.showwarning, _show_warning
    try:
        yield
    finally:
        warnings.showwarning = before


def live(stream: TextIO) -> bool:
    """Say whether a line of this stream can be written over: a terminal that knows how."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    """Say whether a stream gets colours: a terminal that knows them, and whose user wants them (https://no-color.org)."""
    return live(stream) and not os.environ.get("NO_COLOR")


def shown_width() -> int | None:
    """Return the columns of the terminal, or None where standard output is none: what a program reads is never cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str = "", style: str = "") -> None:
    """Print to standard output.

    Raises:
        OutputFailed: nobody reads it any more, or it cannot be written.
    """
    if style and text and coloured(sys.stdout):
        text = f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
    try:
        print(text)
    except OSError as why:
        raise OutputFailed from why


def reader_gone() -> bool:
    """Say whether standard output is a pipe that nobody reads any more."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)  # 0: errors only
    return bool(watch.poll(0))


def flush() -> None:
    """Write out what was said; raises as `say` does."""
    try:
        sys.stdout.flush()
    except OSError as why:
        raise OutputFailed from why
