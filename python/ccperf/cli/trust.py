"""Files of strangers may name code, and running them runs it: only if the user says so."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ccperf.algorithms.user_code import names
from ccperf.cli.output import plain
from ccperf.errors import UsageError


def ask(file: Path, code: Iterable[str], trust: bool) -> None:
    """Let the code that a file names run if `trust` says so, or somebody at the terminal.

    Raises :class:`~ccperf.errors.UsageError` if not.
    """
    found = ", ".join(dict.fromkeys(name for name in code if not names.is_in_kernel(name)))
    if not found or trust:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(plain(f"{file} runs code on this machine: {found}"), file=sys.stderr)
        print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise UsageError(
        "--trust", f"{file} runs code on this machine: {found}; look at it, then add --trust"
    )
