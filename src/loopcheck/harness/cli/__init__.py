"""The command line. Each command is a module of its own, loaded when it is used."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from loopcheck.harness.cli.arguments import COMMANDS, UsageError, parse
from loopcheck.harness.exit_code import INTERNAL_ERROR, INTERRUPTED, USAGE_ERROR

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    show_trace = "--traceback" in arguments
    _tolerate_narrow_encodings()
    try:
        options = parse(arguments)
        command = import_module(f"loopcheck.harness.cli.{COMMANDS[options.command]}")
        code = command.run(options)
        sys.stdout.flush()
    except SystemExit as ended:  # argparse, after --help and --version
        return ended.code if isinstance(ended.code, int) else USAGE_ERROR
    except KeyboardInterrupt:
        return _told("interrupted", INTERRUPTED, show_trace=show_trace)
    except BrokenPipeError:
        # The reader has gone, as in `loopcheck list | head`.
        _say_no_more()
        return 0
    except Exception as error:
        return _explained(error, show_trace=show_trace)
    return int(code)


def _explained(error: Exception, *, show_trace: bool) -> int:
    from loopcheck.harness.cli.mistakes import is_mistake

    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _say_no_more()
        what = (
            f"{error.filename or 'standard output or a file'} cannot be written: {error.strerror}"
        )
        return _told(what, USAGE_ERROR, show_trace=show_trace)
    if isinstance(error, UsageError) or is_mistake(error):
        return _told(str(error), USAGE_ERROR, show_trace=show_trace)
    what = f"{type(error).__name__}: {error} (a defect of loopcheck; --traceback shows where)"
    return _told(what, INTERNAL_ERROR, show_trace=show_trace)


def _say_no_more() -> None:
    """Prints what is left if that can be done; Python's flush at exit must not complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(what: str, code: int, *, show_trace: bool) -> int:
    from loopcheck.reports.inert import inert_lines

    if show_trace:
        traceback.print_exc()
    print("\n".join(f"loopcheck: {line}" for line in inert_lines(what)), file=sys.stderr)
    return code


def _tolerate_narrow_encodings() -> None:
    """A console that lacks a character shows an escape for it, and the run goes on."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
