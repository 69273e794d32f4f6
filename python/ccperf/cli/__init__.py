"""The command line: one module per command, and nothing heavy imported before a command runs.

Results go to stdout, progress and warnings to stderr. Exit statuses: 0; 1 if a run or a check
failed; 2 for wrong usage, and nothing was written then.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from ccperf import interruption

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: So many more objects make a look for garbage worth while; some tens of megabytes at most.
NEW_OBJECTS = 300_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: run a command line and exit."""
    interruption.watch()
    # Nothing of what a start loads is garbage: to look for some took a fifth of a short run's time.
    gc.set_threshold(NEW_OBJECTS)
    try:
        from ccperf.cli.app import invoke

        status = invoke(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before there was anybody to notice
        print("stopped", file=sys.stderr)
        status = interruption.STATUS
    if status == interruption.STATUS:
        interruption.leave()
    # Nor does anybody need the room at the end.
    gc.freeze()
    sys.exit(status)
