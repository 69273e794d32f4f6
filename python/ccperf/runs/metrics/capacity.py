"""How much a direction of a link could have sent in a run, at the rates that it had then."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: Disciplines that let no more through than a token bucket holds.
_BUCKETS = ("PolicerQueueDisc", "TbfQueueDisc")


def capacities(scenario: Mapping[str, Any], names: Collection[str]) -> dict[str, float]:
    """Return the bits that each of these directions could have sent.

    That is the rate over time, or what a token bucket in front of it let through if that is less:
    its rate over time and the bucket, which is full at first.
    """
    end = _native.parse_time(scenario["stop_time"])
    found = {}
    for link in scenario["links"]:
        for side in ("forward", "reverse"):
            if f"{link['name']}_{side}" not in names:
                continue
            direction = link[side]
            steps = [(0, _native.parse_rate(direction["rate"] or link["rate"]))]
            # Of two at the same time the later one in the scenario holds.
            steps += sorted(_steps(scenario, link, side), key=lambda step: step[0])
            bits = sum(
                rate * (min(after, end) - time) / 1e9
                for (time, rate), (after, _) in itertools.pairwise([*steps, (end, 0)])
                if time < end
            )
            found[f"{link['name']}_{side}"] = min(bits, _bucket(direction["qdisc"], end))
    return found


def _steps(
    scenario: Mapping[str, Any], link: Mapping[str, Any], side: str
) -> Iterator[tuple[int, int]]:
    """Yield when a direction gets another rate, and which."""
    for change in scenario["changes"]:
        is_here = change["link"] == link["name"] and change["direction"] in (side, "both")
        if is_here and change["rate"] is not None:
            yield _native.parse_time(change["time"]), _native.parse_rate(change["rate"])
    for schedule in link.get("schedules", ()):
        if schedule["direction"] in (side, "both") and schedule["rates_bps"] is not None:
            yield from zip(schedule["times_ns"], schedule["rates_bps"], strict=True)


def _bucket(qdisc: Mapping[str, Any] | None, end_ns: int) -> float:
    if qdisc is None or qdisc["type"] not in _BUCKETS or "Rate" not in qdisc["attributes"]:
        return float("inf")
    attributes = qdisc["attributes"]
    filled = _native.parse_rate(attributes["Rate"]) * end_ns / 1e9
    return filled + 8 * float(attributes.get("Burst", 0))
