"""What a campaign will cost: a rough number before it runs, from what its links can carry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.base.wording import counted, duration
from ccperf.runs import backends

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccperf.scenario import Link, Scenario

_FRAME_BITS = 8 * 1502
#: Of a full segment, in bytes.
_PAYLOAD = 1448
#: A data packet and its ACK cross three links each: a host's, the slowest, a host's.
_HOPS = 6
#: Bytes of a run in a database: for each sample of a flow or a link's direction, and besides.
_SAMPLE_BYTES, _RUN_BYTES = 16, 20_000


@dataclass(frozen=True)
class Estimate:
    """Of all runs together; links that are always full make it one from above."""

    runs: int
    #: Of processor time.
    seconds: float
    bytes: float

    def text(self, cores: int) -> str:
        """``186 runs: about 12 s on 2 cores, 15 MB``."""
        time = duration(self.seconds / min(cores, max(1, self.runs)))
        on = counted(cores, "core")
        return (
            f"{counted(self.runs, 'run')}: about {time} on {on}, {self.bytes / 1e6:.1f} MB, at most"
        )


def estimate(runs: Iterable[tuple[Scenario, int]], backend: str = backends.DEFAULT) -> Estimate:
    """Add up what so many runs of each scenario may cost on a backend.

    Cores are up to two or three times as fast as the one that the backends' speed was measured on.
    """
    costs = backends.get(backend).abilities
    total, seconds, size = 0, 0.0, 0.0
    for scenario, count in runs:
        total += count
        seconds += count * (hops(scenario) / costs.speed + costs.overhead_s)
        size += count * _bytes(scenario)
    return Estimate(total, seconds, size)


def hops(scenario: Scenario) -> float:
    """The packet-hops of a run whose flows without an end fill the slowest links.

    They fill no more of them than there are hosts that such flows begin or end at.
    Flows with an end and the transfers of workloads send their bytes once, and a tenth again.
    """
    stop = _native.parse_time(scenario.stop_time) / 1e9
    rates = [_rate(link, scenario) for link in scenario.links]
    slowest = min(rates)
    of_a_link = slowest * stop / _FRAME_BITS * _HOPS
    sizes = [_native.parse_size(flow.application.bytes) for flow in scenario.flows]
    segments = sum(-(-size // _PAYLOAD) for size in sizes)
    finite = 1.1 * (segments + _transferred(scenario)) * 2 * _across(scenario)
    endless = [flow for flow, size in zip(scenario.flows, sizes, strict=True) if not size]
    full = min(
        rates.count(slowest),
        len({flow.source for flow in endless}),
        len({flow.destination for flow in endless}),
    )
    return full * of_a_link + finite


def _across(scenario: Scenario) -> int:
    """How many links lie between an end system and the one farthest from it: 2 in a star,
    3 in a dumbbell, 4 from leaf to leaf over a spine."""
    beside: dict[str, list[str]] = {}
    for link in scenario.links:
        one, other = link.ends
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    reached = {next((node for node, others in beside.items() if len(others) == 1), one)}
    seen, steps = set(reached), 0
    while reached := {other for node in reached for other in beside[node]} - seen:
        seen |= reached
        steps += 1
    return steps


def _transferred(scenario: Scenario) -> int:
    """How many segments the transfers of workloads have."""
    if not scenario.workloads:
        return 0
    sizes = [workload["bytes"] for workload in json.loads(scenario.lowered())["workloads"]]
    return sum(-(-size // _PAYLOAD) for each in sizes for size in each)


def _rate(link: Link, scenario: Scenario) -> float:
    """The mean rate of a link that follows a schedule, else the highest that it has, in bit/s."""
    scheduled = [rate for schedule in link.schedules for rate in schedule.rates_bps or ()]
    if scheduled:
        return sum(scheduled) / len(scheduled)
    changed = [change.rate for change in scenario.changes if change.link == link.name]
    return float(max(_native.parse_rate(rate) for rate in (link.rate, *changed) if rate))


def _bytes(scenario: Scenario) -> float:
    samples = _native.parse_time(scenario.stop_time) / _native.parse_time(
        scenario.recording.interval
    )
    sampled = scenario.recording
    flows = len(scenario.flows) if sampled.flows == "all" else len(sampled.flows)
    links = 2 * len(scenario.links) if sampled.links == "all" else 2 * len(sampled.links)
    # A word that is not "all" is "none".
    columns = sum(n for n, of in ((flows, sampled.flows), (links, sampled.links)) if of != "none")
    return _RUN_BYTES + _SAMPLE_BYTES * samples * columns
