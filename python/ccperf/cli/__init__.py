"""The command line: one module per command, and nothing heavy imported before a command runs.

Results go to stdout, progress and warnings to stderr. Exit statuses: 0; 1 if a run or a check
failed; 2 for wrong usage, and nothing was written then.
"""

from ccperf.cli.app import main

__all__ = ["main"]
