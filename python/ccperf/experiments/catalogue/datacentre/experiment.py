"""What experiments on queue disciplines in data centres have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import AUTO, Parameter
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.algorithms import registry
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.experiments.topologies import Fabric

#: How hosts speak TCP: an ACK for each segment, timers of milliseconds, buffers that never limit.
TCP = profiles.tcp("ns3-ecn-sharp", InitialCwnd=10)
#: Payload of a segment, in bytes: 1454 B on the wire.
SEGMENT: int = TCP["SegmentSize"]
#: The transport is no part of what is compared, but may be another one.
TRANSPORT = Parameter(
    "transport", "cc", ("TcpDctcp",), "TcpDctcp", "Congestion control of all flows, with ECN."
)
WINDOW = Parameter("window", "count", (10,), 10, "Initial window, in segments.")
SIZES = {"web_search": "WebSearch", "data_mining": "DataMining"}
WORKLOAD = Parameter(
    "workload",
    "word",
    tuple(SIZES),
    "web_search",
    "Sizes of the flows: web search (mean 1.7 MB) or data mining (mean 12.7 MB).",
    tuple(SIZES),
)
#: What a rate other than this changes: all rates, buffers and thresholds in packets in proportion.
RATE = "10Gbps"
RATE_OF_LINKS = Parameter(
    "rate",
    "rate",
    (RATE,),
    RATE,
    "Rate of all links; buffers, and thresholds in packets, are as many times as large.",
)
FABRIC_RATE = Parameter(
    "fabric_rate",
    "rate",
    (AUTO,),
    AUTO,
    "Rate of the links between switches; auto: that of all links. Buffers and thresholds follow.",
)
#: What is not asked for.
NONE = "none"
NO_TRACE = NONE
CONNECTIONS = Parameter(
    "connections",
    "count",
    (NONE,),
    NONE,
    "Connections that a host keeps open to another at most, for one flow after another; none: each "
    "flow opens its own.",
    words=(NONE,),
)
#: As on top of the load in HPCC's evaluation (Y. Li et al., SIGCOMM 2019): 500 kB of each of 60
#: senders, 2 % of what all hosts can send.
BURST_BYTES, BURST_LOAD = "500kB", 0.02
INCAST = Parameter(
    "incast",
    "count",
    (NONE,),
    NONE,
    "Senders, at random, of bursts on top of the load, of 500 kB each to one receiver; together 2 "
    "% of what all hosts can send.",
    words=(NONE,),
)
FLOW_TRACE = Parameter(
    "flow_trace",
    "flows",
    (NO_TRACE,),
    NO_TRACE,
    "File of transfers in place of those that are drawn; formats: CSV, HPCC's flow.txt, htsim's.",
    words=(NO_TRACE,),
)
SAID_BY_TRACE = ("workload", "load", "arrivals")
LOADS = tuple(round(0.1 * tenth, 1) for tenth in range(1, 10))
LOAD = Parameter("load", "load", LOADS, 0.5, "Load of the bottleneck, between 0 and 1.")


class DataCentreExperiment(Experiment):
    """An experiment whose algorithm under test is a queue discipline: a marking scheme."""

    kind: ClassVar[registry.Kind] = "qdisc"
    usual: ClassVar[tuple[str, ...]] = schemes.USUAL
    papers: ClassVar[tuple[str, ...]] = ("ecnsharp",)
    group = "Data centre"
    recovery = "TcpClassicRecovery"

    def resolve(self, name: str) -> str:
        """The scheme; see :mod:`ccperf.experiments.catalogue.datacentre.schemes`."""
        return schemes.resolve(name)


def stack(setup: Setup, **own: Any) -> dict[str, Any]:
    """How all hosts speak TCP, called `dc`."""
    cc = {"type": setup["transport"], "attributes": {}}
    if "window" in setup.parameters:
        own["InitialCwnd"] = setup["window"]
    return {"name": "dc", "cc": cc, "recovery": setup.recovery, "tcp": {**TCP, **own}}


def without_what_a_trace_says(
    parameters: tuple[Parameter, ...], values: dict[str, Value]
) -> dict[str, Value]:
    """A point with a flow trace has no load, sizes or arrivals of its own: their defaults stand."""
    if values.get("flow_trace", NO_TRACE) == NO_TRACE:
        return values
    said = {each.name: each.default for each in parameters if each.name in SAID_BY_TRACE}
    return {**values, **said}


def in_proportion(size: str, rate: str) -> str:
    """A size in packets at 10 Gbps, at another rate: as long to send."""
    packets = int(size.removesuffix("p")) * _native.parse_rate(rate)
    return f"{max(1, round(packets / _native.parse_rate(RATE)))}p"


def at_rate(thresholds: schemes.Thresholds, rate: str) -> schemes.Thresholds:
    """The thresholds and the room of a port of another rate: as long in time."""
    return replace(thresholds, rate=rate, limit=in_proportion(thresholds.limit, rate))


def rate_between_switches(setup: Setup) -> str:
    """Of each link there."""
    asked = setup.parameters.get("fabric_rate", AUTO)
    return str(setup["rate"] if asked == AUTO else asked)


def flows_between_racks(setup: Setup, network: Fabric, uplinks_bps: int) -> dict[str, Any]:
    """Poisson arrivals between hosts of different racks, at a load of the uplinks together.

    A flow trace has its own transfers; its classes are workloads of their own.
    """
    if (trace := setup.parameters.get("flow_trace", NO_TRACE)) != NO_TRACE:
        return {"stack": "dc", "write": f"{SEGMENT}B", "trace": str(trace)}
    return {
        "name": "flow",
        "stack": "dc",
        "write": f"{SEGMENT}B",
        "apart": network.racks,
        "sizes": SIZES[setup["workload"]],
        "arrivals": {
            "type": "Poisson",
            "load": setup["load"],
            "capacity": f"{uplinks_bps}bps",
            "until": setup["arrivals"],
        },
    }


def bursts(setup: Setup) -> list[dict[str, Any]]:
    """The incast on top of the load, if it is asked for."""
    if (senders := setup.parameters.get("incast", NONE)) == NONE:
        return []
    arrivals = {"type": "Poisson", "load": BURST_LOAD, "until": setup["arrivals"]}
    return [
        {
            "name": "burst",
            "stack": "dc",
            "write": f"{SEGMENT}B",
            "pairs": {"type": "Incast", "senders": senders},
            "sizes": {"type": "Constant", "bytes": BURST_BYTES},
            "arrivals": arrivals,
        }
    ]


def kept_open(setup: Setup) -> dict[str, Any]:
    """The field of a workload that says whether its connections stay open."""
    connections = setup.parameters.get("connections", NONE)
    return {} if connections == NONE else {"connections": connections}


def of_the_uplinks(network: Fabric) -> dict[str, Any]:
    """What is recorded where transfers count: the links between switches, every millisecond."""
    return {"interval": "1ms", "flows": "none", "links": network.between_switches}
