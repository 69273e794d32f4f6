"""ns-3's ``examples/traffic-control/cobalt-vs-codel.cc``.

Five TCP senders and two of UDP, of 10 Mbps each, share a bottleneck of 10 Mbps. The program
simulates that twice, with COBALT and then with CoDel; here both networks are in one scenario, side
by side, with nothing in common.
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
    usual_socket,
)
from ccperf.experiments.programs.program import Defaults, Program, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_TCP_SENDERS = 5
_UDP_SENDERS = 2
_NODES = _TCP_SENDERS + _UDP_SENDERS + 3
_BUFFER = 1 << 20


def build(_: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    streams = AutomaticStreams(_NODES)
    networks = [
        _network(kind, base, streams, defaults)
        for kind, base in (("Cobalt", "10.0"), ("CoDel", "10.1"))
    ]
    return Scenario.model_validate(
        {
            "stop_time": "101s",
            "seed": rng_run,
            **{key: [one for network in networks for one in network[key]] for key in networks[0]},
        }
    )


def _network(
    kind: str, base: str, streams: AutomaticStreams, defaults: Defaults
) -> dict[str, list[Any]]:
    prefix = kind.lower()
    tcp = [f"{prefix}_tcp_{i}" for i in range(_TCP_SENDERS)]
    udp = [f"{prefix}_udp_{i}" for i in range(_UDP_SENDERS)]
    near, far, sink = (f"{prefix}_{name}" for name in ("near", "far", "sink"))
    fifo = direction(defaults.qdisc("PfifoFastQueueDisc", MaxSize="1000p"))
    qdisc = defaults.qdisc(f"{kind}QueueDisc", MaxSize="200p")
    # CoDel draws nothing.
    bottleneck = [
        direction({**qdisc, "stream": streams.next()} if kind == "Cobalt" else qdisc)
        for _ in range(2)
    ]

    def access(name: str, ends: tuple[str, str], network: int, queue: Any) -> dict[str, Any]:
        return link(name, ends, f"{base}.{network}", "10Mbps", "5ms", queue)

    flow = {"destination": sink, "source_port": FIRST_PORT, "stop": "100s", "receiver_stop": "101s"}
    sockets = {
        **usual_socket(
            defaults,
            SndBufSize=_BUFFER,
            RcvBufSize=_BUFFER,
            DelAckTimeout="0s",
            InitialCwnd=1,
            LimitedTransmit="false",
            SegmentSize=1446,
            WindowScaling="true",
        ),
        "application": {"type": "Greedy", "write": "1000B"},
        "destination_port": 50000,
    }
    datagrams = {
        "transport": "UDP",
        "application": on_off("10Mbps", 1000),
        "destination_port": 50001,
    }
    return {
        "nodes": [*tcp, *udp, near, far, sink],
        "links": [
            *(access(name, (name, near), i, fifo) for i, name in enumerate(tcp, 1)),
            access(sink, (far, sink), 9, fifo),
            link(f"{prefix}_btl", (near, far), f"{base}.8", "10Mbps", "50ms", *bottleneck),
            *(
                access(name, (name, near), i, usual_queue(defaults))
                for i, name in enumerate(udp, 6)
            ),
        ],
        "flows": [
            *({"name": name, "source": name, **flow, **sockets} for name in tcp),
            *({"name": name, "source": name, **flow, **datagrams} for name in udp),
        ],
    }


PROGRAM = Program("cobalt-vs-codel", {}, build, files=".plotme traces", reads_words=False)
