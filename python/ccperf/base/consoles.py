"""Where rich prints: a terminal, or whatever else a stream is."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: In less (COLUMNS may say anything) rich never ends, or fails.
_LEAST = 20


def console(stream: IO[str] | None = None) -> Console:
    """Return a console on a stream (default: stdout) that is as wide as it is, within reason."""
    from rich.console import Console

    made = Console(file=stream)
    if made.width < _LEAST:  # else it follows that of its terminal
        made.width = _LEAST
    return made
