"""Where things are in a figure, whoever draws it: ends of axes, ticks, marks, what can be seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccperf.present.figures.figure import Axis, Figure, Floats, Panel, Series, Shape

#: Room between data and the end of an axis that has no end of its own, in parts of its length.
MARGIN = 0.06
#: An axis without ends of its own is at least so long, in parts of its values: what differs by less
#: than a hundredth is not to look like much.
LEAST = 0.01
#: Intervals of factors are cut where they go beyond all values by this factor. Of few seeds some
#: are so long that they would leave no room for anything else.
LONGEST = 1.5
#: How many points of a series carry its subject's marker.
MARKS = 6


def data_limits(panel: Panel, axis: str) -> tuple[float, float]:
    """Return the least and the greatest value on axis `x` or `y`; (inf, -inf) without any."""
    values = [line.value for line in panel.lines if line.axis == axis]
    for series in panel.series:
        if series.shape == "ticks" and axis == "y":
            continue
        shown = np.isfinite(series.y) & np.isfinite(series.x)
        along = (series.x if axis == "x" else series.y)[shown]
        if along.size:
            interval = series.interval(panel.y) if axis == "y" else None
            low, high = (end[shown] for end in interval) if interval else (along, along)
            if axis == "y" and panel.y.is_factor:
                low = np.maximum(low, along.min() / LONGEST)
                high = np.minimum(high, along.max() * LONGEST)
            values += [float(low.min()), float(high.max())]
    return min(values, default=math.inf), max(values, default=-math.inf)


def limits(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Return where an axis begins and ends: as it says, else a little beyond the data."""
    if not low <= high:  # no data
        low, high = 0.0, 1.0
    lacking = LEAST * max(abs(low), abs(high)) - (high - low)
    if axis.lower is None and axis.upper is None and not axis.is_log and lacking > 0:
        low, high = low - lacking / 2, high + lacking / 2
    start = low if axis.lower is None else axis.lower
    end = high if axis.upper is None else axis.upper
    if axis.is_log and start > 0:
        factor = (end / start) ** MARGIN if end > start else 2.0
        return (
            start / factor if axis.lower is None else start,
            end * factor if axis.upper is None else end,
        )
    beyond = MARGIN * (end - start) or MARGIN * abs(end) or 1.0
    return (
        start - beyond if axis.lower is None else start,
        end + beyond if axis.upper is None else end,
    )


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return at most `most` + 1 values between `low` and `high` with their texts.

    They are whole multiples of 1, 2 or 5 times a power of ten.
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [
        (index * step, f"{index * step:.{places}f}".replace("-", "−"))
        for index in range(first, last + 1)
    ]


def marked(series: Series, panel: Panel, figure: Figure) -> list[int]:
    """Return indices of a few points that carry the subject's marker, spread along the series.

    Subjects take turns, so that equal series do not hide each other's markers. Where there are few
    points, all of them do. One subject alone needs no marker but where no line reaches a mean.
    """
    if len(figure.entries) < 2:
        return alone(series.y) if series.half_width is not None else []
    finite = np.flatnonzero(np.isfinite(series.y))
    if finite.size <= 2 * MARKS:
        return [int(index) for index in finite]
    along = (series.y if series.shape == "ecdf" else series.x)[finite]
    first = 0.0 if series.shape == "ecdf" or panel.x.lower is None else panel.x.lower
    turn = (series.subject + 0.5) / len(figure.subjects)
    shares = (np.arange(MARKS) + turn) / MARKS
    at = np.searchsorted(along, first + (along[-1] - first) * shares)
    return sorted(set(finite[np.minimum(at, finite.size - 1)].tolist()))


def alone(values: Floats) -> list[int]:
    """Return indices of values that no line reaches: there are none before and behind them."""
    known = np.concatenate([[False], np.isfinite(values), [False]])
    found: list[int] = np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:]).tolist()
    return found


def outline(series: Series) -> tuple[Floats, Floats]:
    """Return the points that the line of a series goes through.

    A value that holds over an interval is drawn from where that begins: the point before, or, of
    the first one, what the series says. After a gap nothing else leads there.
    """
    x, y = series.x, series.y
    if series.shape != "step" or not x.size:
        return x, y
    first = np.nan if series.begins is None else series.begins
    known, before = np.isfinite(y), np.concatenate([[first], x[:-1]])
    was_known = np.concatenate([[False], known[:-1]])
    at = np.flatnonzero(known & ~was_known & (before < x))
    return np.insert(x, at, before[at]), np.insert(y, at, y[at])


def pieces(values: Floats) -> list[npt.NDArray[np.int64]]:
    """Return the indices of values that follow each other without a gap, piece by piece."""
    known = np.isfinite(values)
    parts = np.split(np.arange(values.size), np.flatnonzero(~known))
    return [part[known[part]] for part in parts if known[part].any()]


def by_column(widths: list[float], columns: int) -> Iterable[list[float]]:
    """Split a legend's entries down its columns, the first ones one longer where it must be."""
    length, longer = divmod(len(widths), columns)
    ends = np.cumsum([length + (index < longer) for index in range(columns)]).tolist()
    return [widths[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def legend_columns(widths: list[float], room: float) -> int:
    """Return the largest number of columns in which entries of these widths fit into `room`."""
    for columns in range(len(widths), 1, -1):
        if sum(max(column) for column in by_column(widths, columns)) <= room:
            return columns
    return 1


def decimate(x: Floats, y: Floats, shape: Shape, columns: int) -> tuple[Floats, Floats]:
    """Return the points that can be seen: per column of pixels the first, least, greatest, last.

    Series of up to four points a column are returned as they are. NaNs count as no value, but a
    gap at the start of a series stays one.
    """
    if x.size <= 4 * columns or shape == "points":
        return x, y
    finite = np.flatnonzero(np.isfinite(y))
    if not finite.size:
        return x[:0], y[:0]
    x, y = x[finite], y[finite]
    span = x[-1] - x[0]
    if span <= 0:
        return x[[0, -1]], y[[0, -1]]
    column = np.minimum(((x - x[0]) * (columns / span)).astype(np.int64), columns - 1)
    is_first = np.diff(column, prepend=-1) != 0
    starts = np.flatnonzero(is_first)
    keep = is_first.copy()
    keep[:-1] |= is_first[1:]
    keep[-1] = True
    which = np.cumsum(is_first) - 1
    for extreme in (np.minimum, np.maximum):
        at = np.flatnonzero(y == extreme.reduceat(y, starts)[which])
        # Of several in a column that are alike, the first one.
        keep[at[np.diff(which[at], prepend=-1) != 0]] = True
    return x[keep], y[keep]
