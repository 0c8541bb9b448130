"""The command line: `gem-gym`, `gem` and `python -m gem`.

`main` turns errors into a line and an exit code: 0 done, 1 the answer is no (a check failed, an episode was cut off by a fault),
2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        from gem.cli.screen import OutputFailed, mend_streams, shown_warnings

        mend_streams()
        try:
            with shown_warnings():
                return _run(list(sys.argv[1:] if argv is None else argv))
        except OutputFailed as failed:
            return _silence(failed.__cause__)
    except KeyboardInterrupt as why:
        return _interrupted(why, argv)
    except RuntimeError as error:
        # Before 3.12 a Ctrl-C that falls into a `__set_name__`, while modules load, comes out as this.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return _interrupted(error.__cause__, argv)


def _interrupted(why: BaseException, argv: Sequence[str] | None) -> int:
    if argv is None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not spoil the exit
    # Where nothing else was said, the terminal has put ^C at the cursor.
    print(str(why) or "\n" * sys.stderr.isatty() + "interrupted", file=sys.stderr)
    return 130


def _silence(why: BaseException | None) -> int:
    """Let standard output go nowhere, since Python writes out what is left at exit; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(why, BrokenPipeError):  # as in `gem list | head`
        return 0
    print(f"Error: standard output cannot be written: {getattr(why, 'strerror', why)}", file=sys.stderr)
    return 2


def _run(args: list[str]) -> int:
    from typer.main import get_command

    from gem.cli.app import app
    from gem.cli.screen import flush
    from gem.errors import GemError

    command = get_command(app)
    try:
        if not args:
            print(command.get_help(command.make_context(_program(), ["--help"], resilient_parsing=True)), file=sys.stderr)
            return 2
        # Not app(): it would turn Ctrl-C and a closed pipe into exits of its own.
        with command.make_context(_program(), args) as context:
            code = command.invoke(context)
        flush()
    except GemError as error:
        name = "Error" if type(error) is GemError else type(error).__name__
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except Exception as error:
        return _usage(error)
    return code if isinstance(code, int) else 0


def _program() -> str:
    """Return what the user typed to get here."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name if name in ("gem", "gem-gym") else "python -m gem"


def _usage(error: Exception) -> int:
    """Tell a mistake in the command line in one line; raise anything else."""
    from gem.cli.screen import OutputFailed, reader_gone

    code, message = getattr(error, "exit_code", None), getattr(error, "format_message", None)
    if not isinstance(code, int):
        if isinstance(error, BrokenPipeError) and reader_gone():
            raise OutputFailed from error  # a help page is not printed by `say`
        raise error
    if message is not None:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else _program()
        text = str(message()).replace("Value error, ", "").rstrip(".")
        print(f"Error: {text}{'' if text.endswith('?') else '.'} Help: {path} --help", file=sys.stderr)
    return code
