"""The command line: `gem-gym`, `gem` and `python -m gem`.

`main` turns errors into a line and an exit code: 0 done, 1 the answer is no (a check failed), 2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    from gem.cli.app import app
    from gem.errors import GemError

    try:
        code = app(args=None if argv is None else list(argv), prog_name="gem", standalone_mode=False)
    except GemError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone (`gem list | head`): nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _usage(error)
    return code if isinstance(code, int) else 0


def _usage(error: Exception) -> int:
    """Show a mistake in the command line as click does; raise anything else."""
    if type(error).__name__ in ("Abort", "Exit"):
        return 130 if type(error).__name__ == "Abort" else int(getattr(error, "exit_code", 0))
    if not hasattr(error, "show") or not hasattr(error, "exit_code"):
        raise error
    error.show()
    return int(error.exit_code)
