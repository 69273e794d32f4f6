"""What the browser's renderer needs to know besides a run: the tables of this package as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.present.figures.palette import ROLES, SUBJECTS, places, shade
from ccperf.present.figures.quantities import QUANTITIES
from ccperf.present.figures.states import AXIS
from ccperf.present.figures.timelines import TIMELINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.present.figures.figure import Axis, Figure, Floats, Series

#: Looks on a scale, as many as `plot.js` knows.
SHADES = 20


def layout() -> dict[str, Any]:
    """Return which quantities there are, and which figures over time show them."""
    return {
        "quantities": {
            each.name: {
                "label": each.label,
                "unit": each.unit,
                "of": each.of,
                "shape": each.shape,
                "lower": each.lower,
            }
            for each in QUANTITIES.values()
        },
        "looks": dict(places()),
        "states": _axis(AXIS),
        "timelines": [
            {
                "name": each.name,
                "title": each.title,
                "caption": each.caption,
                "strips": [
                    {
                        "quantity": strip.quantity,
                        "dashed": list(strip.dashed),
                        "ticks": list(strip.ticks),
                    }
                    for strip in each.strips
                ],
                "states": each.has_states,
            }
            for each in TIMELINES.values()
        ],
    }


def encode(figure: Figure) -> dict[str, Any]:
    """Return a figure as plain values, as `plot.js` takes it."""
    return {
        "name": figure.name,
        "title": figure.title,
        "alt": figure.alt,
        "beside": figure.side_by_side,
        "subjects": [
            {"name": one.name, "run": one.run, "algorithm": one.algorithm}
            | ({"look": figure.own_looks[entry]} if figure.own_looks else {})
            for one, entry in zip(figure.subjects, figure.entry_of, strict=True)
        ],
        "roles": [list(role) for role in figure.roles],
        "panels": [
            {
                "x": _axis(panel.x),
                "y": _axis(panel.y),
                "series": [_series(one) for one in panel.series],
                "lines": [
                    {"axis": line.axis, "value": line.value, "role": line.role}
                    for line in panel.lines
                ],
            }
            for panel in figure.panels
        ],
    }


def colours() -> str:
    """Return the style sheet of looks: `c0` to `c9`, `v0` to `v19` on a scale, and the roles'."""
    light, dark = zip(*_looks(), strict=True)
    return (
        "/* Colours of figures, as figures/palette.py has them. */\n"
        + "".join(f"{rule}\n" for rule in light)
        + "@media (prefers-color-scheme: dark) {\n"
        + "".join(f"  {rule}\n" for rule in dark)
        + "}\n@media print {\n"
        + "".join(f"  {rule}\n" for rule in light)
        + "}\n"
    )


def _looks() -> Iterator[tuple[str, str]]:
    for index, look in enumerate(SUBJECTS):
        yield f".c{index} {{ --ink: {look.colour}; }}", f".c{index} {{ --ink: {look.dark}; }}"
    for index in range(SHADES):
        on_white, on_dark = shade(index / (SHADES - 1))
        yield f".v{index} {{ --ink: {on_white}; }}", f".v{index} {{ --ink: {on_dark}; }}"
    for role, look in ROLES.items():
        yield f".r-{role} {{ --ink: {look.colour}; }}", f".r-{role} {{ --ink: {look.dark}; }}"


def _axis(axis: Axis) -> dict[str, Any]:
    ends = {"lower": axis.lower, "upper": axis.upper}
    words = {
        "label": ", ".join(filter(None, (axis.label, axis.of))),
        "unit": axis.unit,
        **ends,
        "labels": list(axis.labels),
    }
    return {**words, "isFactor": True} if axis.is_factor else words


def _series(series: Series) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "x": _numbers(series.x),
        "y": _numbers(series.y),
        "shape": series.shape,
        "role": series.role,
        "subject": series.subject,
    }
    if series.half_width is not None:
        encoded["half"] = _numbers(series.half_width)
    if series.is_dashed:
        encoded["dashed"] = True
    if series.label:
        encoded["label"] = series.label
    if series.rank:
        encoded["rank"] = series.rank
    if series.begins is not None:
        encoded["begins"] = series.begins
    return encoded


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values.tolist()]
