"""ns-3's ``examples/traffic-control/queue-discs-benchmark.cc``.

``n1 - n2 - n3``: an access link and a bottleneck, one on-off TCP flow each way between the ends,
and a ping from n1 to n3 once a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import usual_socket
from ccperf.experiments.programs.program import (
    Defaults,
    Option,
    Program,
    Values,
    choice,
    float32,
    ns_of,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_DISCIPLINES = ("PfifoFast", "ARED", "CoDel", "FqCoDel", "PIE", "prio")
#: ns-3 numbers random variables in the order of their creation, here behind those of three nodes.
_FORWARD_STREAM, _REVERSE_STREAM = -1 - 27, -1 - 28
_SOURCE_PORT, _UPLOAD_PORT, _DOWNLOAD_PORT = 49153, 7, 8

OPTIONS = {
    "bandwidth": Option("rate", "10Mbps", "of the bottleneck"),
    "delay": Option("time", "5ms", "of the bottleneck"),
    "queueDiscType": Option("text", "PfifoFast", f"one of {', '.join(_DISCIPLINES)}"),
    "queueDiscSize": Option("uint32", 1000, "packets"),
    "netdevicesQueueSize": Option("uint32", 50, "of the bottleneck's devices, packets"),
    "bql": Option("bool", False, "byte queue limits at the bottleneck"),
    "flowsDatarate": Option("rate", "20Mbps", "of the sources"),
    "flowsPacketsSize": Option("uint32", 1000, "bytes"),
    "startTime": Option("real", 0.1, "seconds, only adds to the length"),
    "simDuration": Option("real", 60.0, "seconds"),
    "samplingPeriod": Option("real", 1.0, "of the goodput files, seconds"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    # The program computes in single precision.
    stop = float32(float32(values["startTime"]) + float32(values["simDuration"]))
    if stop <= 0.3:
        raise UsageError("--simDuration", f"{stop:g} s in all leave no time for the flows")
    access = {
        "qdisc": defaults.qdisc("PfifoFastQueueDisc", MaxSize="1000p"),
        "device_queue": "100p",
    }
    far: dict[str, Any] = {
        "device_queue": f"{values['netdevicesQueueSize']}p",
        "queue_limits": {"hold_time": "1s"} if values["bql"] else None,
    }
    qdisc = _discipline(values, defaults)
    size = values["flowsPacketsSize"]
    flow: dict[str, Any] = {
        "source_port": _SOURCE_PORT,
        "start": "100ms",
        "stop": time(ns_of(stop - 0.1)),
        "application": {
            "type": "OnOff",
            "rate": rate(values["flowsDatarate"]),
            "write": f"{size}B",
            "on_time": "1s",
            "off_time": "0s",
        },
        **usual_socket(defaults, SegmentSize=size),
    }
    return Scenario.model_validate(
        {
            "stop_time": time(ns_of(stop)),
            "seed": rng_run,
            "nodes": ["n1", "n2", "n3"],
            "links": [
                {
                    "name": "access",
                    "ends": ["n1", "n2"],
                    "rate": "100Mbps",
                    "delay": "100us",
                    "addresses": ["192.168.1.1", "192.168.1.2"],
                    "forward": access,
                    "reverse": access,
                },
                {
                    "name": "btl",
                    "ends": ["n2", "n3"],
                    "rate": rate(values["bandwidth"]),
                    "delay": time(values["delay"]),
                    "addresses": ["192.168.2.1", "192.168.2.2"],
                    "forward": {**far, "qdisc": {**qdisc, "stream": _FORWARD_STREAM}},
                    "reverse": {**far, "qdisc": {**qdisc, "stream": _REVERSE_STREAM}},
                },
            ],
            "flows": [
                {
                    "name": "upload",
                    "source": "n1",
                    "destination": "n3",
                    "destination_port": _UPLOAD_PORT,
                    **flow,
                },
                {
                    "name": "download",
                    "source": "n3",
                    "destination": "n1",
                    "destination_port": _DOWNLOAD_PORT,
                    **flow,
                },
            ],
            "pings": [{"name": "ping", "source": "n1", "destination": "n3"}],
        }
    )


def _discipline(values: Values, defaults: Defaults) -> dict[str, Any]:
    size = f"{values['queueDiscSize']}p"
    kind = choice("--queueDiscType", values["queueDiscType"], _DISCIPLINES)
    if kind == "ARED":
        return defaults.qdisc("RedQueueDisc", ARED="true", MaxSize=size)
    if kind == "prio":
        # All packets have priority 0, which the program's map sends to the first of two bands: a
        # FIFO of the default size. The other one (RED) stays empty.
        return defaults.qdisc("FifoQueueDisc", MaxSize="1000p")
    name = {"PIE": "PieQueueDisc"}.get(kind, f"{kind}QueueDisc")
    return defaults.qdisc(name, MaxSize=size)


PROGRAM = Program(
    "queue-discs-benchmark",
    OPTIONS,
    build,
    files="traces of queue, goodput and limits, the flow monitor's XML and .pcap",
    paths=(
        (r"links\[1\]\.(forward|reverse)\.qdisc.*MaxSize", "--queueDiscSize"),
        (r"links\[1\]\.(forward|reverse)\.device_queue", "--netdevicesQueueSize"),
        (r"links\[1\]\.delay", "--delay"),
        (r"flows\[\d\]\.application\.rate", "--flowsDatarate"),
        (r"flows\[\d\]\.(application\.write|tcp\.SegmentSize)", "--flowsPacketsSize"),
        (r"stop_time|recording\.interval", "--simDuration"),
    ),
)
