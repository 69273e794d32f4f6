"""A metric against a parameter: one line an algorithm, with the interval of its means."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ccperf.errors import UsageError
from ccperf.present.figures.figure import Axis, Figure, Panel, Series, Shape, Subject, whose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.runs.metrics import Metric


#: How far apart points over one word are, and how much room all of them take; words are 1 apart.
_APART, _ROOM = 0.12, 0.7


def sweep(
    metric: Metric,
    x: Axis,
    lines: Mapping[str, Sequence[tuple[float, float, float | None]]],
    *,
    over: str = "",
    y_label: str = "",
    is_factor: bool = False,
    notes: Sequence[str] = (),
) -> Figure:
    """Return the figure of `lines`: by algorithm, (parameter, mean, half width of its interval).

    Over words nothing joins the points, and those of an algorithm stand beside the others'. A mean
    that is NaN says that runs there have no value: the line breaks, and `notes` say why.

    `over` is the parameter's name and `y_label` the metric in words, where the figure is not to
    have the label of the x axis and the metric's name. Of factors (`is_factor`) the half width is
    that of the upper half. Raises `UsageError` if there is nothing to see (:func:`is_drawn`).
    """
    over = over or x.label
    if not is_drawn(lines, x.is_category):
        raise UsageError("sweep", f"`{over}` has fewer than two values there; nothing to draw")
    series = []
    shape: Shape = "points" if x.is_category else "line"
    for index, points in enumerate(lines.values()):
        # Between words there is no line to break.
        drawn = [one for one in sorted(points) if not (x.is_category and np.isnan(one[1]))]
        at, means, halves = zip(*drawn, strict=True)
        known = [np.nan if half is None else half for half in halves]
        places = np.array(at) + (beside(index, len(lines)) if x.is_category else 0.0)
        series.append(Series(places, np.array(means), shape, "subject", index, np.array(known)))
    if x.is_category:
        x = replace(x, lower=-0.5, upper=len(x.labels) - 0.5)
    least = min(float(np.nanmin(one.y)) for one in series)
    y = Axis(
        y_label or metric.name,
        metric.shown_unit,
        lower=0 if least >= 0 and not is_factor else None,
        is_factor=is_factor,
    )
    names = ", ".join(lines)
    bands = f"{'bars' if x.is_category else 'bands'} are 95 % confidence intervals of the means"
    return Figure(
        name=f"{metric.name}_over_{over}",
        title=f"{y_label or metric.name} over {x.label}",
        alt=" ".join((f"{metric.name} over {x.title} for {names}; {bands} over seeds.", *notes)),
        panels=(Panel(x, y, tuple(series)),),
        subjects=tuple(Subject(name, algorithm=whose(name, [name])) for name in lines),
        notes=tuple(notes),
        are_categories=True,
    )


def beside(index: int, count: int) -> float:
    """Return how far from a word's place one of several points over it stands."""
    return min(_APART, _ROOM / count) * (index - (count - 1) / 2)


def is_drawn(
    lines: Mapping[str, Sequence[tuple[float, float, float | None]]],
    is_category: bool,
) -> bool:
    """Whether there is something to see: two points of an algorithm with a line between them, or,
    over words, points over two of these, whoever has them."""
    known = {name: {at for at, y, _ in of if not np.isnan(y)} for name, of in lines.items()}
    if is_category:
        return len(set().union(*known.values())) > 1
    return any(len(places) > 1 for places in known.values())
