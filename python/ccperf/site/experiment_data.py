"""What an experiment's page knows: every metric of every page over its seeds, as data."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.evidence.compare import pairs
from ccperf.evidence.paired import difference
from ccperf.evidence.values import are_words
from ccperf.present.figures import sweep
from ccperf.present.figures.figure import Axis
from ccperf.present.figures.sweep import is_drawn
from ccperf.runs.metrics import metric_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ccperf.present.figures import Figure
    from ccperf.runs.metrics import Metric
    from ccperf.site.inventory import Group, Page

#: So many algorithms can each be the base of ratios.
MOST_BASES = 6
#: What metrics are called together, by scope.
_SCOPES = {
    "flow": "Flows",
    "link": "Bottlenecks",
    "network": "All flows together",
    "class": "Transfers",
}


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
    over = group.answer.over
    if len(axes.get(over, ())) < 2:
        over = max(axes, key=lambda name: len(axes[name]), default="")
    defaults = {
        each.name: str(each.default)
        for each in (group.described.parameters if group.described else ())
    }

    def merit(page: Page) -> tuple[int, bool, int, int]:
        line = _line(pages, axes, over, page.point)
        values = {other.point[over] for other in line}
        usual = sum(page.point.get(name) == defaults.get(name) for name in axes if name != over)
        return len({other.algorithm for other in line}), len(values) > 1, usual, len(values)

    places = {tuple(page.point.get(name, "") for name in axes): page for page in pages[::-1]}
    best = max(reversed(places.values()), key=merit).point if over else {}
    at = {name: best.get(name, axes[name][0]) for name in axes}
    if over:
        # Where most algorithms have runs; of several such values the default, else the first.
        there = Counter(page.point[over] for page in _line(pages, axes, over, at))
        at[over] = max(axes[over], key=lambda one: (there[one], one == defaults.get(over)))
    return View(axes, over, at, pages, made)


def first_page(group: Group) -> Page:
    """Return a page of the point that is shown first; the first of the group where none has it."""
    view = first_view(group)
    there = (p for p in view.pages if all(p.point.get(n) == at for n, at in view.at.items()))
    return next(there, group.pages[0])


def _axes(group: Group) -> dict[str, list[str]]:
    """Return the values of each parameter, but not of one that follows from the others, or that
    only says which algorithm it is."""
    follow = (
        group.described.following(page.point for page in group.pages) if group.described else ()
    )

    def says_who(name: str) -> bool:
        pairs = {(page.algorithm, page.point.get(name)) for page in group.pages}
        ends = ({pair[side] for pair in pairs} for side in (0, 1))
        return len(pairs) > 1 and all(len(end) == len(pairs) for end in ends)

    return {
        name: values
        for name, values in group.axes.items()
        if values and name not in follow and not says_who(name)
    }


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
        own = {name: value for name, value in page.point.items() if name not in page.settings}
        if page.described and page.described.own_length(own) == page.record.stop_time:
            length = ""
    return f"{page.cell.backend} {page.cell.engine[:8]}{length}"


def experiment_data(group: Group, looks: Mapping[str, int]) -> dict[str, Any]:
    """Return the data of an experiment's page as plain values; numbers have six digits.

    Algorithms have the `looks` that they have on all pages, where there is one for each.
    """
    view = first_view(group)
    against = plane(group)
    bases = _bases(group)
    beside = {(page.algorithm, _place(page, view)): page for page in reversed(group.pages)}
    return {
        "name": group.name,
        "title": group.title,
        "shape": group.answer.shape,
        "parameters": [
            {
                "name": name,
                "values": values,
                "first": values.index(view.at[name]),
                "isWords": are_words(values),
            }
            for name, values in view.axes.items()
        ],
        "over": view.over,
        "algorithms": group.algorithms,
        "settings": group.settings,
        "looks": [looks[name] for name in group.algorithms] if looks else [],
        "metrics": [
            [name, metric.unit, metric.better, _kind(metric, group), metric.title]
            for name, metric in ((name, metric_named(name)) for name in group.metrics)
        ],
        "first": _first(group, view),
        "plane": against,
        "bases": bases,
        "pages": [
            {
                "id": page.id,
                "algorithm": group.algorithms.index(page.algorithm),
                "at": [
                    values.index(page.point[name]) if name in page.point else -1
                    for name, values in view.axes.items()
                ],
                "made": view.made[page.id],
                "settings": [group.setting(page, name) for name in group.settings],
                "metrics": [_mean(page, name) for name in group.metrics],
                "plane": [
                    [_six(found[name]) for name in against]
                    for found in page.cell.metrics.values()
                    if against and all(name in found for name in against)
                ],
                # Of each headline the values of all seeds.
                "seeds": [
                    [_six(value) for value in page.cell.values(name).values()]
                    for name in group.headlines
                ],
                "ratios": [
                    [_ratio(beside.get((base, _place(page, view))), page, name) for base in bases]
                    for name in group.headlines
                ],
            }
            for page in group.pages
        ],
    }


def _kind(metric: Metric, group: Group) -> str:
    """Return what a metric stands among."""
    if metric.name in group.headlines:
        return "Headlines"
    return _SCOPES[metric.scope] + (", steady state" if metric.window == "steady" else "")


def plane(group: Group) -> list[str]:
    """Return the headlines that are drawn against each other, x and y; none if there are no two.

    What costs is on x, so that up and left is better where the other is worth something.
    """
    first = group.headlines[:2]
    costs_last = sorted(first, key=lambda name: metric_named(name).better == "higher")
    return costs_last if len(first) > 1 else []


def _bases(group: Group) -> list[str]:
    """Return the algorithms that values can be shown relative to, the usual one first."""
    usual = group.described.usual if group.described else ()
    first = [name for name in usual if name in group.algorithms]
    names = list(dict.fromkeys((*first, *group.algorithms)))
    return names[:MOST_BASES] if len(names) > 1 else []


def _place(page: Page, view: View) -> tuple[Any, ...]:
    return tuple(page.point.items()), view.made[page.id], page.cell.point.settings


def _ratio(base: Page | None, page: Page, metric: str) -> list[float] | None:
    """Return the factor over the base, paired by seed, and how far up its interval reaches."""
    if base is None:
        return None
    both = pairs(base.cell, page.cell, metric)
    if not both:
        return None
    found = difference([a for a, _ in both], [b for _, b in both], "ratio")
    if not math.isfinite(found.size):
        return None
    half = found.half_width or 0.0
    return [_six(math.exp(found.size)), *([_six(half)] if half > 1e-6 else [])]


def picture(group: Group) -> Figure | None:
    """Return the first figure of the page; None if no headline has a line."""
    view = first_view(group)
    name = _first(group, view)
    lines = _lines(group, view, name) if name else {}
    values = view.axes.get(view.over, [])
    words = are_words(values)
    if not name or not is_drawn(lines, words):
        return None
    metric = metric_named(name)
    x = Axis(view.over, labels=tuple(values), is_category=words)
    return sweep(metric, x, lines, y_label=metric.title)


def _first(group: Group, view: View) -> str:
    """Return the first headline that has a line, else the first; "" if there is none."""
    words = are_words(view.axes.get(view.over, []))
    drawn = (name for name in group.headlines if is_drawn(_lines(group, view, name), words))
    return next(drawn, next(iter(group.metrics), ""))


def _lines(
    group: Group, view: View, metric: str
) -> dict[str, list[tuple[float, float, float | None]]]:
    """Return the points of each algorithm, with each of its settings: place, mean (NaN without a
    value), half width of its interval."""
    found: dict[str, dict[float, tuple[float, float | None]]] = {}
    members = [page for algorithm in group.algorithms for page in view.line(algorithm)]
    for page in members:
        points = found.setdefault(group.label(page, members), {})
        summary = page.cell.summary(metric)
        at = float(view.axes[view.over].index(page.point[view.over]))
        points.setdefault(at, (summary.mean, summary.half_width) if summary else (math.nan, None))
    return {
        label: [(at, *value) for at, value in points.items()]
        for label, points in found.items()
        if not all(math.isnan(mean) for mean, _ in points.values())
    }


def _mean(page: Page, metric: str) -> list[float] | None:
    """Return the mean, with its half width where seeds differ."""
    summary = page.cell.summary(metric)
    if summary is None:
        return None
    half = summary.half_width or 0.0
    # What is less than the last of six digits is rounding.
    return [_six(summary.mean), *([_six(half)] if half > 1e-6 * abs(summary.mean) else [])]


def _six(value: float) -> float:
    return float(f"{value:.6g}")
