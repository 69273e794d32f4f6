"""Opening a database that anybody may have made: ours or not, whole or not, harmless or not.

Nothing is written before it is known that the file is ours, whole, and holds nothing but our
tables: a trigger or a view that somebody has added would run on our behalf.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Literal

from ccperf.base.outputs import experiment_name
from ccperf.errors import RunError, UsageError
from ccperf.runs.recording import TABLES
from ccperf.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

#: For another process that is writing; who opens a file is told at once.
BUSY_TIMEOUT_S = 60.0
_OPENING_TIMEOUT_S = 2.0
#: Beyond this a look at every page before each writing takes longer than people wait.
_CHECKED_BYTES = 2**30

_ID = "[0-9a-f]" * 16

_MOUNTS = Path("/proc/self/mountinfo")
#: File systems of several machines; so may be those of processes, which are called `fuse.NAME`.
_SHARED = frozenset(
    ["9p", "acfs", "afs", "beegfs", "ceph", "cifs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre",
     "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "virtiofs", "wekafs"]
)  # fmt: skip
#: What a journal ends with that names another file, which SQLite would delete.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")


class StoreError(UsageError):
    """A database that cannot be used: not there, not ours, damaged, too new, or locked."""


class DamagedRun(StoreError):
    """One run of a database that cannot be read; others can."""

    def __init__(self, path: Path, run: str, why: str) -> None:
        message = f"is damaged: run {run} of it cannot be read ({why})"
        super().__init__(str(path), f"{message}; see `ccperf doctor --db {path}`")
        self.path = path
        self.run = run
        self.why = why

    def __reduce__(self) -> tuple[type[DamagedRun], tuple[Path, str, str]]:
        """Travel between processes."""
        return DamagedRun, (self.path, self.run, self.why)


class DamagedStore(StoreError):
    """A database that is damaged elsewhere than in single runs."""

    def __init__(self, path: Path, why: str) -> None:
        advice = f"`ccperf doctor --db {path}` says what of it can be read"
        super().__init__(str(path), f"is damaged: {why}; {advice}")
        self.path = path
        self.why = why

    def __reduce__(self) -> tuple[type[DamagedStore], tuple[Path, str]]:
        """Travel between processes."""
        return DamagedStore, (self.path, self.why)


class StoreWriteError(RunError):
    """A result that could not be stored, e.g. because the disk is full; what is stored stays."""


def connect(path: Path, mode: Literal["r", "a"]) -> sqlite3.Connection:
    """Open a file, of this version afterwards: with mode `r`, one of an older version in memory.

    Raises `StoreError`, and leaves the file as it is, if it cannot be used.
    """
    try:
        there = path.exists()
        if there and not path.is_file():
            raise StoreError(str(path), "is no file; name another")
    except OSError as error:
        raise StoreError(str(path), f"cannot be opened: {error.strerror}") from None
    if not there and mode == "r":
        raise StoreError(str(path), "there is no such database; name one that is there")
    if not there and not path.absolute().parent.is_dir():
        message = f"cannot be opened: there is no folder {path.absolute().parent}; create it first"
        raise StoreError(str(path), message)
    version = _checked(path, whole=mode == "a") if there else 0
    if mode == "r" and version == 0:
        raise StoreError(
            str(path),
            f"is empty; if it is the copy of a file in use, {path.name}-wal belongs to it",
        )
    try:
        # Nobody writes for long to a file that was not there: who waits has no locks.
        timeout = BUSY_TIMEOUT_S if there else _OPENING_TIMEOUT_S
        db = _open(path, "rwc" if mode == "a" else "ro", timeout)
        if mode == "a":
            _upgrade(db, path)
            db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000:.0f}")
        elif version < VERSION:
            db = _upgraded_copy(db)
    except sqlite3.Error as error:
        raise unusable(path, error) from error
    return db


def has_tables(path: Path) -> bool:
    """Whether a file is more than the first page of one whose making was killed.

    Raises `StoreError` if it is not ours.
    """
    return _checked(path, whole=False) > 0


def unusable(path: Path, error: sqlite3.Error) -> StoreError:
    """What an error of SQLite's means of a file that was opened, or is read."""
    if _is_damage(text := str(error)):
        return DamagedStore(path, " ".join(text.split()))
    return StoreError(str(path), trouble(error))


def _is_damage(text: str) -> bool:
    return "malformed" in text or "corrupt" in text


def trouble(error: sqlite3.Error) -> str:
    """What an error of SQLite's means, and what to do."""
    text = str(error)
    if "locked" in text:
        return (
            f"is in use by another process, or its file system cannot lock files ({text}); try "
            "again when that has finished, or with a file on a local disk"
        )
    if "full" in text or "disk I/O" in text:
        return f"cannot be written ({text}); make room on its disk and give the same command again"
    if "not a database" in text:
        return f"is not a ccperf database ({text}); name another file"
    if _is_damage(text):
        return f"is damaged ({text}); `ccperf doctor --db FILE` says what of it can be read"
    if "unable to open" in text or "readonly" in text:
        return f"cannot be opened: {text}"
    return f"cannot be used: {text}"


def _open(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=timeout, isolation_level=None
    )
    # What a stranger's file brings along is data, and never runs.
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    db.execute("PRAGMA foreign_keys = ON")
    return db


def _checked(path: Path, whole: bool) -> int:
    """Return the schema version of an existing file, 0 of an empty one.

    Nothing of it is changed but what a killed process has half written.

    Raises `StoreError` if it is not ours, of a newer version, damaged or locked, if it holds more
    than our tables, or names with which something outside of a folder could be written.
    """
    _roll_back(path)
    try:
        with closing(_open(path, "ro", _OPENING_TIMEOUT_S)) as db:
            # One state of the file: between two looks another process may have made its tables.
            db.execute("BEGIN")
            (application,) = db.execute("PRAGMA application_id").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
            found = _schema(db)
            db.execute("COMMIT")
            if application == 0 and version == 0 and not found:
                # An empty file, or one whose creation was interrupted.
                return 0
            if application != APPLICATION_ID:
                raise StoreError(str(path), "is a database of another program; name another file")
            if version > VERSION:
                raise StoreError(
                    str(path),
                    f"has schema version {version}, but this ccperf knows {VERSION} at most; "
                    "use a newer ccperf",
                )
            _compare(path, found, _schema_of(version))
            if whole and path.stat().st_size <= _CHECKED_BYTES:
                (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise sqlite3.DatabaseError(f"malformed: {verdict}")
            _check_names(path, db)
    except sqlite3.Error as error:
        raise unusable(path, error) from error
    except UnicodeDecodeError as error:
        raise DamagedStore(path, "malformed text") from error
    return int(version)


def _schema(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """The text of each table, index, view and trigger, by kind and name; SQLite's own left out."""
    rows = db.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    )
    return {(kind, name): _plain(sql or "") for kind, name, sql in rows}


@cache
def _schema_of(version: int) -> dict[tuple[str, str], str]:
    """What a file of this version has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for migration in MIGRATIONS[:version]:
            db.executescript(migration)
        return _schema(db)


def _plain(sql: str) -> str:
    """Without comments and spaces, which may change from release to release."""
    return re.sub(r"\s+", "", re.sub(r"--[^\n]*", "", sql))


def _compare(
    path: Path, found: dict[tuple[str, str], str], ours: dict[tuple[str, str], str]
) -> None:
    for kind, name in sorted(found.keys() - ours.keys()):
        message = f"has the {kind} `{name}`, which ccperf did not make: something else changed it"
        raise StoreError(str(path), message)
    for kind, name in sorted(ours.keys() - found.keys()):
        message = f"lacks the {kind} `{name}`: it is damaged, or something else changed it"
        raise StoreError(str(path), message)
    for key, sql in found.items():
        if sql != ours[key]:
            raise StoreError(str(path), f"has another {key[0]} `{key[1]}` than ccperf makes")


def _check_names(path: Path, db: sqlite3.Connection) -> None:
    """Ids, experiments and series name files of sites and exports."""
    row = db.execute(f"SELECT id FROM run WHERE id NOT GLOB '{_ID}' LIMIT 1").fetchone()
    if row is not None:
        raise StoreError(str(path), f"has a run with the id {row[0]!r:.60}, which is none")
    for (name,) in db.execute("SELECT DISTINCT name FROM series"):
        if name not in TABLES:
            raise StoreError(str(path), f"has a series {name!r:.60}, which no recording has")
    for (name,) in db.execute("SELECT DISTINCT experiment FROM point"):
        try:
            experiment_name(name)
        except ValueError:
            message = f"has an experiment {name!r:.60}, which is no name"
            raise StoreError(str(path), message) from None


def _upgrade(db: sqlite3.Connection, path: Path) -> None:
    """Prepare an open file for writing, and bring it to this version."""
    _begin_journal(db, path)
    _migrate(db)


def _is_shared(path: Path) -> bool:
    """Whether other machines may have this file open, too; False where nobody says it."""
    with suppress(OSError):
        place = str(path.resolve())
        longest, kind = 0, ""
        for line in os.fsdecode(_MOUNTS.read_bytes()).splitlines():
            about, _, what = line.partition(" - ")
            at = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), about.split()[4])
            # Of two at one place the later one is seen.
            if f"{place}/".startswith(f"{at.rstrip('/')}/") and len(at) >= longest:
                longest, kind = len(at), what.split()[0]
        return kind in _SHARED or kind.startswith("fuse.")
    return False


def _begin_journal(db: sqlite3.Connection, path: Path) -> None:
    """Choose the journal of a file that is open for writing.

    Where others make the same new file at this moment, SQLite does not wait for them itself.
    """
    # A write-ahead log lets readers read while somebody writes. Its index is memory that processes
    # share and machines do not: two of them would write to the same pages. For the older journal
    # locks of files are enough.
    #
    # A log survives a killed process, and a power cut may cost the last runs. A journal that was
    # not written yet when the power went would cost the file.
    mode, synchronous = ("DELETE", "FULL") if _is_shared(path) else ("WAL", "NORMAL")
    end = time.monotonic() + _OPENING_TIMEOUT_S
    while True:
        try:
            db.execute(f"PRAGMA journal_mode = {mode}")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            break
    db.execute(f"PRAGMA synchronous = {synchronous}")


def _roll_back(path: Path) -> None:
    """Undo what a process had half written that was killed; who only reads is not able to.

    Of a file that is not ours nothing is changed, nor with a journal that is not.
    """
    journal = path.with_name(f"{path.name}-journal")
    with suppress(OSError, sqlite3.Error):
        with journal.open("rb") as file:
            file.seek(-len(_NAMES_ANOTHER), os.SEEK_END)
            if file.read() == _NAMES_ANOTHER:
                return
        with path.open("rb") as file:
            if file.read(72)[68:] != APPLICATION_ID.to_bytes(4, "big"):
                return
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as db:
            db.execute("SELECT 1 FROM sqlite_schema").fetchone()


def _upgraded_copy(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return a file of an older version as one of this, in memory: who reads does not write."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    with closing(db):
        db.backup(copy)
    copy.execute("PRAGMA trusted_schema = OFF")
    _migrate(copy)
    return copy


def _migrate(db: sqlite3.Connection) -> None:
    """Bring the tables to this version, in one transaction."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        (version,) = db.execute("PRAGMA user_version").fetchone()
        for migration in MIGRATIONS[version:]:
            for statement in migration.split(";\n"):
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


class Home:
    """A file that is open to be added to, and its name.

    Somebody may delete it, move it or put another one there. SQLite goes on writing to the file
    that it has, which then nobody finds again.
    """

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
