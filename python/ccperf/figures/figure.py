"""A figure as data: what is drawn, in which units, and what it stands for.

Nothing here knows how a figure is drawn. A renderer (`ccperf.figures.mpl`) turns the same
description into SVG and PDF; another one may turn it into something interactive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

#: `line` joins the points, `step` holds each value over the interval that ends at its point, `ecdf`
#: holds it from its point on, `points` marks the points only.
Shape: TypeAlias = Literal["line", "step", "ecdf", "points"]

#: Whose series it is: a flow's, the mean of the flows, that of all flows together, the best that
#: the network allows, or what an ideal network would do.
Role: TypeAlias = Literal["flow", "mean", "joint", "optimum", "ideal"]

#: More flows than this cannot be followed one by one: their colours form a scale, and figures over
#: time show the mean of the flows as well.
MANY_FLOWS = 10


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, its unit, and where it begins and ends (None: where data do)."""

    label: str
    unit: str = ""
    lower: float | None = None
    upper: float | None = None

    @property
    def title(self) -> str:
        """Label and unit as written along the axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


@dataclass(frozen=True, eq=False)
class Series:
    """Points (x, y) of equal number; NaN where there is no value."""

    x: Floats
    y: Floats
    shape: Shape
    role: Role
    #: With role `flow`: index into `Figure.flows`.
    flow: int = 0


@dataclass(frozen=True)
class Line:
    """A straight line through the whole panel at one value of one axis."""

    axis: Literal["x", "y"]
    value: float
    role: Role


@dataclass(frozen=True, eq=False)
class Panel:
    """One coordinate system. Series are drawn in their order, lines beneath them."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels that share a legend.

    They stand one above the other and share the x axis, or (`side_by_side`) the y axis.
    """

    name: str
    title: str
    #: What is to be seen, in one or two sentences: the figure's alternative text.
    alt: str
    panels: tuple[Panel, ...]
    #: Names of the flows, in the scenario's order.
    flows: tuple[str, ...]
    #: What the legend calls the roles that occur, besides the flows.
    roles: tuple[tuple[Role, str], ...] = ()
    side_by_side: bool = False
