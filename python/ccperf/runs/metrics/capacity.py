"""How much a direction of a link could have sent in a run, at the rates that it had then."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ccperf import _native
from ccperf.algorithms import registry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import numpy.typing as npt

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
            steps = _steps(scenario, link, side)
            # Whole numbers until the last step: how Python adds others differs by its version.
            bit_ns = sum(
                rate * (min(after, end) - time)
                for (time, rate), (after, _) in itertools.pairwise([*steps, (end, 0)])
                if time < end
            )
            buckets = min(_buckets(direction, end), default=math.inf)
            found[f"{link['name']}_{side}"] = Capacity(bit_ns / 10**9, buckets)
    return found


#: When a rate holds from, in ns, and which, in bit/s.
Steps: TypeAlias = list[tuple[int, int]]


def steps_of(scenario: Mapping[str, Any], names: Collection[str]) -> Iterator[Steps]:
    """Yield the rates of each of these directions over time; of two at one time the later holds."""
    links = {link["name"]: link for link in scenario["links"]}
    for name in names:
        link, _, side = name.rpartition("_")
        yield _steps(scenario, links[link], side)


def means_within(
    steps: Steps, starts_ns: npt.NDArray[Any], ends_ns: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return the mean rate in each interval within which it changes, in bit/s; NaN elsewhere."""
    times = np.array([time for time, _ in steps])
    rates = np.array([rate for _, rate in steps], dtype=float)
    changes = times.searchsorted(ends_ns, "left") > times.searchsorted(starts_ns, "right")
    if not changes.any():
        return np.full(len(starts_ns), np.nan)
    # What has been possible until each step, and between two of them at the rate of the first.
    until = np.concatenate(([0.0], np.cumsum(rates[:-1] * np.diff(times))))

    def possible(at: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        last = times.searchsorted(at, "right") - 1
        found: npt.NDArray[np.float64] = until[last] + rates[last] * (at - times[last])
        return found

    means = (possible(ends_ns) - possible(starts_ns)) / (ends_ns - starts_ns)
    return np.where(changes, means, np.nan)


def _steps(scenario: Mapping[str, Any], link: Mapping[str, Any], side: str) -> Steps:
    first = (0, _native.parse_rate(link[side]["rate"] or link["rate"]))
    return [first, *sorted(rate_steps(scenario, link, side), key=lambda step: step[0])]


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
