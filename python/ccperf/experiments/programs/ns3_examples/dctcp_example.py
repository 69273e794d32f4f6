"""ns-3's ``examples/tcp/dctcp-example.cc``: two switches with RED that marks, 40 senders.

Ten senders S1 and twenty S2 at the first switch, ten S3 at the second one, where the receivers are,
too: twenty R2, one for each S2, and R1 for all others. It is the network of figure 17 of "Data
Center TCP (DCTCP)", SIGCOMM 2010.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    AutomaticStreams,
    direction,
    link,
    on_off,
    usual_queue,
)
from ccperf.experiments.programs.program import Defaults, Option, Program, Values, algorithm, time

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_MS = 1_000_000
_FIRST_SINK_PORT = 50000

OPTIONS = {
    "tcpTypeId": Option("text", "TcpDctcp", "congestion control"),
    "flowStartupWindow": Option("time", "1s", "over which flows start"),
    "convergenceTime": Option("time", "3s", "after which it is measured"),
    "measurementWindow": Option("time", "1s", "in which it is measured"),
    "enableSwitchEcn": Option("bool", True, "switches mark"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    s1, r2 = (tuple(f"{name}_{i}" for i in range(n)) for name, n in (("s1", 10), ("r2", 20)))
    s2, s3 = (tuple(f"{name}_{i}" for i in range(n)) for name, n in (("s2", 20), ("s3", 10)))
    nodes = ("t1", "t2", "r1", *s1, *s2, *s3, *r2)
    streams = AutomaticStreams(len(nodes))
    host = usual_queue(defaults)

    def switch(rate: str, low: int, high: int) -> dict[str, Any]:
        qdisc = defaults.qdisc(
            "RedQueueDisc",
            UseEcn=values["enableSwitchEcn"],
            UseHardDrop="false",
            MeanPktSize=1500,
            MaxSize="2666p",
            QW=1,
            LinkBandwidth=rate,
            LinkDelay="10us",
            MinTh=low,
            MaxTh=high,
        )
        return direction({**qdisc, "stream": streams.next()})

    def edges(hosts: tuple[str, ...], to: str, network: str) -> list[dict[str, Any]]:
        return [
            link(
                *(f"{name}_{to}", (name, to), f"{network}.{i}", "1Gbps", "10us"),
                *(host, switch("1Gbps", 20, 60)),
            )
            for i, name in enumerate(hosts, 1)
        ]

    core = [switch("10Gbps", 50, 150) for _ in range(2)]
    links = [
        link("t1_t2", ("t1", "t2"), "172.16.1", "10Gbps", "10us", *core),
        link(*("r1_t2", ("r1", "t2"), "192.168.0", "1Gbps", "10us"), host, switch("1Gbps", 20, 60)),
        *edges(s1, "t1", "10.1"),
        *edges(s2, "t1", "10.2"),
        *edges(s3, "t2", "10.3"),
        *edges(r2, "t2", "10.4"),
    ]
    window = values["flowStartupWindow"]
    stop = window + values["convergenceTime"] + values["measurementWindow"]
    cc = defaults.cc(algorithm("--tcpTypeId", "cc", values["tcpTypeId"]))
    tcp = defaults.tcp(SegmentSize=1448, DelAckCount=2)

    def flow(source: str, destination: str, number: int, offset: int) -> tuple[int, dict[str, Any]]:
        start = offset + 5 * _MS * number
        return start, {
            "name": source,
            "source": source,
            "destination": destination,
            "source_port": FIRST_PORT,
            "destination_port": _FIRST_SINK_PORT + number,
            "start": time(start),
            "stop": time(stop),
            "receiver_stop": time(stop),
            "application": on_off("1Gbps", 1000),
            "cc": cc,
            "recovery": "TcpPrrRecovery",
            "tcp": tcp,
        }

    flows = [
        *(
            flow(source, sink, i, i * window // 20)
            for i, (source, sink) in enumerate(zip(s2, r2, strict=True))
        ),
        *(flow(source, "r1", i, i * window // 10) for i, source in enumerate(s1)),
        *(flow(source, "r1", i, (i - 10) * window // 10) for i, source in enumerate(s3, 10)),
    ]
    return Scenario.model_validate(
        {
            "stop_time": time(stop + 1),
            "seed": rng_run,
            "nodes": nodes,
            "links": links,
            # Short windows end before the last ones would start.
            "flows": [one for start, one in flows if start <= stop],
        }
    )


PROGRAM = Program(
    "dctcp-example",
    OPTIONS,
    build,
    files="its .dat traces",
    paths=((r"stop_time|flows\[\d+\]\.(start|stop|receiver_stop)", "--measurementWindow"),),
    sets=("TcpL4Protocol::SocketType",),
)
