"""What a paper prints for an experiment, beside what its runs gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.runs.metrics import METRICS

if TYPE_CHECKING:
    from ccperf.evidence.summary import Summary
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.experiments.catalogue.printed import Printed
    from ccperf.site.inventory import Group, Page


@dataclass(frozen=True)
class Line:
    """A published value, and ours."""

    algorithm: str
    #: Of each parameter that the values are told apart by.
    point: tuple[str, ...]
    metric: str
    unit: str
    published: str
    ours: str


@dataclass(frozen=True)
class Beside:
    """The table of an experiment's page."""

    source: str
    parameters: tuple[str, ...]
    lines: tuple[Line, ...]


def beside(group: Group) -> Beside | None:
    """Return the table; None if nothing is known to be published."""
    printed = group.described.printed if group.described else None
    if printed is None:
        return None
    lines = tuple(
        Line(
            value.algorithm,
            tuple(str(value.point.get(name, "any")) for name in printed.parameters),
            value.metric,
            _unit(value),
            value.text,
            _ours(group, value),
        )
        for value in printed.values
    )
    return Beside(printed.source, printed.parameters, lines)


def _unit(value: Printed) -> str:
    if value.base is not None:
        return "over " + ", ".join(f"{name} = {at}" for name, at in value.base.items())
    return METRICS[value.metric.rpartition(".")[2]].unit


def _ours(group: Group, value: Printed) -> str:
    """Return our value of the runs at its parameters; else of the nearest, and what differs."""
    found: dict[tuple[str, ...], list[tuple[Page, Summary]]] = {}
    for page in group.pages:
        summary = page.cell.summary(value.metric)
        if page.algorithm == value.algorithm and _is_at(page.point, value.point) and summary:
            found.setdefault(differing(group, page, value), []).append((page, summary))
    if not found:
        return "–"
    least = min(found, key=len)
    text = _text(group, value, found[least])
    return f"{text}, but at {', '.join(least)}" if least and text != "–" else text


def differing(group: Group, page: Page, value: Printed) -> tuple[str, ...]:
    """Return the parameters that have another value than the paper's: `leaves = 4 (not 8)`; and
    what the paper has not: `profile = linux`.

    Those that the value does not name and the catalogue varies are free: it holds for all of them.
    """
    own = (
        f"{each.name} = {page.point[each.name]} (not {each.default})"
        for each in (group.described.parameters if group.described else ())
        if each.name not in value.point and len(each.grid) == 1
        if page.point.get(each.name, str(each.default)) != str(each.default)
    )
    made_with = (f"{name} = {at}" for name, at in page.settings.items() if name in page.point)
    return (*own, *made_with)


def _text(group: Group, value: Printed, found: list[tuple[Page, Summary]]) -> str:
    if value.base is not None:
        return _range([ratio for page, one in found for ratio in _ratios(group, page, one, value)])
    if len(found) != 1:
        return _range([summary.mean for _, summary in found])
    ((_, only),) = found
    half = f" ± {only.half_width:.2g}" if only.half_width else ""
    return f"{only.mean:.3g}{half} ({counted(only.n, 'seed')})"


def _range(values: list[float]) -> str:
    if not values:
        return "–"
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _ratios(group: Group, page: Page, summary: Summary, value: Printed) -> list[float]:
    """The mean over that of the page which the value is a ratio to, if there is one."""
    base = {"algorithm": page.algorithm, **(value.base or {})}
    algorithm = base.pop("algorithm")
    point = {**page.point, **{name: str(at) for name, at in base.items()}}
    bases = [
        o.cell.summary(value.metric)
        for o in group.pages
        if o.algorithm == algorithm and o.point == point
    ]
    return [summary.mean / one.mean for one in bases[:1] if one is not None and one.mean]


def _is_at(point: Mapping[str, str], wanted: Mapping[str, Value]) -> bool:
    return all(point.get(name) == str(at) for name, at in wanted.items())
