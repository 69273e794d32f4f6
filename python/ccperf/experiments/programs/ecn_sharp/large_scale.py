"""``large-scale``: completion times in a leaf-spine fabric, with base RTTs from 80 to 240 us.

Every server sends to servers below other leaves, at random times and of random sizes. Each flow
has one of five delays on top of the links', as in networks whose packets pass hypervisors, load
balancers and middleboxes, or do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import summary, transport
from ccperf.experiments.programs.ecn_sharp.marking import Marking
from ccperf.experiments.programs.program import (
    Defaults,
    File,
    Option,
    Program,
    Report,
    Values,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.experiments.topologies import SwitchPort
    from ccperf.experiments.topologies.fabric import Fabric
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

#: Of every switch port, in packets.
LIMIT, DEVICE_QUEUE = "250p", "10p"
#: What a flow's packets have on top of the links' propagation, one as likely as the other.
ADDED_DELAYS = ("1us", "20us", "50us", "80us", "160us")
_GBPS = 10**9
_MOST_SERVERS = 100_000

OPTIONS = {
    "ID": Option("text", "undefined", "part of the file's name"),
    "StartTime": Option("time", "0s", "flows begin from then on"),
    "EndTime": Option("time", "0.5s", "of the simulation"),
    "FlowLaunchEndTime": Option("time", "0.2s", "no flow begins from then on"),
    "randomSeed": Option("uint32", 0, "of all flows; 0 is --RngRun"),
    "cdfFileName": Option(
        "text", "examples/rtt-variations/DCTCP_CDF.txt", "sizes of the flows: a file"
    ),
    "load": Option("real", 0.0, "of the leaves' uplinks, above 0 and below 1"),
    "transportProt": Option("text", "DcTcp", "DcTcp, Tcp or a congestion control"),
    "linkLatency": Option("microseconds", "10us", "of every link"),
    "serverCount": Option("uint32", 8, "servers of a leaf"),
    "spineCount": Option("uint32", 4, "spines"),
    "leafCount": Option("uint32", 4, "leaves, at least 2"),
    "linkCount": Option("uint32", 1, "links between a leaf and a spine"),
    "spineLeafCapacity": Option("uint64", 10, "of links between switches, Gbps"),
    "leafServerCapacity": Option("uint64", 10, "of servers' links, Gbps"),
    "AQM": Option("text", "ECNSharp", "of every port: ECNSharp, TCN or another discipline"),
    "TCNThreshold": Option("microseconds", "80us", "TCN marks above"),
    "ECNSharpInterval": Option("microseconds", "150us", "of ECN#"),
    "ECNSharpTarget": Option("microseconds", "10us", "of ECN#, for standing queues"),
    "ECNSharpMarkingThreshold": Option("microseconds", "80us", "of ECN#, for every packet"),
}
#: As the original spells them.
SPELLINGS = {
    "ECNShaprInterval": "ECNSharpInterval",
    "ECNShaprMarkingThreshold": "ECNSharpMarkingThreshold",
    "id": "ID",
    "endTime": "EndTime",
}
PATHS = (
    (r"links.*rate", "--spineLeafCapacity"),
    (r"workloads\[0\]\.arrivals\.load", "--load"),
    (r"workloads\[0\]\.sizes.*", "--cdfFileName"),
    (r"workloads\[0\]\.arrivals.*", "--FlowLaunchEndTime"),
    (r"stop_time|recording.*", "--EndTime"),
)
MARKING = Marking(
    {
        "TcnQueueDisc": {"Threshold": "TCNThreshold"},
        "ECNSharpQueueDisc": {
            "InstantaneousMarkingThreshold": "ECNSharpMarkingThreshold",
            "PersistentMarkingTarget": "ECNSharpTarget",
            "PersistentMarkingInterval": "ECNSharpInterval",
        },
    }
)


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program describes."""
    from ccperf.experiments.topologies import SwitchPort

    qdisc = MARKING.discipline(values, defaults, LIMIT)
    return fabric(values, defaults, rng_run, SwitchPort(qdisc, DEVICE_QUEUE))


def leaves_and_spines(values: Values, port: SwitchPort, host_port: SwitchPort) -> Fabric:
    """The network that the options describe, over such ports of switches and hosts."""
    from ccperf.experiments.topologies import FabricLink, leaf_spine

    latency = time(values["linkLatency"])
    return leaf_spine(
        values["leafCount"],
        values["spineCount"],
        values["serverCount"],
        parallel=values["linkCount"],
        host_link_of=FabricLink(rate(values["leafServerCapacity"] * _GBPS), latency),
        fabric_link_of=FabricLink(rate(values["spineLeafCapacity"] * _GBPS), latency),
        port=port,
        host_port=host_port,
    )


def uplinks(values: Values) -> int:
    """What all links from leaves to spines carry together, in bit/s."""
    links = values["leafCount"] * values["spineCount"] * values["linkCount"]
    return int(links * values["spineLeafCapacity"] * _GBPS)


def fabric(
    values: Values,
    defaults: Defaults,
    rng_run: int,
    port: SwitchPort,
    stack: Mapping[str, Any] | None = None,
) -> Scenario:
    """The fabric with its flows, over such ports; `stack` has further fields of the flows'."""
    from ccperf.experiments.topologies import fair_host_port

    check(values)
    network = leaves_and_spines(values, port, fair_host_port(device_queue=DEVICE_QUEUE))
    flows = workload(values, network.racks, uplinks(values))
    return network.scenario(
        [],
        stop_time=time(values["EndTime"]),
        seed=transport.seed(values, rng_run),
        routing={"type": "ecmp"},
        stacks=[{**transport.stack("dc", values, defaults), **(stack or {})}],
        workloads=[{**flows, "added_delay": {"type": "Classes", "delays": ADDED_DELAYS}}],
        recording={"flows": "none", "links": "none", **summary.RECORDING},
    )


def workload(values: Values, apart: Sequence[Sequence[str]], capacity_bps: int) -> dict[str, Any]:
    """Poisson arrivals between hosts of different groups, at a load of `capacity_bps`.

    Raises:
        UsageError: if the file with their sizes is not there.
    """
    return {
        "name": "flow",
        "stack": "dc",
        "write": f"{transport.SEGMENT}B",
        "apart": apart,
        "sizes": transport.sizes("--cdfFileName", values["cdfFileName"]),
        "arrivals": {
            "type": "Poisson",
            "load": values["load"],
            "capacity": rate(capacity_bps),
            "start": time(values["StartTime"]),
            "until": time(values["FlowLaunchEndTime"]),
        },
    }


def lines(values: Values, result: Result) -> list[str]:  # noqa: ARG001
    """The completion times."""
    return summary.lines(result)


def notes(values: Values) -> list[str]:
    """What is to be said about the options."""
    return [*transport.notes(values), *MARKING.notes(values)]


def files(values: Values, prefix: str = "Large_Scale", place: int = 1) -> list[File]:
    """The file that the program leaves behind.

    `place`: of servers at their links, which decides about their addresses.
    """
    size = f"{values['leafCount']}X{values['spineCount']}"
    words = (prefix, values["ID"], size, values["AQM"], values["transportProt"])
    name = f"{'_'.join(words)}_{values['load']:g}.xml"
    return [summary.flow_monitor(name, place)]


def check(values: Values) -> None:
    """Refuse numbers that make no fabric.

    Raises:
        UsageError: with the option.
    """
    counts = ("serverCount", "spineCount", "leafCount", "linkCount")
    for option in (*counts, "spineLeafCapacity", "leafServerCapacity"):
        least = 2 if option == "leafCount" else 1
        if not least <= values[option] <= 1000:
            raise UsageError(f"--{option}", f"`{values[option]}` is not from {least} to 1000")
    servers = values["leafCount"] * values["serverCount"]
    if servers > _MOST_SERVERS:
        raise UsageError("--serverCount", f"{servers} servers are more than {_MOST_SERVERS}")


PROGRAM = Program(
    "large-scale",
    OPTIONS,
    build,
    paths=PATHS,
    spellings=SPELLINGS,
    notes=notes,
    report=Report(lines, files),
)
