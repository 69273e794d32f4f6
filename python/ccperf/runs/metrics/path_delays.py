"""How much longer each flow's path is than at the start, where delays of links change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ccperf.runs.metrics.grid import Floats, Integers


def lengthened(
    scenario: Mapping[str, Any], ends: Sequence[tuple[str, str]], times_ns: Integers
) -> Floats | None:
    """Return by how much paths, there and back, are longer at these times than at 0, in ms.

    `ends` are source and destination of each flow; shape (times, flows). None where no delay
    changes. NaN of a flow whose ends are not known, and where a delay changes on some of several
    shortest paths: which of them a flow takes is not known here.
    """
    added: dict[str, Floats] = {}
    for link in scenario["links"]:
        # Of two at the same time the later one in the scenario holds.
        if changes := sorted(delay_steps(scenario, link), key=lambda change: change[0]):
            first = _native.parse_time(link["delay"])
            times, delays = map(np.array, zip((-1, first), *changes, strict=True))
            places = np.searchsorted(times, times_ns, side="right") - 1
            added[link["name"]] = (delays[places] - first) / 1e6
    if not added:
        return None
    from ccperf.runs.metrics.shortest_paths import ShortestPaths

    paths = ShortestPaths(scenario["links"])
    found = np.zeros((len(times_ns), len(ends)))
    for flow, (source, destination) in enumerate(ends):
        if not source:
            found[:, flow] = np.nan
        # The shortest paths back are those there.
        for link, is_certain in paths.links_between(source, destination):
            if link in added:
                found[:, flow] += 2 * added[link] if is_certain else np.nan
    return found


def delay_steps(scenario: Mapping[str, Any], link: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield when the delay of a link becomes another one, in both directions, and which."""
    for change in scenario["changes"]:
        if change["link"] == link["name"] and change.get("delay") is not None:
            yield _native.parse_time(change["time"]), _native.parse_time(change["delay"])
    for schedule in link.get("schedules", ()):
        if schedule.get("delays_ns") is not None:
            yield from zip(schedule["times_ns"], schedule["delays_ns"], strict=True)
