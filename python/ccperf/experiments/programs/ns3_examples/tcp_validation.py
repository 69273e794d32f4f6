"""ns-3's ``examples/tcp/tcp-validation.cc``.

Three servers behind a WAN router, three clients behind a LAN router: a ping, a first TCP flow from
5 s on and perhaps a second one from 15 s on. Byte queue limits over device queues of three packets
everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.programs.ns3_examples.parts import begins
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

_SECOND = 1_000_000_000
_TYPES = {"reno": "TcpLinuxReno", "cubic": "TcpCubic", "dctcp": "TcpDctcp"}
_QUEUES = {
    "fq": "FqCoDelQueueDisc",
    "codel": "CoDelQueueDisc",
    "pie": "PieQueueDisc",
    "red": "RedQueueDisc",
}
_CASES = ("dctcp-10ms", "dctcp-80ms", "cubic-50ms-no-ecn", "cubic-50ms-ecn")
_SOURCE_PORT, _SINK_PORT = 49153, 5000
#: Of the bottleneck's discipline: ns-3 numbers random variables in the order of their creation,
#: here behind those of eight nodes.
_AUTOMATIC_STREAM = -1 - 72
_BUFFER = 32_768_000
_BYTES = 7_500_000_000
_EDGE = "1000Mbps"

OPTIONS = {
    "firstTcpType": Option("text", "cubic", "cubic, dctcp or reno"),
    "secondTcpType": Option("text", "", "cubic, dctcp, reno or none"),
    "queueType": Option("text", "codel", "of the bottleneck: fq, codel, pie or red"),
    "baseRtt": Option("time", "80ms", "of the bottleneck link"),
    "ceThreshold": Option("time", "1ms", "of CoDel, if the first TCP is dctcp"),
    "linkRate": Option("rate", "50Mbps", "of the bottleneck"),
    "stopTime": Option("time", "70s", "of the simulation"),
    "queueUseEcn": Option("bool", False, "marks instead of drops"),
    "enablePcap": Option("bool", False, "pcap", files=".pcap"),
    "validate": Option("text", "", ", ".join(_CASES), files="its verdict"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    first = choice("--firstTcpType", values["firstTcpType"], tuple(_TYPES))
    second = values["secondTcpType"]
    if second:
        choice("--secondTcpType", second, tuple(_TYPES))
    choice("--queueType", values["queueType"], tuple(_QUEUES))
    if values["validate"]:
        choice("--validate", values["validate"], _CASES)
    stop = values["stopTime"]
    flows = [("first", first, 5), *([("second", second, 15)] if second else [])]
    flows = [flow for flow in flows if begins("--stopTime", flow[2] * _SECOND, stop)]
    edge = _direction(values, defaults, "FqCoDelQueueDisc")
    bottleneck = _direction(values, defaults, _QUEUES[values["queueType"]])

    def link(name: str, ends: tuple[str, str], network: str, **own: Any) -> dict[str, Any]:
        return {
            "name": name,
            "ends": ends,
            "rate": _EDGE,
            "delay": "1us",
            "addresses": (f"{network}.1", f"{network}.2"),
            "forward": edge,
            "reverse": edge,
            **own,
        }

    wan, lan = "wanRouter", "lanRouter"
    names = ("ping", "first", "second")
    links = [
        *(link(f"{n}Server", (wan, f"{n}Server"), f"10.1.{i}") for i, n in enumerate(names, 1)),
        link(
            "btl",
            (wan, lan),
            "172.16.1",
            delay=time(values["baseRtt"] // 2),
            forward={**bottleneck, "rate": rate(values["linkRate"])},
        ),
        *(link(f"{n}Client", (lan, f"{n}Client"), f"192.168.{i}") for i, n in enumerate(names, 1)),
    ]
    tcp = defaults.tcp(
        SegmentSize=1448, SndBufSize=_BUFFER, RcvBufSize=_BUFFER, InitialCwnd=10, UseEcn="On"
    )
    return Scenario.model_validate(
        {
            "stop_time": time(stop),
            "seed": rng_run,
            "nodes": [
                *(f"{name}Server" for name in names),
                wan,
                lan,
                *(f"{name}Client" for name in names),
            ],
            "links": links,
            "flows": [
                {
                    "name": name,
                    "source": f"{name}Server",
                    "destination": f"{name}Client",
                    "source_port": _SOURCE_PORT,
                    "destination_port": _SINK_PORT,
                    "start": f"{start}s",
                    "stop": time(stop - _SECOND),
                    "receiver_stop": time(stop - _SECOND // 2),
                    "application": {"type": "Greedy", "bytes": f"{_BYTES}B"},
                    "cc": _congestion_control(defaults, _TYPES[kind]),
                    "recovery": "TcpPrrRecovery",
                    "tcp": tcp,
                }
                for name, kind, start in flows
            ],
            "pings": [
                {
                    "name": "ping",
                    "source": "pingServer",
                    "destination": "pingClient",
                    "start": "1s",
                    "stop": time(stop - _SECOND),
                    "interval": "100ms",
                    "size": "100B",
                }
            ],
        }
    )


def _congestion_control(defaults: Defaults, name: str) -> dict[str, Any]:
    # The program's default is set before its command line is read.
    cc = defaults.cc(name)
    if name == "TcpCubic":
        cc["attributes"].setdefault("TcpFriendliness", "false")
    return cc


def _direction(values: Values, defaults: Defaults, qdisc: str) -> dict[str, Any]:
    own: dict[str, str] = {}
    if values["queueUseEcn"]:
        own["UseEcn"] = "true"
    if values["firstTcpType"] == "dctcp" and "CoDel" in qdisc:
        own["CeThreshold"] = time(values["ceThreshold"])
    return {
        "qdisc": {**defaults.qdisc(qdisc, **own), "stream": _AUTOMATIC_STREAM},
        "device_queue": "3p",
        "queue_limits": {"hold_time": "1ms"},
    }


PROGRAM = Program(
    "tcp-validation",
    OPTIONS,
    build,
    files="its .dat traces",
    paths=(
        (r"links\[\d\]\.(forward|reverse)\.qdisc.*CeThreshold", "--ceThreshold"),
        (r"stop_time|recording\.interval", "--stopTime"),
    ),
)
