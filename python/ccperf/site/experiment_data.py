"""What an experiment's page knows: every metric of every page over its seeds, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.evidence.summary import summarise
from ccperf.figures import sweep
from ccperf.figures.figure import Axis
from ccperf.metrics import METRICS

if TYPE_CHECKING:
    from ccperf.evidence.summary import Summary
    from ccperf.figures import Figure
    from ccperf.site.inventory import Group, Page

#: The plane of throughput and delay: x and y of each seed.
PLANE = ("mean_srtt_l4", "mean_agg_throughput_l4")
#: What is drawn first, and for those without scripts.
FIRST = "mean_est_qdelay_l4"


def experiment_data(group: Group) -> dict[str, Any]:
    """Return the data of an experiment's page as plain values; numbers have six digits."""
    named = [
        name
        for name in METRICS
        if any(name in found for page in group.pages for found in page.cell.metrics.values())
    ]
    values = {name: list(found) for name, found in group.axes.items() if found}
    defaults = {
        each.name: str(each.default)
        for each in (group.described.parameters if group.described else ())
    }
    return {
        "name": group.name,
        "title": group.title,
        "parameters": [
            {
                "name": name,
                "values": found,
                "first": found.index(defaults[name]) if defaults.get(name) in found else 0,
            }
            for name, found in values.items()
        ],
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
                    found.index(page.point[name]) if name in page.point else -1
                    for name, found in values.items()
                ],
                "made": f"{page.cell.backend} {page.cell.engine[:8]} {page.record.stop_time}",
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
    """Return the first figure of the page: a metric against the parameter that has most values."""
    if not group.axes:
        return None
    axis = max(group.axes, key=lambda name: len(group.axes[name]))
    others = {
        name: values[min(_first(group, name, values), len(values) - 1)]
        for name, values in group.axes.items()
        if name != axis and values
    }
    lines: dict[str, list[tuple[float, float, float | None]]] = {}
    for page in group.pages:
        if any(page.point.get(name) != value for name, value in others.items()):
            continue
        summary = _summary(page, FIRST)
        if summary is None or axis not in page.point:
            continue
        at = float(group.axes[axis].index(page.point[axis]))
        points = lines.setdefault(page.algorithm, [])
        if all(x != at for x, _, _ in points):
            points.append((at, summary.mean, summary.half_width))
    if not any(len(points) > 1 for points in lines.values()):
        return None
    return sweep(METRICS[FIRST], Axis(axis, labels=tuple(group.axes[axis])), lines)


def _first(group: Group, name: str, values: list[str]) -> int:
    for parameter in group.described.parameters if group.described else ():
        if parameter.name == name and str(parameter.default) in values:
            return values.index(str(parameter.default))
    return 0


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
