"""The name of a file that is open: somebody may delete it, move it or put another one there.

SQLite goes on writing to the file that it has, which then nobody finds again.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from ccperf.store.opening import StoreWriteError


class Home:
    """A file that is open to be added to, and its name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _named(path)
        self._is_lost = False

    def check(self, db: sqlite3.Connection) -> None:
        """Raise `StoreWriteError` once where the name is another file's now, or nobody's.

        Until it is closed the content is there. It is kept in a file of another name.
        """
        if self._is_lost or _named(self._path) == self._file:
            return
        self._is_lost = True
        kept = _keep(db, self._path)
        raise StoreWriteError(
            f"{self._path}: was deleted, moved or replaced while this command added to it; "
            + (f"what it had is in {kept}" if kept else "what it had cannot be kept anywhere")
        )


def _named(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _keep(db: sqlite3.Connection, path: Path) -> Path | None:
    """Copy a file without a name to one beside where it was, or here.

    Not to the name itself: the file's log may still be there, and would be taken for the copy's.
    """
    name = f"{path.stem}-kept-{os.getpid()}{path.suffix}"
    for kept in (path.absolute().with_name(name), Path(name).absolute()):
        with suppress(sqlite3.Error):
            db.execute("VACUUM INTO ?", (str(kept),))
            return kept
    return None
