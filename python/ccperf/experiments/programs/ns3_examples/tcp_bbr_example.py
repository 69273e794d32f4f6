"""ns-3's ``examples/tcp/tcp-bbr-example.cc``.

``sender - r1 - r2 - receiver``: a bottleneck of 10 Mbps and 10 ms, a FIFO of 100 packets with byte
queue limits over device queues of one packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.programs.ns3_examples.parts import FIRST_PORT, direction, link, usual_queue
from ccperf.experiments.programs.program import Defaults, Option, Program, Values, algorithm, time

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_SEND_BUFFER, _RECEIVE_BUFFER = 4_194_304, 6_291_456

OPTIONS = {
    "tcpTypeId": Option("text", "TcpBbr", "congestion control"),
    "delAckCount": Option("uint32", 2, "segments an acknowledgement"),
    "enablePcap": Option("bool", False, "pcap", files=".pcap"),
    "stopTime": Option("time", "100s", "of application and simulation"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    fifo = defaults.qdisc("FifoQueueDisc", MaxSize="100p")
    limited = direction(fifo, "1p", queue_limits={"hold_time": "1s"})
    edge: dict[str, Any] = {"rate": "1000Mbps", "delay": "5ms", "forward": limited}
    stop = values["stopTime"]
    return Scenario.model_validate(
        {
            "stop_time": time(stop + 1),
            "seed": rng_run,
            "nodes": ["sender", "receiver", "r1", "r2"],
            "links": [
                link("senderEdge", ("sender", "r1"), "10.0.1", **edge),
                link(
                    *("btl", ("r1", "r2"), "10.0.0", "10Mbps", "10ms"),
                    limited,
                    usual_queue(defaults, "1p"),
                ),
                link("receiverEdge", ("r2", "receiver"), "10.0.2", **edge),
            ],
            "flows": [
                {
                    "source": "sender",
                    "destination": "receiver",
                    "source_port": FIRST_PORT,
                    "destination_port": 50001,
                    "start": "100ms",
                    "stop": time(stop),
                    "receiver_stop": time(stop),
                    "application": {"type": "Greedy"},
                    "cc": defaults.cc(algorithm("--tcpTypeId", "cc", values["tcpTypeId"])),
                    "recovery": "TcpPrrRecovery",
                    "tcp": defaults.tcp(
                        SndBufSize=_SEND_BUFFER,
                        RcvBufSize=_RECEIVE_BUFFER,
                        InitialCwnd=10,
                        DelAckCount=values["delAckCount"],
                        SegmentSize=1448,
                    ),
                }
            ],
        }
    )


PROGRAM = Program(
    "tcp-bbr-example",
    OPTIONS,
    build,
    files="its .dat traces",
    paths=(
        (r"flows\[0\]\.tcp\.DelAckCount", "--delAckCount"),
        (r"stop_time|flows\[0\]\.(start|stop|receiver_stop)|recording\.interval", "--stopTime"),
    ),
    sets=("TcpL4Protocol::SocketType", "DropTailQueue<Packet>::MaxSize"),
)
