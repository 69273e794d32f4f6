"""``queue-track``: the queue of one port under load, and under bursts of answers to queries.

Senders whose round trips differ by their links' propagation, a switch and a receiver at 10 Gbps.
Behind a background of transfers, all senders answer a query at once, ten times in the time in
which flows begin. The switch's queue towards the receiver is looked at every 10 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import addresses, gnuplot, summary, transport
from ccperf.experiments.programs.ecn_sharp.marking import Marking
from ccperf.experiments.programs.program import (
    Defaults,
    File,
    Option,
    Program,
    Report,
    Values,
    time,
)

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

RATE = "10Gbps"
#: One way, of the senders' links in turn, and of the receiver's.
DELAYS, RECEIVER_DELAY = ("10us", "20us", "35us", "50us", "90us"), "5us"
#: Queries are asked at the multiples of this part of the time in which flows begin.
QUERIES = 10
#: Bytes of an answer.
ANSWER = ("3kB", "60kB")
SAMPLES = "10us"

OPTIONS = {
    "id": Option("text", "undefined", "part of the files' names"),
    "transportProt": Option("text", "DcTcp", "DcTcp, Tcp or a congestion control"),
    "AQM": Option("text", "ECNSharp", "of every port: ECNSharp, RED, CODEL or another discipline"),
    "numOfSenders": Option("uint32", 16, "at least 1"),
    "endTime": Option("time", "1s", "no flow begins from then on"),
    "simEndTime": Option("time", "2s", "of the simulation"),
    "cdfFileName": Option(
        "text", "examples/rtt-variations/VL2_CDF.txt", "sizes of the background's flows"
    ),
    "load": Option("real", 0.9, "of the bottleneck, by the background"),
    "randomSeed": Option("uint32", 0, "of all flows; 0 is --RngRun"),
    "flowNum": Option("uint32", 1000, "background flows at most"),
    "bufferSize": Option("uint32", 120, "of every port, packets"),
    "REDMarkingThreshold": Option("uint32", 40, "RED marks from so many packets on"),
    "CODELInterval": Option("microseconds", "150us", "of CoDel"),
    "CODELTarget": Option("microseconds", "10us", "of CoDel"),
    "ECNSharpInterval": Option("microseconds", "150us", "of ECN#"),
    "ECNSharpTarget": Option("microseconds", "10us", "of ECN#, for standing queues"),
    "ECNSharpMarkingThreshold": Option("microseconds", "50us", "of ECN#, for every packet"),
}
MARKING = Marking(
    {
        "StepRedQueueDisc": {"MarkingThreshold": "REDMarkingThreshold"},
        "MarkingCoDelQueueDisc": {"Interval": "CODELInterval", "Target": "CODELTarget"},
        "ECNSharpQueueDisc": {
            "InstantaneousMarkingThreshold": "ECNSharpMarkingThreshold",
            "PersistentMarkingTarget": "ECNSharpTarget",
            "PersistentMarkingInterval": "ECNSharpInterval",
        },
    }
)


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program describes."""
    from ccperf.experiments.topologies import FabricLink, SwitchPort, star

    count, end = values["numOfSenders"], values["endTime"]
    if not 1 <= count <= 10_000:
        raise UsageError("--numOfSenders", f"`{count}` is not from 1 to 10000")
    if end < QUERIES:
        raise UsageError("--endTime", "must be above 0")
    qdisc = MARKING.discipline(values, defaults, f"{values['bufferSize']}p")
    port = SwitchPort(qdisc, "5p")
    delays = [DELAYS[i % len(DELAYS)] for i in range(count)]
    fabric = star(
        count + 1,
        FabricLink(RATE),
        delays=[*delays, RECEIVER_DELAY],
        port=port,
        host_port=port,
    )
    *senders, receiver = fabric.hosts
    *others, last = addresses.in_a_star(fabric).links
    towards_receiver = {**last, "name": "bottleneck"}
    ends = {"stack": "dc", "sources": senders, "destinations": [receiver]}
    most = values["flowNum"] // count * count
    background = {
        "name": "background",
        **ends,
        "write": f"{transport.SEGMENT}B",
        "sizes": transport.sizes("--cdfFileName", values["cdfFileName"]),
        "arrivals": {
            "type": "Poisson",
            "load": values["load"],
            "capacity": RATE,
            "until": time(end),
            "count": most,
        },
    }
    query = {
        "name": "query",
        **ends,
        "write": f"{transport.SEGMENT}B",
        "pairs": "Incast",
        "sizes": {"type": "Uniform", "min": ANSWER[0], "max": ANSWER[1]},
        "arrivals": {"type": "Times", "times": [time(end * k // QUERIES) for k in range(1, 10)]},
    }
    # The original sets 10 segments, but lets two leave for an ACK at most, and begins with two.
    # With ten, 16 answers fill the 120 packets of the port before the first mark is back.
    own: dict[str, Any] = {
        "ConnTimeout": "1ms",
        "MinRto": "1ms",
        "ConnCount": 10,
        "DataRetries": 10,
    }
    return replace(fabric, links=(*others, towards_receiver)).scenario(
        [],
        stop_time=time(values["simEndTime"]),
        seed=transport.seed(values, rng_run),
        stacks=[transport.stack("dc", values, defaults, 2, **own)],
        workloads=[*([background] if most else []), query],
        recording={
            "interval": "1ms",
            "flows": "none",
            "links": ["bottleneck"],
            **summary.RECORDING,
            "queues": {"links": ["bottleneck_reverse"], "interval": SAMPLES},
        },
    )


def lines(values: Values, result: Result) -> list[str]:  # noqa: ARG001
    """The completion times."""
    return summary.lines(result)


def notes(values: Values) -> list[str]:
    """What is to be said about the options."""
    return [*transport.notes(values), *MARKING.notes(values)]


def files(values: Values) -> list[File]:
    """The files that the program leaves behind."""
    name = f"Queue_Track_{values['AQM']}_{values['id']}"
    return [gnuplot.queue(f"{name}_Queue"), summary.flow_monitor(f"{name}_Flow_Monitor.xml")]


PROGRAM = Program(
    "queue-track",
    OPTIONS,
    build,
    paths=(
        (r"links.*MaxSize", "--bufferSize"),
        (r"workloads\[0\]\.arrivals\.load", "--load"),
        (r"workloads\[0\]\.sizes.*", "--cdfFileName"),
        (r"workloads\[\d\]\.arrivals.*", "--endTime"),
        (r"stop_time|recording.*", "--simEndTime"),
    ),
    spellings={"ID": "id", "EndTime": "endTime"},
    notes=notes,
    report=Report(lines, files),
)
