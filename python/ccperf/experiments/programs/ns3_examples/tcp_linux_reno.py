"""ns-3's ``examples/tcp/tcp-linux-reno.cc``.

``left - r1 - r2 - right``: a bottleneck of 1 Mbps and 10 ms between links of 10 Mbps and 1 ms, one
bulk transfer from 10 s on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    AutomaticStreams,
    direction,
    link,
    usual_queue,
)
from ccperf.experiments.programs.program import (
    SOCKETS,
    Defaults,
    Option,
    Program,
    Values,
    algorithm,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

OPTIONS = {
    "tcpTypeId": Option("text", "ns3::TcpLinuxReno", "congestion control"),
    "qdiscTypeId": Option("text", "ns3::FifoQueueDisc", "of the bottleneck"),
    "segmentSize": Option("uint32", 524, "bytes"),
    "delAckCount": Option("uint32", 1, "segments an acknowledgement"),
    "enableSack": Option("bool", True, "selective acknowledgements"),
    "stopTime": Option("time", "60s", "of the simulation"),
    "recovery": Option("text", "ns3::TcpClassicRecovery", "of losses"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    usual = usual_queue(defaults)
    qdisc = algorithm("--qdiscTypeId", "qdisc", values["qdiscTypeId"])
    bottleneck = defaults.qdisc(qdisc, MaxSize="100p")
    bottleneck["stream"] = AutomaticStreams(4).next()
    stop = time(values["stopTime"])
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "seed": rng_run,
            "nodes": ["r1", "r2", "left", "right"],
            "links": [
                link(
                    *("btl", ("r1", "r2"), "10.0.0", "1Mbps", "10ms"), direction(bottleneck), usual
                ),
                link("left", ("left", "r1"), "10.0.1", "10Mbps", "1ms", usual),
                link("right", ("r2", "right"), "10.0.2", "10Mbps", "1ms", usual),
            ],
            "flows": [
                {
                    "source": "left",
                    "destination": "right",
                    "source_port": FIRST_PORT,
                    "destination_port": 50000,
                    "start": "10s",
                    "stop": stop,
                    "receiver_stop": stop,
                    "application": {"type": "Greedy"},
                    "cc": defaults.cc(algorithm("--tcpTypeId", "cc", values["tcpTypeId"])),
                    "recovery": algorithm("--recovery", "recovery", values["recovery"]),
                    "tcp": defaults.tcp(
                        SndBufSize=1 << 20,
                        RcvBufSize=1 << 20,
                        InitialCwnd=10,
                        DelAckCount=values["delAckCount"],
                        SegmentSize=values["segmentSize"],
                        Sack=values["enableSack"],
                    ),
                }
            ],
        }
    )


PROGRAM = Program(
    "tcp-linux-reno",
    OPTIONS,
    build,
    files="its folder results",
    paths=(
        (r"links\[0\]\.forward\.qdisc.*", "--qdiscTypeId"),
        (r"flows\[0\]\.tcp\.SegmentSize", "--segmentSize"),
        (r"flows\[0\]\.tcp\.DelAckCount", "--delAckCount"),
        (r"stop_time|flows\[0\]\.(start|stop|receiver_stop)|recording\.interval", "--stopTime"),
    ),
    sets=SOCKETS,
)
