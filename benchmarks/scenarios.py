"""What is timed: the four published scenarios and two heavy ones."""

from __future__ import annotations

from dataclasses import dataclass

from ccperf import catalogue
from ccperf.scenario import Scenario
from ccperf.topologies import Access, Bottleneck, DumbbellFlow, dumbbell


@dataclass(frozen=True)
class Case:
    """A scenario, and the stretch of it that ns-3 simulates (whole, if not shortened)."""

    name: str
    scenario: Scenario
    ns3_stop: str


def cases(cc: str) -> list[Case]:
    """The six scenarios with this congestion control."""
    published = [
        Case(experiment.name, scenario, scenario.stop_time)
        for experiment in catalogue.REGISTRY.values()
        if experiment.published
        for scenario in (experiment.scenario(cc),)
    ]
    heavy = [
        (
            "10 Gbps, 1 ms, 16 flows",
            _heavy(cc, "10Gbps", "1ms", 16, "833p", "40Gbps", "1s"),
            "20ms",
        ),
        (
            "1 Gbps, 20 ms, 100 flows",
            _heavy(cc, "1Gbps", "20ms", 100, "1667p", "8Gbps", "5s"),
            "250ms",
        ),
    ]
    return published + [Case(*entry) for entry in heavy]


def _heavy(
    cc: str, rate: str, rtt: str, flows: int, qlen: str, access_rate: str, stop_time: str
) -> Scenario:
    """A full pipe with a FIFO of one bandwidth-delay product; delays 1/8, 1/4, 1/8 of the RTT."""
    eighth_us = float(rtt.removesuffix("ms")) * 1000 / 8
    buffers = {"SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
    return dumbbell(
        Bottleneck(rate, qlen),
        [DumbbellFlow(cc, rtt, tcp=buffers)] * flows,
        Access(rate=access_rate, delay=f"{eighth_us:g}us"),
        stop_time=stop_time,
    )
