"""The part of the matrix about parking lots: a bottleneck several times in a row, which flows and
datagrams cross in part or as a whole, and in both directions."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.topologies.dumbbell import BOTTLENECK
from ccperf.scenario import Scenario
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_CBR: dict[str, Any] = {"type": "CBR", "rate": "3Mbps", "write": "1000B"}
_ON_OFF: dict[str, Any] = {
    "type": "OnOff",
    "rate": "12Mbps",
    "write": "1200B",
    "on_time": "Exponential(mean=100ms)",
    "off_time": "Exponential(mean=150ms,bound=400ms)",
}


def as_lot(scenario: Scenario, hops: int, ways: Sequence[tuple[int, int]]) -> Scenario:
    """The scenario with a row of `hops` bottlenecks that are each as its own.

    Router ``r_i`` stands between ``btl_i`` and ``btl_(i+1)``; they share the bottleneck's delay.
    The ends of flow i are at the two routers of its way, ``ways[i]``, over again if there are more
    flows than ways. Changes take turns with the bottlenecks.
    """
    fields = scenario.model_dump()
    (bottleneck,) = (link for link in fields["links"] if link["name"] == BOTTLENECK)
    total = _native.parse_time(bottleneck["delay"])
    delays = [total // hops] * (hops - 1) + [total - total // hops * (hops - 1)]
    row = [
        {
            **bottleneck,
            "name": f"{BOTTLENECK}_{i}",
            "ends": (f"r_{i - 1}", f"r_{i}"),
            "delay": _native.format_time(delay),
            "addresses": None,
        }
        for i, delay in enumerate(delays, 1)
    ]
    routers = {}
    for flow, (enters, leaves) in zip(fields["flows"], cycle(ways)):  # without end
        routers[flow["source"]], routers[flow["destination"]] = f"r_{enters}", f"r_{leaves}"
    access = []
    for link in fields["links"]:
        if link["name"] != BOTTLENECK:
            ends = tuple(end if end in routers else routers[link["name"]] for end in link["ends"])
            access.append({**link, "ends": ends, "addresses": None})
    changes = [
        {**change, "link": f"{BOTTLENECK}_{1 + i % hops}"}
        for i, change in enumerate(fields["changes"])
    ]
    nodes = [*routers, *(f"r_{i}" for i in range(hops + 1))]
    return Scenario.model_validate(
        {**fields, "nodes": nodes, "links": [*row, *access], "changes": changes}
    )


def parking_lots() -> Iterator[Case]:
    """A flow over three bottlenecks in a row, others and datagrams over some, both ways."""
    ways = [(0, 3), (0, 1), (1, 2), (2, 3)]
    for cc in ("TcpNewReno", "TcpCubic", "TcpBbr", "TcpVegas"):
        yield _lot(f"lots/{cc}", ways, flows=4, cc=cc)
    crossing: dict[str, Any] = {
        "cc": ["TcpNewReno", None, None, "TcpCubic"],
        "transports": ["TCP", "UDP", "UDP", "TCP"],
        "applications": ["Greedy", _CBR, _ON_OFF, "Greedy"],
    }
    yield _lot("lots/datagrams", ways, **crossing)
    both = [(0, 3), (3, 0), (2, 1), (3, 1)]
    way_back = {"qdisc": "FifoQueueDisc", "device_queue": "1p"}
    yield _lot("lots/both-ways", both, reverse=way_back, **crossing)
    yield _lot("lots/slower-back", both, reverse={**way_back, "rate": "2Mbps"}, **crossing)
    paths: dict[str, dict[str, Any]] = {
        "bursts": {"forward": {"gilbert_elliott": {"to_bad": 0.002, "to_good": 0.2}}},
        "jitter": {"forward": {"jitter": {"delay": "Uniform(max=2ms)", "keep_order": False}}},
        "late": {"forward": {"reordering": {"probability": 0.01, "delay": "4ms"}}},
        "codel": {"qdisc": "CoDelQueueDisc"},
        "policers": {"qdisc": "PolicerQueueDisc", "qdisc_attributes": {"Rate": "9Mbps"}},
        "schedules": {
            "schedules": [
                {
                    "direction": "forward",
                    "times_ns": [i * 50_000_000 for i in range(1, 40)],
                    "rates_bps": [16_000_000 if i % 3 else 4_000_000 for i in range(1, 40)],
                }
            ]
        },
        "changes": {
            "changes": [
                {"time": f"{200 * i}ms", "rate": f"{4 + i}Mbps", "loss": 0.01 * (i % 2)}
                for i in range(1, 10)
            ]
        },
    }
    for name, settings in paths.items():
        yield _lot(f"lots/{name}", ways, **crossing, **settings)


def _lot(name: str, ways: Sequence[tuple[int, int]], **settings: Any) -> Case:
    drawn = _case(name, packets=3_000, **{"rtts": ["30ms"] * len(ways), **settings})
    hops = max(max(way) for way in ways)
    return Case(as_lot(drawn.scenario, hops, ways))


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (parking_lots,)
