"""Export of a store to Parquet, CSV or JSON, for tools that do not read SQLite."""

from __future__ import annotations

import json
from io import FileIO
from typing import TYPE_CHECKING, Any, Literal, get_args

import arro3.core as arrow
from arro3.io import write_csv, write_parquet

from ccperf.algorithms import roles
from ccperf.base.outputs import may_write, table, unwritable, whole
from ccperf.errors import RunError, UsageError, unknown
from ccperf.runs.metrics import METRICS
from ccperf.runs.recording import TABLES
from ccperf.store.opening import DamagedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from ccperf.runs.recording import Recording
    from ccperf.store.rows import RunRow
    from ccperf.store.several import Several
    from ccperf.store.store import Store

Format = Literal["parquet", "csv", "json"]

_RUN_COLUMNS: dict[str, Callable[[RunRow], Any]] = {
    "run": lambda run: run.id,
    "experiment": lambda run: run.experiment,
    "parameters": lambda run: json.dumps(run.parameters, ensure_ascii=False),
    "under_test": lambda run: run.algorithms.get(roles.UNDER_TEST),
    "against": lambda run: run.algorithms.get(roles.AGAINST),
    "label": lambda run: run.label,
    "cc": lambda run: ",".join(run.cc),
    "seed": lambda run: run.seed,
    "backend": lambda run: run.backend,
    "backend_version": lambda run: run.provenance.backend_version,
    "engine_hash": lambda run: run.provenance.engine_hash,
    "ccperf_version": lambda run: run.provenance.ccperf_version,
    "scenario_hash": lambda run: run.provenance.scenario_hash,
    "wall_seconds": lambda run: run.wall_seconds,
    "finished_at": lambda run: run.finished_at,
}
_METRIC_COLUMNS = ("run", "scope", "subject", "metric", "unit", "value")
_TYPES = {
    "seed": arrow.DataType.int64(),
    "wall_seconds": arrow.DataType.float64(),
    "value": arrow.DataType.float64(),
}


def export(
    store: Store | Several,
    folder: Path,
    format: Format,
    *,
    runs: Iterable[RunRow] | None = None,
    called: Sequence[str] = (),
    series: bool = False,
    leave_out: Callable[[DamagedRun], None] | None = None,
) -> list[Path]:
    """Write `runs` (default: all) to `folder` and return the files written.

    `runs.*` has a row for each run and point, `metrics.*` one for each value, with its unit; join
    them on `run`.  `called` has a name for the algorithm under test of each of `runs`, if several
    versions of one have to be told apart.  With `series` every run's recording follows as
    `series/<run>/<table>.*`.
    Files of an earlier export are replaced, each as a whole.  A run that cannot be read is told to
    `leave_out`, and the others are written; without that it is raised.  Raises `UsageError` for an
    unknown format or where another file is in the way, and `RunError` if something cannot be
    written.
    """
    if format not in get_args(Format):
        raise UsageError("format", unknown("format", format, get_args(Format)))
    rows = store.runs() if runs is None else list(runs)
    ids = list(dict.fromkeys(run.id for run in rows))
    targets = {
        folder / f"runs.{format}": tuple(_RUN_COLUMNS),
        folder / f"metrics.{format}": _METRIC_COLUMNS,
    }
    series_of = {run_id: store.series(run_id) for run_id in ids} if series else {}
    for run_id, names in series_of.items():
        for name in names:
            path = folder / "series" / run_id / f"{name}.{format}"
            targets[path] = tuple(column.name for column in TABLES[name])
    for path, columns in targets.items():
        may_write(path, table(columns, format), "--output", store.paths)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    written: list[Path] = []
    left_out: set[str] = set()
    of_metrics: list[tuple[Any, ...]] = []
    try:
        for run_id in ids:
            try:
                metrics = list(_metric_rows(store, run_id))
                recording = store.recording(run_id) if series else None
            except DamagedRun as damaged:
                if leave_out is None:
                    raise
                leave_out(damaged)
                left_out.add(run_id)
                continue
            of_metrics += metrics
            if recording is not None:
                written += _write_series(folder / "series" / run_id, format, recording)
        about_runs = {name: [read(run) for run in rows] for name, read in _RUN_COLUMNS.items()}
        if called:
            under_test = zip(about_runs["under_test"], called, strict=True)
            about_runs["under_test"] = [name and versioned for name, versioned in under_test]
        kept = [place for place, run in enumerate(rows) if run.id not in left_out]
        about_runs = {name: [of[place] for place in kept] for name, of in about_runs.items()}
        about_metrics = {
            name: [row[i] for row in of_metrics] for i, name in enumerate(_METRIC_COLUMNS)
        }
        _write(folder / f"runs.{format}", format, about_runs)
        _write(folder / f"metrics.{format}", format, about_metrics)
    except OSError as error:
        raise RunError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return [folder / f"runs.{format}", folder / f"metrics.{format}", *written]


def _metric_rows(store: Store | Several, run_id: str) -> Iterator[tuple[Any, ...]]:
    for scope, columns in store.metrics(run_id).by_scope.items():
        for subject, values in columns.items():
            for name, value in values.items():
                unit = METRICS[name].unit if name in METRICS else None
                yield run_id, scope, subject, name, unit, value


def _write_series(folder: Path, format: Format, recording: Recording) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in recording.tables:
        path = folder / f"{name}.{format}"
        with whole(path) as draft:
            _write_table(draft, format, recording.arrow(name))
        yield path


def _write(path: Path, format: Format, columns: dict[str, list[Any]]) -> None:
    text = arrow.DataType.string()
    kinds = [_TYPES.get(name, text) for name in columns]
    schema = arrow.Schema(
        [arrow.Field(name, kind) for name, kind in zip(columns, kinds, strict=True)]
    )
    arrays = [
        arrow.Array(values, kind) for values, kind in zip(columns.values(), kinds, strict=True)
    ]
    with whole(path) as draft:
        _write_table(draft, format, arrow.Table.from_arrays(arrays, schema=schema))


def _write_table(path: Path, format: Format, table: arrow.Table) -> None:
    if format == "parquet":
        with _File(path) as file:
            write_parquet(table, file, compression="zstd(3)")
    elif format == "csv":
        with _File(path) as file:
            write_csv(table, file, header=True)
    else:
        names = table.column_names
        values = zip(*(_json_values(table[name]) for name in names), strict=True)
        rows = [dict(zip(names, row, strict=True)) for row in values]
        with path.open("w", encoding="utf-8") as file:
            json.dump(rows, file, allow_nan=False, ensure_ascii=False)


class _File(FileIO):
    """A new file for a library that panics, or speaks of something else, where one is not written.

    What is wrong is told once it is done.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "wb")
        self._error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self._error = self._error or error
            return memoryview(data).nbytes

    def __exit__(self, *_: object) -> None:
        self.close()
        if self._error:
            raise self._error


def _json_values(column: arrow.ChunkedArray) -> list[Any]:
    """Return the values; JSON has no NaN, so "no value yet" becomes null."""
    return [None if value != value else value for value in column.to_pylist()]
