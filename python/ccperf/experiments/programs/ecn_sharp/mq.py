"""``mq``: do three classes keep their shares of a link when each is marked by itself?

Five senders, a switch and a receiver at 10 Gbps. The port to the receiver serves three classes by
deficit weighted round robin, 2:1:1, each with a marking discipline inside. Three long flows come
one after the other, one in each class; a hundred short ones of 28 kB come at random.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import addresses, summary, transport
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
#: One way, of each sender's link; that of the receiver is the last.
DELAYS = ("30us", "30us", "40us", "70us", "30us", "50us")
QUANTA = (3000, 1500, 1500)
#: When the long flow of each class begins.
LONG_STARTS = ("0s", "100ms", "200ms")
SHORT_FLOWS, SHORT_BYTES, SHORT_SENDERS = 100, "28000B", (2, 3)
#: Short flows begin before this.
SHORT_UNTIL_NS = 400_000_000
WINDOW = "20ms"
LONG = [f"long_{i}" for i in range(len(QUANTA))]

OPTIONS = {
    "id": Option("text", "undefined", "part of the files' names"),
    "transportProt": Option("text", "DcTcp", "DcTcp, Tcp or a congestion control"),
    "AQM": Option("text", "TCN", "of each class: TCN, ECNSharp or another discipline"),
    "endTime": Option("time", "0.4s", "of the simulation"),
    "randomSeed": Option("uint32", 0, "of the short flows; 0 is --RngRun"),
    "bufferSize": Option("uint32", 600, "of each class and of the senders, packets"),
    "TCNThreshold": Option("microseconds", "150us", "TCN marks above"),
    "ECNSharpInterval": Option("microseconds", "200us", "of ECN#"),
    "ECNSharpTarget": Option("microseconds", "10us", "of ECN#, for standing queues"),
    "ECNSharpMarkingThreshold": Option("microseconds", "150us", "of ECN#, for every packet"),
}
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
    from ccperf.experiments.topologies import SwitchPort, star

    end, seed = values["endTime"], transport.seed(values, rng_run)
    if end < 200_000_000:
        raise UsageError("--endTime", "the third long flow begins at 0.2 s; give at least that")
    limit = f"{values['bufferSize']}p"
    inner = MARKING.discipline(values, defaults, limit)
    scheduler = {
        "type": "DwrrQueueDisc",
        "attributes": {"Quanta": " ".join(map(str, QUANTA))},
        "children": [inner],
    }
    # Senders mark, too: without that, as in the original, a flow that is alone fills the queue of
    # its own port, loses thousands of packets at once and repairs that for a tenth of a second.
    fabric = star(
        len(DELAYS),
        delays=DELAYS,
        port=SwitchPort(None, limit),
        host_port=SwitchPort(inner, "5p"),
    )
    *senders, receiver = fabric.hosts
    *others, last = addresses.in_a_star(fabric).links
    bottleneck = {**last, "reverse": SwitchPort(scheduler, "5p").direction()}
    stacks = [
        transport.stack(f"class_{i}", values, defaults) | {"dscp": i} for i in range(len(QUANTA))
    ]

    def flow(name: str, sender: int, of_class: int, start: str, size: str) -> dict[str, Any]:
        return {
            "name": name,
            "source": senders[sender],
            "destination": receiver,
            "start": start,
            "application": {"type": "Greedy", "bytes": size, "write": f"{transport.SEGMENT}B"},
            "group": name.partition("_")[0],
            "stack": f"class_{of_class}",
        }

    rng = random.Random(f"{seed}/short")
    drawn = [
        (rng.randrange(min(end, SHORT_UNTIL_NS)), rng.randrange(len(QUANTA)))
        for _ in range(SHORT_FLOWS)
    ]
    flows = [flow(LONG[i], i, i, start, "0B") for i, start in enumerate(LONG_STARTS)]
    flows += [
        flow(f"short_{n}", SHORT_SENDERS[n % 2], of_class, time(start), SHORT_BYTES)
        for n, (start, of_class) in enumerate(drawn)
    ]
    return replace(fabric, links=(*others, bottleneck)).scenario(
        flows,
        stop_time=time(end),
        seed=seed,
        stacks=stacks,
        recording={
            "interval": WINDOW,
            "flows": LONG,
            "links": [bottleneck["name"]],
            "completions": True,
            **summary.RECORDING,
        },
    )


def lines(values: Values, result: Result) -> list[str]:  # noqa: ARG001
    """The long flows' throughput in each window, then the completion times."""
    samples = result.recording.flow_samples
    received = samples.array("read_bytes").reshape(-1, len(LONG))
    window_ns = int(samples.array("time_ns")[len(LONG)]) if len(received) > 1 else 1
    gbps = (received[1:] - received[:-1]) * 8 / window_ns
    said = [
        f"Flow: {flow}, throughput (Gbps): {value:.6g}"
        for window in gbps.tolist()
        for flow, value in enumerate(window)
    ]
    return [*said, *summary.lines(result)]


def notes(values: Values) -> list[str]:
    """What is to be said about the options."""
    return [*transport.notes(values), *MARKING.notes(values)]


def files(values: Values) -> list[File]:
    """The file that the program leaves behind."""
    return [summary.flow_monitor(f"MQ_{values['AQM']}_{values['id']}_Flow_Monitor.xml")]


PROGRAM = Program(
    "mq",
    OPTIONS,
    build,
    paths=(
        (r"links.*(MaxSize|device_queue)", "--bufferSize"),
        (r"links.*Threshold", "--TCNThreshold"),
        (r"stop_time|recording\.interval", "--endTime"),
    ),
    spellings={"ID": "id", "EndTime": "endTime"},
    notes=notes,
    report=Report(lines, files),
)
