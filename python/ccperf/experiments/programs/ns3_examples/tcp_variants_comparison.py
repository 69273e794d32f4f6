"""ns-3's ``examples/tcp/tcp-variants-comparison.cc``.

Each flow has a source, a sink and both links of its own; all meet in one gateway:
``source - gateway`` is the access link, ``gateway - sink`` the bottleneck. One error model serves
all bottlenecks, both ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.programs.program import (
    SOCKETS,
    Defaults,
    Option,
    Program,
    Values,
    algorithm,
    choice,
    ns_of,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_START = 0.1
_BUFFER = 1 << 21
#: Of the error model's random variable.
_ERROR_STREAM = 50
_IP_AND_TCP_BYTES = 40
_RESERVED_BYTES = 20
_SOURCE_PORT, _SINK_PORT = 49153, 50000
_FIFO, _CODEL = "ns3::PfifoFastQueueDisc", "ns3::CoDelQueueDisc"

OPTIONS = {
    "transport_prot": Option("text", "TcpWestwoodPlus", "congestion control"),
    "error_p": Option("real", 0.0, "packet error rate"),
    "bandwidth": Option("rate", "2Mbps", "of the bottleneck"),
    "delay": Option("time", "0.01ms", "of the bottleneck"),
    "access_bandwidth": Option("rate", "10Mbps", "of the access link"),
    "access_delay": Option("time", "45ms", "of the access link"),
    "tracing": Option("bool", False, "trace files", files="ASCII and .data traces"),
    "prefix_name": Option("text", "TcpVariantsComparison", "of trace files"),
    "data": Option("uint64", 0, "megabytes to send, 0 without end"),
    "mtu": Option("uint32", 400, "size of IP packets in bytes"),
    "num_flows": Option("uint16", 1, "number of flows"),
    "duration": Option("real", 100.0, "seconds"),
    "run": Option("uint32", 0, "replication of the random numbers"),
    "flow_monitor": Option("bool", False, "flow monitor", files="its XML"),
    "pcap_tracing": Option("bool", False, "pcap", files=".pcap"),
    "queue_disc_type": Option("text", _FIFO, "of the gateway"),
    "sack": Option("bool", True, "selective acknowledgements"),
    "recovery": Option("text", "ns3::TcpClassicRecovery", "loss recovery"),
}


def build(values: Values, defaults: Defaults, _rng_run: int) -> Scenario:
    """The scenario that the program simulates, which sets ``RngRun`` itself."""
    from ccperf.scenario import Scenario

    flows, mtu = values["num_flows"], values["mtu"]
    segment = mtu - _RESERVED_BYTES - _IP_AND_TCP_BYTES
    if segment < 1:
        raise UsageError("--mtu", f"{mtu} leaves no room for data; write at least 61")
    if not 1 <= flows <= 250:
        raise UsageError("--num_flows", f"{flows} is not from 1 to 250")
    if not 0 <= values["error_p"] <= 1:
        raise UsageError("--error_p", f"{values['error_p']} is not a probability from 0 to 1")
    stop = _START + values["duration"]
    if stop - 3 <= _START * (flows - 1):
        raise UsageError(
            "--duration",
            "sources stop 2.9 s before its end, which is not after the last one starts; raise it",
        )
    cc = algorithm("--transport_prot", "cc", values["transport_prot"])
    access = {"rate": rate(values["access_bandwidth"]), "delay": time(values["access_delay"])}
    bottleneck = {"rate": rate(values["bandwidth"]), "delay": time(values["delay"])}
    slower = min(values["access_bandwidth"], values["bandwidth"])
    size = int((slower // 8) * (2 * (values["access_delay"] + values["delay"]) / 1e9)) % 2**32
    kind = choice("--queue_disc_type", values["queue_disc_type"], (_FIFO, _CODEL))
    fifo = defaults.qdisc("PfifoFastQueueDisc", MaxSize=f"{size // mtu}p")
    codel = defaults.qdisc("CoDelQueueDisc", MaxSize=f"{size}B") if kind == _CODEL else None
    near = {"qdisc": fifo, "device_queue": "100p"}
    far = {
        "qdisc": codel or fifo,
        "device_queue": "100p",
        "loss": values["error_p"],
        "loss_stream": _ERROR_STREAM,
    }
    links = []
    for i in range(flows):
        for name, ends, settings, direction, network in (
            (f"access_{i}", (f"source_{i}", "gateway"), access, near, 2 * i + 1),
            (f"btl_{i}", ("gateway", f"sink_{i}"), bottleneck, far, 2 * i + 2),
        ):
            addresses = tuple(f"10.{network >> 8}.{network & 255}.{host}" for host in (1, 2))
            both = {"forward": direction, "reverse": direction}
            links.append({"name": name, "ends": ends, "addresses": addresses, **settings, **both})
    tcp = defaults.tcp(
        RcvBufSize=_BUFFER, SndBufSize=_BUFFER, Sack=values["sack"], SegmentSize=segment
    )
    total = values["data"] * 1_000_000
    return Scenario.model_validate(
        {
            "stop_time": time(ns_of(stop)),
            "seed": values["run"],
            "nodes": [
                "gateway",
                *(f"source_{i}" for i in range(flows)),
                *(f"sink_{i}" for i in range(flows)),
            ],
            "links": links,
            "flows": [
                {
                    "source": f"source_{i}",
                    "destination": f"sink_{i}",
                    "source_port": _SOURCE_PORT,
                    "destination_port": _SINK_PORT,
                    "start": time(ns_of(_START * i)),
                    "stop": time(ns_of(stop - 3)),
                    "application": {"bytes": f"{total}B", "write": f"{segment}B"},
                    "cc": defaults.cc(cc),
                    "recovery": algorithm("--recovery", "recovery", values["recovery"]),
                    "tcp": tcp,
                }
                for i in range(flows)
            ],
        }
    )


PROGRAM = Program(
    "tcp-variants-comparison",
    OPTIONS,
    build,
    paths=(
        (r"links\[\d+\]\.(forward|reverse)\.qdisc.*MaxSize", "--bandwidth"),
        (r"flows\[\d+\]\.tcp\.SegmentSize|flows\[\d+\]\.application\.write", "--mtu"),
        (r"links\[\d*[13579]\]\.delay", "--delay"),
        (r"flows\[\d+\]\.application\.bytes", "--data"),
        (r"stop_time|recording\.interval", "--duration"),
    ),
    sets=SOCKETS,
)
