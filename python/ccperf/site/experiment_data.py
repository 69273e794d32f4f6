"""What an experiment's page knows: every metric of every page over its seeds, as data."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ccperf.catalogue.parameter import AUTO
from ccperf.errors import UsageError
from ccperf.evidence.summary import summarise
from ccperf.figures import sweep
from ccperf.figures.figure import Axis
from ccperf.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ccperf.evidence.summary import Summary
    from ccperf.figures import Figure
    from ccperf.site.inventory import Group, Page

#: The plane of throughput and delay: x and y of each seed.
PLANE = ("mean_srtt_l4", "mean_agg_throughput_l4")
#: What is drawn first, and for those without scripts.
FIRST = "mean_est_qdelay_l4"


@dataclass(frozen=True)
class View:
    """What an experiment's page shows first: a parameter, and the point to go through."""

    #: The values of the parameters that one can choose.
    axes: dict[str, list[str]]
    #: The parameter that is drawn over; "" if there is none.
    over: str
    #: The value of each parameter.
    at: dict[str, str]
    #: The pages that are drawn: those made alike that are most.
    pages: tuple[Page, ...]
    #: What tells runs apart that are no neighbours, by the page's id.
    made: dict[str, str]

    def line(self, algorithm: str) -> list[Page]:
        """The pages of one algorithm on the line through the point."""
        return [
            page
            for page in _line(self.pages, self.axes, self.over, self.at)
            if page.algorithm == algorithm
        ]


def first_view(group: Group) -> View:
    """Return what is shown first: a line through the defaults, or as near to them as runs are."""
    made = {page.id: _made(page) for page in group.pages}
    often = Counter(made.values())
    most = max(often, key=lambda one: often[one])
    pages = tuple(page for page in group.pages if made[page.id] == most)
    axes = _axes(group)
    over = max(axes, key=lambda name: len(axes[name]), default="")
    defaults = {
        each.name: str(each.default)
        for each in (group.described.parameters if group.described else ())
    }

    def merit(page: Page) -> tuple[bool, int, int]:
        values = {other.point[over] for other in _line(pages, axes, over, page.point)}
        usual = sum(page.point.get(name) == defaults.get(name) for name in axes if name != over)
        return len(values) > 1, usual, len(values)

    places = {tuple(page.point.get(name, "") for name in axes): page for page in pages[::-1]}
    best = max(reversed(places.values()), key=merit).point if over else {}
    at = {name: best.get(name, axes[name][0]) for name in axes}
    if defaults.get(over) in axes.get(over, ()):
        at[over] = defaults[over]
    return View(axes, over, at, pages, made)


def _axes(group: Group) -> dict[str, list[str]]:
    """Return the values of each parameter, but not of one that follows from the others."""
    found = {name: values for name, values in group.axes.items() if values}
    for parameter in group.described.parameters if group.described else ():
        if parameter.default == AUTO and _follows(group, parameter.name, found):
            del found[parameter.name]
    return found


def _follows(group: Group, name: str, axes: Iterable[str]) -> bool:
    """Whether a parameter has one value wherever the others have the same."""
    known: dict[tuple[str, ...], str] = {}
    return name in axes and all(
        known.setdefault(
            tuple(page.point.get(other, "") for other in axes if other != name), page.point[name]
        )
        == page.point[name]
        for page in group.pages
        if name in page.point
    )


def _line(
    pages: Iterable[Page], axes: Iterable[str], over: str, at: Mapping[str, str]
) -> list[Page]:
    """Return the pages that differ from a point in one parameter only."""
    return [
        page
        for page in pages
        if over in page.point
        and all(page.point.get(name) == at.get(name) for name in axes if name != over)
    ]


def _made(page: Page) -> str:
    """Return what tells a page from others that are no neighbours: backend, engine, a length that
    is not the experiment's own."""
    length = f" {page.record.stop_time}"
    with suppress(UsageError):
        if page.described and page.described.own_length(page.point) == page.record.stop_time:
            length = ""
    return f"{page.cell.backend} {page.cell.engine[:8]}{length}"


def experiment_data(group: Group) -> dict[str, Any]:
    """Return the data of an experiment's page as plain values; numbers have six digits."""
    named = [
        name
        for name in METRICS
        if any(name in found for page in group.pages for found in page.cell.metrics.values())
    ]
    view = first_view(group)
    return {
        "name": group.name,
        "title": group.title,
        "parameters": [
            {"name": name, "values": values, "first": values.index(view.at[name])}
            for name, values in view.axes.items()
        ],
        "over": view.over,
        "algorithms": group.algorithms,
        "metrics": [
            [name, METRICS[name].unit, METRICS[name].better, METRICS[name].scope] for name in named
        ],
        "first": FIRST if FIRST in named else named[0] if named else "",
        "pages": [
            {
                "id": page.id,
                "algorithm": group.algorithms.index(page.algorithm),
                "at": [
                    values.index(page.point[name]) if name in page.point else -1
                    for name, values in view.axes.items()
                ],
                "made": view.made[page.id],
                "seeds": len(page.seeds),
                "metrics": [_mean(page, name) for name in named],
                "plane": [
                    [_six(found[name]) for name in PLANE]
                    for found in page.cell.metrics.values()
                    if all(name in found for name in PLANE)
                ],
            }
            for page in group.pages
        ],
    }


def picture(group: Group) -> Figure | None:
    """Return the first figure of the page."""
    view = first_view(group)
    lines: dict[str, list[tuple[float, float, float | None]]] = {}
    for algorithm in group.algorithms:
        points: dict[float, tuple[float, float | None]] = {}
        for page in view.line(algorithm):
            if summary := _summary(page, FIRST):
                at = float(view.axes[view.over].index(page.point[view.over]))
                points.setdefault(at, (summary.mean, summary.half_width))
        if points:
            lines[algorithm] = [(at, *found) for at, found in points.items()]
    if not any(len(points) > 1 for points in lines.values()):
        return None
    return sweep(METRICS[FIRST], Axis(view.over, labels=tuple(view.axes[view.over])), lines)


def _summary(page: Page, metric: str) -> Summary | None:
    values = [found[metric] for found in page.cell.metrics.values() if metric in found]
    return summarise(values) if values else None


def _mean(page: Page, metric: str) -> list[float] | None:
    """Return the mean, with its half width where seeds differ."""
    summary = _summary(page, metric)
    if summary is None:
        return None
    half = summary.half_width or 0.0
    # What is less than the last of six digits is rounding.
    return [_six(summary.mean), *([_six(half)] if half > 1e-6 * abs(summary.mean) else [])]


def _six(value: float) -> float:
    return float(f"{value:.6g}")
