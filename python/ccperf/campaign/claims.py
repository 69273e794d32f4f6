"""Which runs this process is making, told to others that make runs for the same database.

A claim is a lock on one byte of a file beside the database, at a place that the run's id names.
The kernel gives it back when the process ends, however it ends, and so does a file server (NFS).
Claims save work, and nothing rests on them: where files cannot be locked, a run is made twice and
stored once.  Locks belong to processes, so that two campaigns of one process do not see each
other's.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

#: What everybody who has the file open holds a shared lock on; ids are places before it.
_OPEN = 2**62
#: How often the file is opened again while somebody takes it away.
_TRIES = 100


class Claims:
    """What this process has claimed of the runs of one database; a context manager."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-claims")
        self._file: int | None = None
        self._is_unknown = fcntl is None

    def take(self, run_id: str) -> bool:
        """Claim a run; False: another process has claimed it."""
        if self._file is None and not self._is_unknown:
            self._file = _opened(self._path)
            self._is_unknown = self._file is None
        if self._file is None:
            return True
        try:
            return _locked(self._file, fcntl.LOCK_EX, _place(run_id))
        except OSError:  # more locks than there may be
            return True

    def give(self, run_id: str) -> None:
        """Give a claim back."""
        if self._file is not None:
            with suppress(OSError):
                _locked(self._file, fcntl.LOCK_UN, _place(run_id))

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *_: object) -> None:
        """Give all back; who is the last one takes the file away."""
        if self._file is None:
            return
        with suppress(OSError):
            if _locked(self._file, fcntl.LOCK_EX, _OPEN):
                self._path.unlink()
        os.close(self._file)
        self._file = None


def _opened(path: Path) -> int | None:
    """The file that others have open, too; None where there cannot be one."""
    for _ in range(_TRIES):
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError:
            return None
        try:
            # The last of the others may be taking it away.
            if _locked(file, fcntl.LOCK_SH, _OPEN) and os.fstat(file).st_nlink:
                return file
        except OSError:  # a file system without locks: the file is of no use to anybody
            os.close(file)
            with suppress(OSError):
                path.unlink()
            return None
        os.close(file)
        time.sleep(0.01)
    return None


def _locked(file: int, how: int, place: int) -> bool:
    """Lock or unlock a byte, unless another process has it locked."""
    try:
        fcntl.lockf(file, how if how == fcntl.LOCK_UN else how | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _place(run_id: str) -> int:
    return int(run_id, 16) % _OPEN
