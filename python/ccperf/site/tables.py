"""Metric tables as pages show them: one row a metric, one column a flow, link, network or class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.runs.metrics import METRICS, STEADY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ccperf.runs.metrics import Metric

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """One value as printed (MISSING without one), and whether it is its row's best."""

    text: str
    best: bool


@dataclass(frozen=True)
class Row:
    """One metric over all columns: of the whole run, and of its steady state where that is told."""

    metric: Metric
    cells: tuple[Cell, ...]
    steady: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Table:
    """A metric table; `columns` are names of flows, of link directions, of classes, or `net`."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def compared(self) -> bool:
        """Whether values are marked as best: there is more than one column."""
        return len(self.columns) > 1

    @property
    def has_steady(self) -> bool:
        """Whether there are values of the steady state beside those of the whole run."""
        return any(row.steady for row in self.rows)


def table(columns: Mapping[str, Mapping[str, float]]) -> Table:
    """Arrange `{column: {metric: value}}`; metrics in their own order, absent ones left out."""
    rows = []
    for name, metric in METRICS.items():
        if metric.window == "steady":
            continue
        values = [found.get(name) for found in columns.values()]
        later = METRICS.get(STEADY_PREFIX + name)
        steady = [found.get(later.name) for found in columns.values()] if later else []
        if any(value is not None for value in (*values, *steady)):
            beside = later is not None and any(value is not None for value in steady)
            cells = _cells(later, steady) if later is not None and beside else ()
            rows.append(Row(metric, _cells(metric, values), cells))
    return Table(tuple(columns), tuple(rows))


def _cells(metric: Metric, values: Sequence[float | None]) -> tuple[Cell, ...]:
    places = decimals(metric, [value for value in values if value is not None])
    texts = [MISSING if value is None else number(value, places) for value in values]
    best = _best(metric, values, texts)
    return tuple(Cell(text, text == best) for text in texts)


def _best(metric: Metric, values: Sequence[float | None], texts: Sequence[str]) -> str | None:
    """Return how the best value is printed; None where no value is better than another.

    Values that are printed alike count as alike.
    """
    if metric.better is None or len(values) < 2:
        return None
    known = [(value, text) for value, text in zip(values, texts, strict=True) if value is not None]
    if len({text for _, text in known}) < 2:
        return None
    return (max if metric.better == "higher" else min)(known)[1]


def decimals(metric: Metric, values: Iterable[float]) -> int:
    """Return the digits after the point: none for counts, two, more if all values are small."""
    if metric.kind == "count":
        return 0
    largest = max(map(abs, values), default=0)
    if largest == 0:
        return 2
    # Three digits that say something, as 0.0675.
    return min(6, max(2, 2 - math.floor(math.log10(largest))))


def spread(half_width: float | None, places: int) -> str:
    """Return half of an interval as printed; empty without one, or where it prints as nothing."""
    text = number(half_width, places) if half_width else ""
    return text if text.strip("0.,") else ""


def number(value: float, places: int) -> str:
    """Return a number with a real minus sign and thousands apart; never -0.00."""
    text = f"{value:,.{places}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", "−")


def figures(value: float) -> str:
    """Return a number with three significant digits, and all before the point."""
    places = 0 if not value else max(0, 2 - math.floor(math.log10(abs(value))))
    return number(value, min(places, 6))
