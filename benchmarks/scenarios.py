"""What is timed: the four published scenarios, three full pipes, a fat tree; what is counted."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import growth
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import (
    Access,
    Bottleneck,
    DumbbellFlow,
    FabricLink,
    SwitchPort,
    dumbbell,
    fat_tree,
)
from ccperf.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """A scenario, and the stretch of it that ns-3 simulates (whole, if not shortened).

    ``has_peer``: htsim can run it, too.
    """

    name: str
    scenario: Scenario
    ns3_stop: str
    has_peer: bool = False


def cases(cc: str) -> list[Case]:
    """All of them with this congestion control; but the fat tree has DCTCP."""
    published = [
        Case(name, scenario, scenario.stop_time)
        for name in ("ecn", "aqm", "scalability", "ack_compression")
        for scenario in (catalogue.REGISTRY[name].scenario(cc),)
    ]
    pipes = [
        Case(
            "100 Mbps, 20 ms, 1 flow",
            _pipe(cc, "100Mbps", "20ms", 1, "167p", "1Gbps", "60s"),
            "10s",
            has_peer=True,
        ),
        Case(
            "10 Gbps, 1 ms, 16 flows",
            _pipe(cc, "10Gbps", "1ms", 16, "833p", "40Gbps", "2s"),
            "20ms",
            has_peer=True,
        ),
        Case(
            "1 Gbps, 20 ms, 100 flows",
            _pipe(cc, "1Gbps", "20ms", 100, "1667p", "8Gbps", "5s"),
            "250ms",
            has_peer=True,
        ),
    ]
    tree = Case("fat tree, 128 hosts, DCTCP", web_search(8, "20ms"), "2ms", has_peer=True)
    return [*published, *pipes, tree]


def large() -> list[Case]:
    """What waits for memory more than for instructions; with ns-3 it would take hours."""
    bbr = _pipe("TcpBbr", "1Gbps", "20ms", 100, "1667p", "8Gbps", "5s")
    many = catalogue.get("many_flows")
    return [
        Case("100 flows, BBR", bbr, "250ms"),
        Case("many_flows, CUBIC", many.scenario("TcpCubic"), "1s"),
        Case("many_flows, BBR", many.scenario("TcpBbr"), "1s"),
        Case("fat tree, 1,024 hosts, DCTCP", web_search(16, "5ms"), "500us"),
        *(
            Case(f"{flows:,} living flows", growth.Case(flows, "shared").scenario(), "120ms")
            for flows in (1_000, 10_000)
        ),
    ]


def counted() -> dict[str, Scenario]:
    """Small ones that together go through what most runs consist of, for `instructions`."""
    chosen: dict[str, tuple[str, str, str, dict[str, str]]] = {
        "losses, SACK": ("loss_resilience", "TcpNewReno", "5s", {"loss": "0.01"}),
        "FqCoDel, five flows": ("aqm", "TcpCubic", "2s", {}),
        "CoDel, five flows": ("aqm", "TcpNewReno", "2s", {"qdisc": "CoDelQueueDisc"}),
        "a rate that changes": ("random_walk", "TcpNewReno", "5s", {}),
        "cross traffic": ("cross_traffic", "TcpNewReno", "2s", {}),
        "ECN#, leaves and spines": ("leaf_spine", "EcnSharpQueueDisc", "3ms", {}),
        "CONGA, web search": ("load_balancing", "conga", "3ms", {}),
        "many flows, BBR": ("many_flows", "TcpBbr", "1200ms", {}),
    }
    return {
        "one flow": _pipe("TcpNewReno", "100Mbps", "20ms", 1, "167p", "1Gbps", "2s"),
        "one flow, CUBIC": _pipe("TcpCubic", "100Mbps", "20ms", 1, "167p", "1Gbps", "2s"),
        "one flow, BBR": _pipe("TcpBbr", "100Mbps", "20ms", 1, "167p", "1Gbps", "2s"),
        "16 flows": _pipe("TcpNewReno", "10Gbps", "1ms", 16, "833p", "40Gbps", "40ms"),
        "100 flows": _pipe("TcpNewReno", "1Gbps", "20ms", 100, "1667p", "8Gbps", "300ms"),
        "100 flows, BBR": _pipe("TcpBbr", "1Gbps", "20ms", 100, "1667p", "8Gbps", "300ms"),
        "2,500 living flows": growth.Case(2_500, "shared")
        .scenario()
        .model_copy(update={"stop_time": "120ms"}),
        "fat tree, DCTCP, RED as a step": web_search(8, "2ms"),
    } | {
        name: catalogue.get(experiment).scenario(tested, stop_time=stop_time, **parameters)
        for name, (experiment, tested, stop_time, parameters) in chosen.items()
    }


def _pipe(
    cc: str, rate: str, rtt: str, flows: int, qlen: str, access_rate: str, stop_time: str
) -> Scenario:
    """Always full; a FIFO of one bandwidth-delay product; delays 1/8, 1/4, 1/8 of the RTT."""
    eighth_us = float(rtt.removesuffix("ms")) * 1000 / 8
    buffers = {"SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
    return dumbbell(
        Bottleneck(rate, qlen),
        [DumbbellFlow(cc, rtt, tcp=buffers)] * flows,
        Access(rate=access_rate, delay=f"{eighth_us:g}us"),
        stop_time=stop_time,
    )


def web_search(k: int, stop_time: str) -> Scenario:
    """Over ECMP in a fat tree of such switches, at a load of 0.44; RED as a step at 65 packets."""
    step = {"MinTh": 65, "MaxTh": 65, "QW": 1, "UseEcn": True, "UseHardDrop": False}
    red = {"type": "red", "attributes": {**step, "MaxSize": "1000p", "MeanPktSize": 1500}}
    fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}
    fabric = fat_tree(
        k,
        FabricLink("10Gbps", "1us"),
        port=SwitchPort(red, "1p"),
        host_port=SwitchPort(fifo, "1p"),
    )
    buffers = {"SndBufSize": 4_000_000, "RcvBufSize": 4_000_000}
    stack = {"name": "dc", "cc": "dctcp", "tcp": {"MinRto": "1ms", **buffers}}
    arrivals = {"type": "Poisson", "load": 0.44, "until": stop_time}
    web = {"name": "web", "stack": "dc", "sizes": {"type": "WebSearch"}, "arrivals": arrivals}
    return fabric.scenario([], stacks=[stack], routing="ecmp", stop_time=stop_time, workloads=[web])
