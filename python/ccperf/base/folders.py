"""Temporary folders that go with this process, also where Ctrl-C ends it at once.

Python deletes its own when it ends in peace. A command that was interrupted leaves without.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

from ccperf.base import interruption


class Temporary(TemporaryDirectory[str]):
    """A folder of ours among the system's temporary files; a context manager, which deletes it."""

    def __init__(self, what: str = "") -> None:
        super().__init__(prefix=f"ccperf-{what}")
        interruption.folders.add(self.name)

    def cleanup(self) -> None:
        """Delete it."""
        super().cleanup()
        interruption.folders.discard(self.name)

    def __exit__(self, *_: object) -> None:
        self.cleanup()
