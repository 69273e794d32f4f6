"""A figure as data: what is drawn, in which units, and what it stands for.

Nothing here knows how a figure is drawn. `ccperf.present.figures.svg` draws the same description
for pages, `ccperf.present.figures.mpl` for papers; another one may be interactive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ccperf.algorithms.user_code.names import is_user_code, label
from ccperf.base.expression import bare
from ccperf.base.wording import counted
from ccperf.present.figures.palette import CATEGORIES, SUBJECTS, Look, looks, looks_of, places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccperf.runs.metrics import FlowSeries

Floats: TypeAlias = npt.NDArray[np.float64]

#: `line` joins the points, `step` holds each value over the interval that ends at its point, `ecdf`
#: holds it from its point on, `points` marks the points only, `ticks` are strokes at the edge of
#: the panel where x is something that happened and y how often.
Shape: TypeAlias = Literal["line", "step", "ecdf", "points", "ticks"]

#: What a series stands for: one of the figure's subjects, the mean of a run's flows, all its flows
#: together, the best that the network allows, or what an ideal network would do.
Role: TypeAlias = Literal["subject", "mean", "joint", "optimum", "ideal"]

#: More flows than this cannot be followed one by one: their colours form a scale, and figures over
#: time show the mean of the flows as well.
MANY_FLOWS = 10


@dataclass(frozen=True)
class Subject:
    """Whose series it is: a flow, and the run it belongs to where a figure shows several."""

    name: str
    run: str = ""
    #: Whose look it has, if nothing else in the figure is of the same algorithm; of what is no flow
    #: (a queue), the algorithm of its run.
    algorithm: str = ""


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, its unit, and where it begins and ends (None: where data do)."""

    label: str
    unit: str = ""
    lower: float | None = None
    upper: float | None = None
    #: Names of the values 0, 1, ...: what is shown are words, or numbers at equal distances.
    labels: tuple[str, ...] = ()
    #: Whether these are words, with nothing between them.
    is_category: bool = False
    #: Whether its scale is logarithmic.
    is_log: bool = False
    #: Whether its values are factors: an interval reaches as far down as up by ratio.
    is_factor: bool = False
    #: Of which values the panel is, where panels side by side show one quantity: `< 100 kB`.
    of: str = ""

    @property
    def title(self) -> str:
        """Label and unit in one line."""
        return ", ".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """Label and unit as written along the axis: narrow panels have no room for one line."""
        *before, last = (self.label, self.of) if self.of else (self.label,)
        return (*before, f"{last} [{self.unit}]" if self.unit else last)


@dataclass(frozen=True, eq=False)
class Series:
    """Points (x, y) of equal number; NaN where there is no value, which nothing is drawn across."""

    x: Floats
    y: Floats
    shape: Shape
    role: Role
    #: With role `subject`: index into `Figure.subjects`.
    subject: int = 0
    #: With shapes `line` and `points`: y is known to ± this (of factors, that much up); 0 where it
    #: is exact, NaN where it is not known.
    half_width: Floats | None = None
    #: Drawn dashed: something that belongs to its subject besides its main series.
    is_dashed: bool = False
    #: Of several kinds of ticks in a panel, which one: 0, 1.
    rank: int = 0
    #: What it shows, if that is not what its axis says: `ssthresh`.
    label: str = ""
    #: With shape `step`: where the interval of the first value begins; None: at its point.
    begins: float | None = None

    def interval(self, axis: Axis) -> tuple[Floats, Floats] | None:
        """Return between what y is known to be, on its axis; None if there is no interval."""
        if self.half_width is None:
            return None
        half = np.nan_to_num(self.half_width)
        high = self.y + half
        return (self.y**2 / high if axis.is_factor else self.y - half), high


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
    #: By which one asks for it alone.
    name: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """Panels that share a legend.

    They stand one above the other and share the x axis, or (`side_by_side`) the y axis.
    """

    name: str
    title: str
    #: What is to be seen, in one or two sentences: the figure's alternative text.
    alt: str
    panels: tuple[Panel, ...]
    #: The flows, run by run and in the scenario's order.
    subjects: tuple[Subject, ...]
    #: What the legend calls the roles that occur, besides the subjects.
    roles: tuple[tuple[Role, str], ...] = ()
    side_by_side: bool = False
    #: Panels that are drawn only where one is asked for by its name.
    others: tuple[Panel, ...] = ()
    #: What a reader has to know besides, in sentences: what is missing, what was added up.
    notes: tuple[str, ...] = ()
    #: Whether what readers have to tell apart has no order, as flows have: runs, algorithms.
    are_categories: bool = False
    #: Which runs it is drawn of, for readers of its file; see :func:`.origin.origin`.
    origin: str = ""

    def __repr__(self) -> str:
        panels, entries = counted(len(self.panels), "panel"), ", ".join(self.entries[:4])
        return f"<Figure {self.name}: {panels}; {entries}{', ...' * bool(self.entries[4:])}>"

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """What readers have to tell apart: the runs where there are several, else the flows."""
        runs = dict.fromkeys(subject.run for subject in self.subjects)
        if len(runs) > 1:
            return tuple(runs)
        return tuple(subject.name for subject in self.subjects)

    @cached_property
    def entry_of(self) -> tuple[int, ...]:
        """Index into `entries` for each subject: the flows of one run of several look alike."""
        if len(self.entries) == len(self.subjects):
            return tuple(range(len(self.subjects)))
        return tuple(self.entries.index(subject.run) for subject in self.subjects)

    @cached_property
    def keys(self) -> tuple[Series, ...]:
        """One series of each kind that is no subject's main one: dashes and ticks have a label."""
        found: dict[str, Series] = {}
        for panel in self.panels:
            for one in panel.series:
                if one.label:
                    found.setdefault(one.label, one)
        return tuple(found.values())

    @cached_property
    def own_looks(self) -> tuple[int, ...]:
        """Which of `SUBJECTS` each entry looks like, where each is an algorithm of its own; else
        nothing."""
        of: list[set[str]] = [set() for _ in self.entries]
        for subject, entry in zip(self.subjects, self.entry_of, strict=True):
            of[entry].add(subject.algorithm)
        algorithms = [the_one(each) for each in of]
        is_each = all(algorithms) and len(set(algorithms)) == len(algorithms)
        return looks_of(algorithms) if is_each else ()

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """How each entry looks."""
        own = tuple(SUBJECTS[look] for look in self.own_looks)
        return own or looks(len(self.entries), are_categories=self.are_categories)

    @property
    def is_crowded(self) -> bool:
        """Whether there is too much to tell apart one by one: colours form a scale."""
        return len(self.entries) > (CATEGORIES if self.are_categories else MANY_FLOWS)


def the_one(algorithms: Iterable[str]) -> str:
    """Return the only one of some algorithms; empty if there are several."""
    different = set(algorithms)
    return different.pop() if len(different) == 1 else ""


def whose(label: str, algorithms: Iterable[str]) -> str:
    """Return the algorithm that a run is of: the one that its label begins with (the registry's or
    a user's own), else the only one that it has."""
    named = label.partition(" ")[0].rstrip(",")
    return named if bare(named) in places() or is_user_code(named) else the_one(algorithms)


def of_flows(flows: FlowSeries) -> tuple[Subject, ...]:
    """Return the flows of one run as subjects: `flow_1`, or `flow_1 TcpCubic` where algorithms
    meet."""
    names = [label(algorithm) for algorithm in flows.algorithms]
    several = len(set(names)) > 1
    return tuple(
        Subject(f"{flow} {name}".strip() if several else flow, algorithm=algorithm)
        for flow, name, algorithm in zip(flows.names, names, flows.algorithms, strict=True)
    )
