"""A comparison as a figure, as a table and as columns: what notebooks show of it."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.evidence import text
from ccperf.evidence.verdict import difference_unit
from ccperf.present.figures import Axis, Figure, Line, Panel, Series, Subject
from ccperf.present.figures.sweep import beside
from ccperf.present.notebook import table
from ccperf.runs.metrics import named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.evidence.compare import Comparison
    from ccperf.evidence.rows import Row


def figure(comparison: Comparison, metric: str | None) -> Figure:
    """Return the differences by one metric (the first, if None), with their intervals at points.

    Beside each other over experiments or points: factors, or differences in the metric's unit.
    Notes say where there is none. Raises `UsageError` for a metric that was not compared.
    """
    there = list(dict.fromkeys(row.metric for row in comparison.rows))
    name = metric or (there[0] if there else "")
    definition = named(name)
    if name not in there or definition is None:
        known = ", ".join(there) or "no metric"
        raise UsageError("metric", f"`{name}` was not compared; {known} was")
    chosen = [row for row in comparison.rows if row.metric == name]
    places = list(dict.fromkeys(map(_place, chosen)))
    labels, common = _labels(chosen)
    series = []
    for index, side in enumerate(comparison.sides):
        found = [row for row in chosen if row.side == side and row.size.mean is not None]
        aside = beside(index, len(comparison.sides))
        series.append(
            Series(
                np.array([places.index(_place(row)) + aside for row in found], dtype=float),
                np.array([row.size.mean for row in found], dtype=float),
                "points",
                "subject",
                index,
                np.array(list(map(_half_width, found)), dtype=float),
            )
        )
    base = comparison.base
    is_ratio = definition.effect == "ratio"
    unit = "" if is_ratio else difference_unit(definition)
    notes = _notes(comparison, chosen)
    alt = (
        f"{'Factors between' if is_ratio else 'Differences of'} {name} of {base} and of "
        f"{', '.join(comparison.sides)}, with 95 % confidence intervals at single points, over "
        f"{counted(len(places), 'row')}."
    )
    return Figure(
        name=f"{name}_compared",
        title=f"{name}: difference from {base}",
        alt=" ".join((alt, *notes)),
        panels=(
            Panel(
                Axis(
                    common or "experiment",
                    lower=-0.5,
                    upper=len(places) - 0.5,
                    labels=labels,
                    is_category=True,
                ),
                Axis(
                    f"{definition.title}, {'over' if is_ratio else 'difference from'} {base}",
                    unit,
                    is_factor=is_ratio,
                ),
                tuple(series),
                (Line("y", 1.0 if is_ratio else 0.0, "ideal"),),
            ),
        ),
        subjects=tuple(Subject(side, algorithm=side) for side in comparison.sides),
        roles=(("ideal", base),),
        notes=notes,
    )


def _half_width(row: Row) -> float:
    """Of an interval; 0 where a point is exact, NaN where nobody knows."""
    (first, *others) = row.differences
    if others:
        return np.nan
    half = 0.0 if first.basis == "exact" else first.half_width
    return np.nan if half is None else half


def _notes(comparison: Comparison, rows: Sequence[Row]) -> tuple[str, ...]:
    """Where a figure of one metric has nothing, or not all."""
    zeros = [f"{row.side} at {_place(row)}" for row in rows if row.size.zeros]
    metric = rows[0].metric
    of_metric = replace(
        comparison,
        lacking=tuple(lack for lack in comparison.lacking if lack.metric == metric),
        neither=tuple(lack for lack in comparison.neither if lack.metric == metric),
        never=tuple(lack for lack in comparison.never if lack.metric == metric),
        less_finished=tuple(lack for lack in comparison.less_finished if lack.metric == metric),
    )
    said = [f"No factor where one side is 0: {', '.join(zeros)}"] if zeros else []
    return tuple(f"{line}." for line in (*said, *text.lacks(of_metric)))


def html(comparison: Comparison) -> str:
    """Return what `ccperf compare` prints, the table and what it cannot say."""
    head, lines = text.cells(comparison)
    shown = table(head, lines, f"against {comparison.base}") if lines else "nothing to compare"
    said = (f"<p>{escape(line)}</p>" for line in text.remarks(comparison, place="python"))
    return "".join((shown, *said))


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return documents of rows as columns; a point is a text."""
    plain = [flat(row) for row in rows]
    return {name: [row[name] for row in plain] for name in (plain[0] if plain else ())}


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's document without anything nested: a point is a text."""
    return {
        name: " ".join(f"{key}={each}" for key, each in value.items())
        if isinstance(value, dict)
        else value
        for name, value in row.items()
    }


def _words(row: Row) -> tuple[str, ...]:
    return (row.experiment, *(f"{name}={value}" for name, value in row.point))


def _place(row: Row) -> str:
    return " ".join(_words(row))


def _labels(rows: Sequence[Row]) -> tuple[tuple[str, ...], str]:
    """What tells the places of rows apart, in their order, and what all have in common."""
    places = list(dict.fromkeys(map(_words, rows)))
    if len(places) < 2:
        return tuple(map(" ".join, places)), ""
    common = [word for word in places[0] if all(word in words for words in places)]
    labels = (" ".join(word for word in words if word not in common) for words in places)
    return tuple(labels), " ".join(common)
