"""The metrics of runs as columns: a row for each run and subject, a column for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError, unknown
from ccperf.experiments.catalogue import NAMED
from ccperf.runs.metrics import METRICS, MetricTables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ccperf.store import RunRow

#: Columns that are texts, whatever stands in them: an id may look like a number.
_TEXTS = ("run", "experiment", "backend", "scope", "subject")
_SCOPES = tuple(MetricTables().by_scope)


def kind(row: RunRow) -> str:
    """What a run tests: `cc`, `qdisc` or `routing`."""
    name = row.experiment or ""
    return NAMED[name].kind if name in NAMED else "cc"


def columns(
    runs: Iterable[tuple[Mapping[str, Any], MetricTables]], scope: str | None = None
) -> dict[str, list[Any]]:
    """Return columns of equal length: what describes the runs, scope, subject, and the metrics.

    None stands where there is no value. Parameters that are numbers throughout are numbers. Raises
    `UsageError` for a scope that there is not.
    """
    if scope is not None and scope not in _SCOPES:
        raise UsageError("scope", unknown("scope", scope, _SCOPES))
    rows = [
        ({**described, "scope": str(of), "subject": subject}, values)
        for described, tables in runs
        for of, subjects in tables.by_scope.items()
        if scope in (None, of)
        for subject, values in subjects.items()
    ]
    names = list(dict.fromkeys(name for described, _ in rows for name in described))
    last = ("seed", "backend", "scope", "subject")
    names = [*(name for name in names if name not in last), *(n for n in last if n in names)]
    there = {name for _, values in rows for name in values}
    described = {name: [of.get(name) for of, _ in rows] for name in names}
    return {
        **{name: of if name in _TEXTS else _numbers(of) for name, of in described.items()},
        **{name: [values.get(name) for _, values in rows] for name in METRICS if name in there},
    }


def _numbers(values: Sequence[Any]) -> list[Any]:
    """The values as numbers, if all of them are; whole ones if they can be."""
    for number in (int, float):
        try:
            return [value if value is None else number(value) for value in values]
        except ValueError:
            continue
    return list(values)
