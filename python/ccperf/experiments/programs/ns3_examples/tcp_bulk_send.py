"""ns-3's ``examples/tcp/tcp-bulk-send.cc``: one bulk transfer over a link of 500 kbps and 5 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    link,
    usual_queue,
    usual_socket,
)
from ccperf.experiments.programs.program import DEVICES, SOCKETS, Defaults, Option, Program, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

OPTIONS = {
    "tracing": Option("bool", False, "traces of the devices", files=".tr and .pcap"),
    "maxBytes": Option("uint32", 0, "bytes to send; 0: without end"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    return Scenario.model_validate(
        {
            "stop_time": "10s",
            "seed": rng_run,
            "nodes": ["n0", "n1"],
            "links": [
                link("link", ("n0", "n1"), "10.1.1", "500kbps", "5ms", usual_queue(defaults))
            ],
            "flows": [
                {
                    "source": "n0",
                    "destination": "n1",
                    "source_port": FIRST_PORT,
                    "destination_port": 9,
                    "stop": "10s",
                    "receiver_stop": "10s",
                    "application": {"type": "Greedy", "bytes": f"{values['maxBytes']}B"},
                    **usual_socket(defaults),
                }
            ],
        }
    )


PROGRAM = Program(
    "tcp-bulk-send",
    OPTIONS,
    build,
    paths=((r"flows\[0\]\.application\.bytes", "--maxBytes"),),
    leaves=("BulkSendApplication::SendSize", *SOCKETS, *DEVICES),
    sets=("BulkSendApplication::MaxBytes",),
)
