"""Looking through a whole database for what is damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ccperf.base.wording import counted
from ccperf.store.opening import DamagedRun, DamagedStore, StoreError
from ccperf.store.store import Store


@dataclass(frozen=True)
class Checked:
    """What of a database can be read."""

    runs: int
    #: What is wrong with each run that cannot be read, by its id.
    damaged: dict[str, str] = field(default_factory=dict)
    #: How many of the runs were stored without checksums, by an older ccperf.
    unchecked: int = 0
    #: What is wrong with the file as a whole: each run may be found, and a list of all not be read.
    file: str = ""


def mend(path: Path) -> list[str]:
    """Delete the damaged runs of a database, and return their ids; others are not touched.

    Raises `StoreError`, which says what is left of it, if the damage is not that of single runs.
    """
    found = check(path)
    try:
        with Store(path, "a", mends=True) as store:
            store.delete(*found.damaged)
    except DamagedStore as error:
        whole = found.runs - len(found.damaged)
        message = (
            f"is damaged ({error.why}) in more than single runs, so nothing is deleted; "
            f"of {counted(found.runs, 'run')} {whole:,} can be read: keep it for those, and make "
            "the others again in a new database by the same commands"
        )
        raise StoreError(str(path), message) from error
    return list(found.damaged)


def check(path: Path, progress: Callable[[int, int], None] | None = None) -> Checked:
    """Read everything in a database, and compare it with its checksums.

    `progress` is called with the number of runs read and to read. Raises `StoreError`, which says
    what to do, if none of it can be read.
    """
    try:
        return _check(path, progress)
    except DamagedStore as error:
        message = (
            f"is damaged ({error.why}), and no run of it can be read; put a copy of it in its "
            "place, or delete it and give the commands that made its runs again"
        )
        raise StoreError(str(path), message) from error


def _check(path: Path, progress: Callable[[int, int], None] | None) -> Checked:
    with Store(path, "r") as store:
        ids = store.ids()
        damaged = {}
        for number, run in enumerate(ids, 1):
            try:
                store.load(run)
            except (StoreError, KeyError) as error:
                damaged[run] = _what(error)
            if progress:
                progress(number, len(ids))
        return Checked(len(ids), damaged, store.without_checksums(), store.structure())


def _what(error: StoreError | KeyError) -> str:
    """What is wrong with a run, without the advice to look for that."""
    if isinstance(error, DamagedRun | DamagedStore):
        return f"cannot be read ({error.why})"
    return error.message if isinstance(error, StoreError) else "has no point"
