"""ns-3's ``examples/traffic-control/tbf-example.cc``: token buckets at both ends of one link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples.parts import (
    EXPEDITED_FORWARDING,
    FIRST_PORT,
    direction,
    link,
    on_off,
    usual_socket,
)
from ccperf.experiments.programs.program import Defaults, Option, Program, Values, rate

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_PACKET = 1448

OPTIONS = {
    "burst": Option("uint32", 10_000, "of the first bucket, bytes"),
    "mtu": Option("uint32", 0, "of the second bucket, bytes"),
    "rate": Option("rate", "1Mbps", "of tokens into the first bucket"),
    "peakRate": Option("optional_rate", "0bps", "of tokens into the second bucket; 0: none"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    bucket = defaults.qdisc(
        "TbfQueueDisc",
        Burst=values["burst"],
        Mtu=values["mtu"],
        Rate=rate(values["rate"]),
        PeakRate=rate(values["peakRate"]),
    )
    return Scenario.model_validate(
        {
            "stop_time": "15s",
            "seed": rng_run,
            "nodes": ["n0", "n1"],
            "links": [link("link", ("n0", "n1"), "10.1.1", "2Mbps", "0s", direction(bucket))],
            "flows": [
                {
                    "source": "n1",
                    "destination": "n0",
                    "source_port": FIRST_PORT,
                    "destination_port": 7,
                    "start": "1s",
                    "stop": "10.1s",
                    "receiver_stop": "10.1s",
                    "application": on_off("1.1Mbps", _PACKET, off_time="200ms"),
                    "tos": EXPEDITED_FORWARDING,
                    **usual_socket(defaults, SegmentSize=_PACKET),
                }
            ],
        }
    )


PROGRAM = Program(
    "tbf-example",
    OPTIONS,
    build,
    paths=(
        (r"links\[0\]\.\w+\.qdisc.*Burst", "--burst"),
        (r"links\[0\]\.\w+\.qdisc.*Mtu", "--mtu"),
        (r"links\[0\]\.\w+\.qdisc.*PeakRate", "--peakRate"),
        (r"links\[0\]\.\w+\.qdisc.*Rate", "--rate"),
    ),
)
