"""Looking through a whole database for what is damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ccperf.store.opening import StoreError
from ccperf.store.store import Store


@dataclass(frozen=True)
class Checked:
    """What of a database can be read."""

    runs: int
    #: What is wrong with each run that cannot be read, by its id.
    damaged: dict[str, str] = field(default_factory=dict)
    #: How many of the runs were stored without checksums, by an older ccperf.
    unchecked: int = 0


def mend(path: Path) -> list[str]:
    """Delete the damaged runs of a database, and return their ids; others are not touched.

    Raises `StoreError` if the damage is not that of single runs.
    """
    damaged = list(check(path).damaged)
    with Store(path, "a", mends=True) as store:
        for run in damaged:
            store.delete(run)
    return damaged


def check(path: Path, progress: Callable[[int, int], None] | None = None) -> Checked:
    """Read everything in a database, and compare it with its checksums.

    `progress` is called with the number of runs read and to read. Raises `StoreError` if the file
    cannot be opened at all.
    """
    with Store(path, "r") as store:
        ids = store.ids()
        damaged = {}
        for number, run in enumerate(ids, 1):
            try:
                store.load(run)
            except (StoreError, KeyError) as error:
                damaged[run] = error.message if isinstance(error, StoreError) else "has no point"
            if progress:
                progress(number, len(ids))
        return Checked(len(ids), damaged, store.without_checksums())
