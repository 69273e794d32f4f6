"""A comparison as a figure, as a table and as columns: what notebooks show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.errors import UsageError
from ccperf.figures import Axis, Figure, Line, Panel, Series, Subject
from ccperf.notebook import table
from ccperf.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.evidence.compare import Comparison, Row


def figure(comparison: Comparison, metric: str | None) -> Figure:
    """Return the relative differences by one metric (the first, if None) with their intervals.

    One line a side over experiments or points; those where the base is 0 have none. Raises
    `UsageError` for a metric that was not compared.
    """
    there = list(dict.fromkeys(row.metric for row in comparison.rows))
    name = metric or (there[0] if there else "")
    if name not in there:
        known = ", ".join(there) or "no metric"
        raise UsageError("metric", f"`{name}` was not compared; {known} was")
    chosen = [row for row in comparison.rows if row.metric == name]
    places = list(dict.fromkeys(map(_place, chosen)))
    series = []
    for index, side in enumerate(comparison.sides):
        of_side = [
            (places.index(_place(row)), row.relative)
            for row in chosen
            if row.side == side and row.relative is not None
        ]
        series.append(
            Series(
                np.array([float(at) for at, _ in of_side]),
                np.array([100 * ratio.value for _, ratio in of_side]),
                "line",
                "subject",
                index,
                np.array([100 * (ratio.half_width or 0.0) for _, ratio in of_side]),
            )
        )
    base = comparison.base
    return Figure(
        name=f"{name}_compared",
        title=f"{name}: difference from {base}",
        alt=f"Relative differences of {name} from {base} in percent, with their 95 % confidence "
        f"intervals, for {', '.join(comparison.sides)} over {counted(len(places), 'row')}.",
        panels=(
            Panel(
                Axis("experiment", labels=tuple(places)),
                Axis(f"Difference from {base}", "%"),
                tuple(series),
                (Line("y", 0.0, "ideal"),),
            ),
        ),
        subjects=tuple(Subject(side) for side in comparison.sides),
        roles=(("ideal", base),),
    )


def html(comparison: Comparison) -> str:
    """Return the rows as a table: what differs, by how much, and whether that is shown."""
    head = ("experiment", "point", "metric", "side", comparison.base, "side's", "difference")
    lines = []
    for row in comparison.rows:
        shown = f"{row.difference.mean:+.4g}"
        if row.relative is not None:
            shown = f"{100 * row.relative.value:+.1f} %"
            if row.relative.half_width:
                shown += f" ± {100 * row.relative.half_width:.1f}"
        mark = {True: "▲ ", False: "▼ ", None: ""}[row.is_better]
        point = " ".join(f"{name}={value}" for name, value in row.point)
        lines.append(
            (
                row.experiment,
                point or counted(row.points, "point"),
                row.metric,
                row.side,
                f"{row.base.mean:.4g}",
                f"{row.other.mean:.4g}",
                mark + shown,
                "" if row.p is None else f"{row.p:.2g}",
                row.verdict,
            )
        )
    return table((*head, "p", ""), lines, f"against {comparison.base}; p by Holm's correction")


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return documents of rows as columns; a point is a text."""
    flat = [
        {**row, "point": " ".join(f"{name}={value}" for name, value in row["point"].items())}
        for row in rows
    ]
    return {name: [row[name] for row in flat] for name in (flat[0] if flat else ())}


def _place(row: Row) -> str:
    return " ".join([row.experiment, *(f"{name}={value}" for name, value in row.point)])
