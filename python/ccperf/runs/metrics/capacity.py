"""How much a direction of a link could have sent in a run, at the rates that it had then."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ccperf import _native
from ccperf.algorithms import registry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: Disciplines that let no more through than token buckets hold: the attributes that say how fast
#: each fills, and its size.
_BUCKETS = {
    "PolicerQueueDisc": (("Rate", "Burst"),),
    "TbfQueueDisc": (("Rate", "Burst"), ("PeakRate", "Mtu")),
}


class Capacity(NamedTuple):
    """Bits that a direction could have sent in the run."""

    #: On the wire, with PPP's headers: the rate over time.
    wire: float
    #: Of IP packets, which token buckets count: the rate of the tightest one over time and the
    #: bucket, which is full at first; infinite without.
    packets: float


def capacities(scenario: Mapping[str, Any], names: Collection[str]) -> dict[str, Capacity]:
    """Return what each of these directions could have sent."""
    end = _native.parse_time(scenario["stop_time"])
    found = {}
    for link in scenario["links"]:
        for side in ("forward", "reverse"):
            if f"{link['name']}_{side}" not in names:
                continue
            direction = link[side]
            steps = [(0, _native.parse_rate(direction["rate"] or link["rate"]))]
            # Of two at the same time the later one in the scenario holds.
            steps += sorted(rate_steps(scenario, link, side), key=lambda step: step[0])
            bits = sum(
                rate * (min(after, end) - time) / 1e9
                for (time, rate), (after, _) in itertools.pairwise([*steps, (end, 0)])
                if time < end
            )
            buckets = min(_buckets(direction, end), default=math.inf)
            found[f"{link['name']}_{side}"] = Capacity(bits, buckets)
    return found


def rate_steps(
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


def _buckets(direction: Mapping[str, Any], end_ns: int) -> Iterator[float]:
    """Yield what each token bucket lets through that all packets of a direction pass."""
    qdisc = direction["qdisc"]
    while qdisc:
        for rate_name, size_name in _BUCKETS.get(qdisc["type"], ()):
            rate = _native.parse_rate(registry.attribute("qdisc", qdisc, rate_name))
            if rate == 0:
                continue  # There is no second bucket.
            size = int(registry.attribute("qdisc", qdisc, size_name))
            size = size or _native.parse_size(direction["mtu"])
            yield rate * end_ns / 1e9 + 8 * size
        children = qdisc.get("children", ())
        qdisc = children[0] if len(children) == 1 else None
