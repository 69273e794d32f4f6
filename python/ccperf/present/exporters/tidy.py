"""One table with a row for each value, parameters as columns: for R, pandas, a spreadsheet."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from ccperf.algorithms import roles
from ccperf.base.outputs import Kind, may_write, whole
from ccperf.errors import RunError
from ccperf.runs.metrics import METRICS
from ccperf.store import DamagedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ccperf.store import RunRow, Several, Store

BEFORE = ("run", "experiment", "cca")
AFTER = ("seed", "backend", "scope", "subject", "metric", "unit", "value")


def tidy(
    store: Store | Several,
    rows: Sequence[RunRow],
    path: Path,
    *,
    called: Sequence[str] = (),
    leave_out: Callable[[DamagedRun], None] | None = None,
) -> Path:
    """Write the metrics of runs to `path` (CSV).

    The columns are the run's id, experiment, algorithm, every parameter by its name, seed, backend,
    and what the value is. `called` has a name for the algorithm of each run, if several versions of
    one have to be told apart. A run that cannot be read is told to `leave_out`, as other exports of
    tables do. Raises `UsageError` and `RunError` as exports do.
    """
    parameters = list(
        dict.fromkeys(name for row in rows for name in roles.parameters(row.parameters))
    )
    columns = [*BEFORE, *parameters, *AFTER]
    kind = Kind("tidy table of ccperf", (",".join(BEFORE).encode() + b",",))
    may_write(path, kind, "--output", store.paths)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            left_out: set[str] = set()
            algorithms = called or [
                roles.under_test(row.parameters) or ",".join(row.cc) for row in rows
            ]
            for row, algorithm in zip(rows, algorithms, strict=True):
                if row.id in left_out:
                    continue
                try:
                    values = _values(store, row.id)
                except DamagedRun as damaged:
                    if leave_out is None:
                        raise
                    leave_out(damaged)
                    left_out.add(row.id)
                    continue
                before = [row.id, row.experiment or row.label or "", algorithm]
                before += [str(row.parameters.get(name, "")) for name in parameters]
                before += [str(row.seed), row.backend]
                writer.writerows(before + each for each in values)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path


def _values(store: Store | Several, run_id: str) -> list[list[str]]:
    return [
        [scope, subject, name, METRICS[name].unit if name in METRICS else "", repr(value)]
        for scope, table in store.metrics(run_id).by_scope.items()
        for subject, values in table.items()
        for name, value in values.items()
    ]
