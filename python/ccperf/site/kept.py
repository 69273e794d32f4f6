"""Rows of comparisons and scores as plain values, for a build to remember."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ccperf.evidence.paired import Difference
from ccperf.evidence.rows import Row
from ccperf.evidence.summary import Summary

_FIELDS = tuple(field.name for field in fields(Difference))


def row_values(row: Row) -> list[Any]:
    """Return a row as plain values; `row_of` makes it of them again."""
    return [
        row.experiment,
        row.metric,
        row.side,
        [[_value(getattr(found, name)) for name in _FIELDS] for found in row.differences],
        row.least,
        [sorted(points) for points in row.lacking_at],
    ]


def row_of(values: list[Any]) -> Row:
    """Return the row that `row_values` was given."""
    experiment, metric, side, differences, least, lacking = values
    base, of_side = (frozenset(map(_point, points)) for points in lacking)
    found = tuple(map(_difference, differences))
    return Row(experiment, metric, side, found, least, lacking_at=(base, of_side))


def summary_values(summary: Summary) -> list[Any]:
    """Return a summary's fields in their order."""
    return [summary.n, summary.mean, summary.deviation, summary.half_width]


def _value(value: Any) -> Any:
    return summary_values(value) if isinstance(value, Summary) else value


def _point(values: list[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in values)


def _difference(values: list[Any]) -> Difference:
    plain = dict(zip(_FIELDS, values, strict=True))
    base, other = Summary(*plain["base"]), Summary(*plain["other"])
    return Difference(**{**plain, "point": _point(plain["point"]), "base": base, "other": other})
