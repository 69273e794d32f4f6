"""ns-3's ``examples/tcp/tcp-large-transfer.cc``: 2 MB from end to end of a chain of three nodes.

Its sender is no application of ns-3's: it fills the send buffer before the connection is there, and
takes what room there is from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    link,
    usual_queue,
    usual_socket,
)
from ccperf.experiments.programs.program import DEVICES, Defaults, Program, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario


def build(_: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    usual = usual_queue(defaults)
    return Scenario.model_validate(
        {
            "stop_time": "1000s",
            "seed": rng_run,
            "nodes": ["n0", "n1", "n2"],
            "links": [
                link("n0n1", ("n0", "n1"), "10.1.3", "10Mbps", "10ms", usual),
                link("n1n2", ("n1", "n2"), "10.1.2", "10Mbps", "10ms", usual),
            ],
            "flows": [
                {
                    "source": "n0",
                    "destination": "n2",
                    "source_port": FIRST_PORT,
                    "destination_port": 50000,
                    "receiver_stop": "3s",
                    "application": {
                        "type": "Greedy",
                        "bytes": "2000000B",
                        "write": "1040B",
                        "eager": True,
                    },
                    **usual_socket(defaults),
                }
            ],
        }
    )


# Another congestion control is refused: with BBR ns-3 had 20 packets more of 29,912, from 0.8 s on.
PROGRAM = Program("tcp-large-transfer", {}, build, files=".tr and .pcap", leaves=DEVICES)
