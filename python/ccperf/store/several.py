"""Several databases read as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ccperf.runs.metrics import MetricTables
    from ccperf.runs.recording import Recording
    from ccperf.store.rows import RunRow
    from ccperf.store.store import Store


class Several:
    """The runs of several stores; a run that is in more than one of them is read from the first."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self._home: dict[str, Store] = {}
        for store in reversed(stores):
            self._home.update(dict.fromkeys(store.ids(), store))

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [store.path for store in self._stores]

    def runs(self) -> list[RunRow]:
        """Return every run with each point that it serves, once, file by file."""
        found: dict[tuple[str, str | None, str], RunRow] = {}
        for store in self._stores:
            for row in store.runs():
                found.setdefault((row.id, row.experiment, repr(row.parameters)), row)
        return list(found.values())

    def metrics(self, run_id: str) -> MetricTables:
        """Return a run's metric tables."""
        return self._home[run_id].metrics(run_id)

    def series(self, run_id: str) -> dict[str, int]:
        """Return the number of rows of each table of a run's recording."""
        return self._home[run_id].series(run_id)

    def recording(self, run_id: str) -> Recording:
        """Return a run's recording."""
        return self._home[run_id].recording(run_id)

    def parquet(self, run_id: str) -> dict[str, bytes]:
        """Return the tables of a run's recording as Parquet files."""
        return self._home[run_id].parquet(run_id)
