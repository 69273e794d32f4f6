"""ns-3's ``codel-vs-pfifo-basic-test.cc`` of traffic control.

``source - gateway - sink``: an access link of 100 Mbps and a bottleneck of 5 Mbps, one bulk
transfer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples.codel_vs_pfifo import LENGTH, PACKET, bulk
from ccperf.experiments.programs.ns3_examples.parts import FIRST_PORT, direction, link
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

OPTIONS = {
    "bottleneckBandwidth": Option("rate", "5Mbps", "of the bottleneck"),
    "bottleneckDelay": Option("time", "5ms", "of the bottleneck"),
    "accessBandwidth": Option("rate", "100Mbps", "of the access link"),
    "accessDelay": Option("time", "0.1ms", "of the access link"),
    "queueDiscType": Option("text", "PfifoFast", "of the bottleneck: PfifoFast or CoDel"),
    "queueDiscSize": Option("uint32", 1000, "of the bottleneck, packets"),
    "queueSize": Option("uint32", 10, "of the devices, packets"),
    "pktSize": PACKET,
    **LENGTH,
    "isPcapEnabled": Option("bool", True, "pcap", files=".pcap"),
    "pcapFileName": Option("text", "pcapFilePfifoFast.pcap", "its name"),
    "cwndTrFileName": Option("text", "cwndPfifoFast.tr", "windows over time", files=".tr"),
    "logging": Option("bool", False, "to standard error"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    stop, transfer = bulk(values, defaults)
    limit = f"{values['queueDiscSize']}p"
    device = f"{values['queueSize']}p"
    kind = choice("--queueDiscType", values["queueDiscType"], ("PfifoFast", "CoDel"))
    access = direction(defaults.qdisc("PfifoFastQueueDisc", MaxSize="1000p"), device)
    bottleneck = direction(defaults.qdisc(f"{kind}QueueDisc", MaxSize=limit), device)
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "seed": rng_run,
            "nodes": ["gateway", "source", "sink"],
            "links": [
                link(
                    *("access", ("source", "gateway"), "10.0.1"),
                    *(rate(values["accessBandwidth"]), time(values["accessDelay"])),
                    access,
                ),
                link(
                    *("btl", ("gateway", "sink"), "10.0.2"),
                    *(rate(values["bottleneckBandwidth"]), time(values["bottleneckDelay"])),
                    bottleneck,
                ),
            ],
            "flows": [
                {
                    "source": "source",
                    "destination": "sink",
                    "source_port": FIRST_PORT,
                    "destination_port": 50000,
                    **transfer,
                }
            ],
        }
    )


PROGRAM = Program(
    "codel-vs-pfifo-basic-test",
    OPTIONS,
    build,
    paths=(
        (r"links\[1\]\.(forward|reverse)\.qdisc.*MaxSize", "--queueDiscSize"),
        (r"links\[\d\]\.(forward|reverse)\.device_queue", "--queueSize"),
        (r"links\[1\]\.delay", "--bottleneckDelay"),
        (r"links\[0\]\.delay", "--accessDelay"),
        (r"flows\[0\]\.(application\.write|tcp\.SegmentSize)", "--pktSize"),
        (r"stop_time|flows\[0\]\.(stop|receiver_stop)|recording\.interval", "--simDuration"),
    ),
)
