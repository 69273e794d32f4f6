"""The command line: one module per command, and nothing heavy imported before a command runs.

Results go to stdout, progress and warnings to stderr. Exit statuses: 0; 1 if a run or a check
failed; 2 for wrong usage, and nothing was written then.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import TYPE_CHECKING

from ccperf.base import interruption, process

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: run a command line and exit."""
    process.with_streams()  # before anything else is opened
    interruption.watch()
    process.start_lightly()
    try:
        from ccperf.cli.app import invoke
        from ccperf.cli.output import print_anywhere

        print_anywhere()
        status = invoke(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before there was anybody to notice
        print("stopped", file=sys.stderr)
        status = interruption.STATUS
    except Exception as error:  # a mistake of ours, which no user should have to read
        status = _own_mistake(error)
    if status == interruption.STATUS:
        interruption.leave()
    # Nobody needs the room at the end, either.
    gc.freeze()
    sys.exit(status)


def _own_mistake(error: Exception) -> int:
    """Say in a line what nobody has foreseen; who is to find the mistake has the traceback."""
    import traceback
    from tempfile import NamedTemporaryFile

    said = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    where = "its traceback cannot be written"
    with contextlib.suppress(OSError):
        with NamedTemporaryFile("w", prefix="ccperf-error-", suffix=".txt", delete=False) as file:
            file.write(f"{sys.argv}\n")
            traceback.print_exception(error, file=file)
        where = f"send its traceback, {file.name}, to those who maintain it"
    with contextlib.suppress(OSError, ValueError):
        from ccperf.cli.output import note

        note(f"error: a mistake in ccperf: {said}; {where}")
    return 1
