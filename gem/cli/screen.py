"""Where the commands print: colours and the terminal's width on a terminal, neither elsewhere."""

from __future__ import annotations

import sys

from rich.console import Console

__all__ = ["screen"]

_PIPED_WIDTH = 200  # rich takes 80 where there is no terminal, and would cut what a program reads


def screen(*, stderr: bool = False) -> Console:
    """Return a console for standard output, or for standard error."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _PIPED_WIDTH)
