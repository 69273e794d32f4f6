"""Rows of comparisons and scores as plain values, for a build to remember."""

from __future__ import annotations

from typing import Any

from ccperf.evidence.compare import Row
from ccperf.evidence.paired import Ratio
from ccperf.evidence.summary import Summary


def row_values(row: Row) -> list[Any]:
    """Return a row as plain values; `row_of` makes it of them again."""
    relative = row.relative
    return [
        row.experiment,
        [list(pair) for pair in row.point],
        row.metric,
        row.side,
        row.points,
        row.seeds,
        summary_values(row.base),
        summary_values(row.other),
        summary_values(row.difference),
        [relative.value, relative.half_width] if relative else None,
        row.p,
        row.effect,
        row.verdict,
    ]


def row_of(values: list[Any]) -> Row:
    """Return the row that `row_values` was given."""
    experiment, point, metric, side, points, seeds, *rest = values
    base, other, difference, relative, p, effect, verdict = rest
    return Row(
        experiment,
        tuple((name, value) for name, value in point),
        metric,
        side,
        points,
        seeds,
        Summary(*base),
        Summary(*other),
        Summary(*difference),
        Ratio(*relative) if relative else None,
        p,
        effect,
        verdict,
    )


def summary_values(summary: Summary) -> list[Any]:
    """Return a summary's fields in their order."""
    return [summary.n, summary.mean, summary.deviation, summary.half_width]
