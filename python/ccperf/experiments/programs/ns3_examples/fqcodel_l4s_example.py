"""ns-3's ``src/traffic-control/examples/fqcodel-l4s-example.cc``.

Three servers behind a router, three clients behind another: a ping, a TCP flow from 5 s on and
perhaps one from 15 s on, of BIC, DCTCP or NewReno. FQ-CoDel with byte queue limits everywhere; in
scenarios 4, 8 and 9 as for L4S (RFC 9331), which DCTCP asks for with ECT(1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import FIRST_PORT, SECOND, begins, link
from ccperf.experiments.programs.program import (
    Defaults,
    Option,
    Program,
    Values,
    choice,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_TYPES = {"bic": "TcpBic", "dctcp": "TcpDctcp", "reno": "TcpNewReno"}
_QUEUES = {"fq": "FqCoDelQueueDisc", "codel": "CoDelQueueDisc"}
_BUFFER = 8_192_000
_BYTES = 7_500_000_000
_SHORT = 500_000
_LONG = 40_000_000

OPTIONS = {
    "n0TcpType": Option("text", "bic", "of the first flow: bic, dctcp or reno"),
    "n1TcpType": Option("text", "", "of the second flow: bic, dctcp, reno or none"),
    "scenarioNum": Option("uint32", 0, "1 to 9 set what follows by themselves"),
    "bottleneckQueueType": Option("text", "fq", "of the bottleneck: fq or codel"),
    "baseRtt": Option("time", "80ms", "of the servers' links"),
    "useCeThreshold": Option("bool", False, "a CE threshold of FQ-CoDel"),
    "useEcn": Option("bool", True, "of TCP"),
    "ceThreshold": Option("time", "1ms", "how much"),
    "bottleneckRate": Option("rate", "100Mbps", "of the bottleneck, towards the clients"),
    "linkRate": Option("rate", "1Gbps", "of all else"),
    "stopTime": Option("time", "70s", "of the simulation"),
    "enablePcap": Option("bool", False, "pcap", files=".pcap"),
}


class _Setting:
    """What options or the number of a scenario come to."""

    def __init__(self, values: Values) -> None:
        number = values["scenarioNum"]
        if number > 9:
            raise UsageError("--scenarioNum", f"{number} is not from 0 to 9")
        self.flows: list[str]
        self.use_ecn = True
        self.queue = "FqCoDelQueueDisc"
        self.ce_threshold: int | None = None
        self.is_l4s = False
        self.delays = [values["baseRtt"] // 2] * 3
        if number == 0:
            first = choice("--n0TcpType", values["n0TcpType"], tuple(_TYPES))
            second = values["n1TcpType"]
            if second:
                choice("--n1TcpType", second, tuple(_TYPES))
            queue = choice("--bottleneckQueueType", values["bottleneckQueueType"], tuple(_QUEUES))
            self.flows = [_TYPES[first], *([_TYPES[second]] if second else [])]
            self.use_ecn = values["useEcn"]
            self.queue = _QUEUES[queue]
            self.ce_threshold = values["ceThreshold"] if values["useCeThreshold"] else None
        elif number in (1, 2, 5, 6):
            self.flows = ["TcpBic"] * (2 if number > 2 else 1)
            self.use_ecn = number in (2, 6)
        else:
            self.flows = ["TcpBic" if number == 9 else "TcpDctcp"]
            self.flows += ["TcpDctcp"] if number >= 7 else []
            self.ce_threshold = 1_000_000
            self.is_l4s = number in (4, 8, 9)
            self.delays = [_LONG, _LONG, _SHORT] if number == 9 else [_SHORT] * 3


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    setting = _Setting(values)
    stop = values["stopTime"]
    own: dict[str, Any] = {}
    if setting.ce_threshold is not None:
        own["CeThreshold"] = time(setting.ce_threshold)
    if setting.is_l4s:
        own["UseL4s"] = "true"

    def end(kind: str, hold: str, **more: Any) -> dict[str, Any]:
        attributes = own if kind == "FqCoDelQueueDisc" else {}
        return {
            "qdisc": defaults.qdisc(kind, **attributes),
            "device_queue": "3p",
            "queue_limits": {"hold_time": hold},
            **more,
        }

    usual = end("FqCoDelQueueDisc", "1ms")
    edge_rate = rate(values["linkRate"])
    servers, clients = (("pingServer", "n0Server", "n1Server"), ("pingClient", "n4", "n5"))
    links = [
        *(
            link(name, ("n2", name), f"10.1.{i}", edge_rate, time(delay), usual)
            for i, (name, delay) in enumerate(zip(servers, setting.delays, strict=True), 1)
        ),
        link(
            *("btl", ("n2", "n3"), "172.16.1", edge_rate, "1us"),
            end(setting.queue, "1s", rate=rate(values["bottleneckRate"])),
            usual,
        ),
        *(
            link(name, ("n3", name), f"192.168.{i}", edge_rate, "1us", usual)
            for i, name in enumerate(clients, 1)
        ),
    ]
    # The program sets these before it reads its command line.
    tcp = {
        "SegmentSize": 1448,
        "SndBufSize": _BUFFER,
        "RcvBufSize": _BUFFER,
        "InitialCwnd": 10,
        **defaults.tcp(**({"UseEcn": "On"} if setting.use_ecn else {})),
    }
    ends = zip(setting.flows, servers[1:], clients[1:], (5, 15), strict=False)
    return Scenario.model_validate(
        {
            "stop_time": time(stop),
            "seed": rng_run,
            "nodes": [*servers, "n2", "n3", *clients],
            "links": links,
            "flows": [
                {
                    "name": source,
                    "source": source,
                    "destination": destination,
                    "source_port": FIRST_PORT,
                    "destination_port": 5000,
                    "start": f"{start}s",
                    "stop": time(stop - SECOND),
                    "receiver_stop": time(stop - SECOND // 2),
                    "application": {"type": "Greedy", "bytes": f"{_BYTES}B"},
                    "cc": defaults.cc(
                        kind, **({"UseEct0": "false"} if setting.is_l4s and "Dctcp" in kind else {})
                    ),
                    "recovery": "TcpPrrRecovery",
                    "tcp": tcp,
                }
                for kind, source, destination, start in ends
                if begins("--stopTime", start * SECOND, stop)
            ],
            "pings": [
                {
                    "name": "ping",
                    "source": "pingServer",
                    "destination": "pingClient",
                    "start": "1s",
                    "stop": time(stop - SECOND),
                    "interval": "100ms",
                    "size": "100B",
                }
            ],
        }
    )


PROGRAM = Program(
    "fqcodel-l4s-example",
    OPTIONS,
    build,
    files="its .dat traces",
    paths=(
        (r"links\[\d\]\.\w+\.qdisc.*CeThreshold", "--ceThreshold"),
        (r"stop_time|recording\.interval", "--stopTime"),
    ),
)
