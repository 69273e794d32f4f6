"""Paths over time: which ways flows take, and how evenly parallel links are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.present.figures.figure import Axis, Figure, Floats, Panel, Series, Subject
from ccperf.runs.metrics.link_series import LinkSeries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.runs.recording import Recording, Table
    from ccperf.scenario import Scenario

#: More followed flows than these are not told apart; the first ones are drawn.
_FLOWS = 10
#: More points of a series than these are thinned out.
_POINTS = 2000


def paths(scenario: Scenario, recording: Recording) -> Figure | None:
    """Which way each followed flow takes, and how evenly parallel links are used, over time.

    A way is the links between switches that packets take, named by the switches in between; a flow
    stays on its level until a packet takes another way. Imbalance is the largest less the least
    utilisation of the links that are parallel at a switch and up, over their mean, in each
    interval. Time ends when nothing more is sent over sampled links.
    """
    followed = _followed(recording)
    links = LinkSeries(scenario, recording)
    groups = links.parallel if links.time.size else []
    if not followed and not groups:
        return None
    time = Axis("Time", "ms", lower=0, upper=_end(scenario, links, followed))
    names = recording.flows.strings("name")
    panels, subjects = [], []
    if followed and recording.ways:
        subjects += [Subject(names[flow]) for flow in followed]
        panels.append(_ways(time, followed, _named(recording.ways, scenario)))
    if groups:
        first = len(subjects)
        subjects += [Subject(_from(scenario, links.names[group[0]])) for group in groups]
        begins = None if links.begins is None else links.begins * 1e3
        series = tuple(
            Series(
                *(links.time * 1e3, _of_those_up(links, group), "step", "subject", first + index),
                begins=begins,
            )
            for index, group in enumerate(groups)
        )
        panels.append(Panel(time, Axis("Imbalance", "%", lower=0), series, name="imbalance"))
    flows, switches = counted(len(followed), "flow"), counted(len(groups), "switch")
    said = [f"the paths of {flows}"] * bool(followed)
    said += [f"the imbalance of the parallel links of {switches}"] * bool(groups)
    return Figure(
        name="paths",
        title="Paths",
        alt=f"Over time in ms: {' and '.join(said)}.",
        panels=tuple(panels),
        subjects=tuple(subjects),
    )


def _of_those_up(links: LinkSeries, group: Sequence[int]) -> Floats:
    """Return the imbalance of parallel links; one that is down has none."""
    found: Floats = np.fmax.reduce(links.imbalance[:, group], axis=1)
    return found


def _end(
    scenario: Scenario, links: LinkSeries, followed: dict[int, tuple[Floats, Floats]]
) -> float:
    """Return the last time at which something was sent or took another way, in ms."""
    sent = np.flatnonzero(np.nan_to_num(links.sending_rate_l1).any(axis=1))
    if not sent.size:
        return _native.parse_time(scenario.stop_time) / 1e6
    return float(max(links.time[sent[-1]] * 1e3, *(when[-1] for when, _ in followed.values()), 0))


def _followed(recording: Recording) -> dict[int, tuple[Floats, Floats]]:
    """Return for the first followed flows when they took another way, in ms, and which one."""
    table = recording.paths
    if table is None or not table.rows:
        return {}
    flow = table.array("flow")
    found = {}
    for which in np.unique(flow)[:_FLOWS].tolist():
        rows = np.flatnonzero(flow == which)
        rows = rows[:: -(-len(rows) // _POINTS)]
        found[which] = (table.array("time_ns")[rows] / 1e6, table.array("way")[rows].astype(float))
    return found


def _ways(time: Axis, followed: dict[int, tuple[Floats, Floats]], names: list[str]) -> Panel:
    """Each flow's way, a little beside those of the others where flows have one in common."""
    series = []
    for index, (when, way) in enumerate(followed.values()):
        beside = 0.5 * (index + 1) / (len(followed) + 1) - 0.25
        # A step holds its value over the interval that ends at its point.
        x, y = np.append(when, np.float64(time.upper)), np.append(way[:1], way)
        series.append(Series(x, y + beside, "step", "subject", index))
    axis = Axis("Way", lower=-0.6, upper=len(names) - 0.4, labels=tuple(names))
    return Panel(time, axis, tuple(series), name="paths")


def _named(ways: Table, scenario: Scenario) -> list[str]:
    """Return what each way is called: by as few of its switches, or links, as tell it apart."""
    ends = _ends(scenario)
    steps = [links.split() for links in ways.strings("links")]
    nodes = [[ends[link][0] for link in way[:1]] + [ends[link][1] for link in way] for way in steps]
    names = {
        "inner switches": [" > ".join(way[1:-1]) for way in nodes],
        "all switches": [" > ".join(way) for way in nodes],
        "links": [", ".join(way) for way in steps],
    }
    found = next((each for each in names.values() if len(set(each)) == len(each)), names["links"])
    return [name or "within" for name in found]


def _from(scenario: Scenario, direction: str) -> str:
    """Return the node that a direction leaves."""
    return _ends(scenario)[direction][0]


def _ends(scenario: Scenario) -> dict[str, tuple[str, str]]:
    """Return from where to where each direction goes."""
    found = {}
    for link in scenario.parsed["links"]:
        one, other = link["ends"]
        found[f"{link['name']}_forward"] = (one, other)
        found[f"{link['name']}_reverse"] = (other, one)
    return found
