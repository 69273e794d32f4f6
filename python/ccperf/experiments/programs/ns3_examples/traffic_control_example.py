"""ns-3's ``examples/traffic-control/traffic-control-example.cc``: one source of 50 Mbps into a link
of 10 Mbps with RED.

Over UDP nobody listens any more when the last datagrams arrive, so that the receiver's host answers
them with messages of ICMP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.programs.ns3_examples.parts import (
    EXPEDITED_FORWARDING,
    FIRST_PORT,
    AutomaticStreams,
    direction,
    link,
    on_off,
    usual_socket,
)
from ccperf.experiments.programs.program import Defaults, Option, Program, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_PACKET = 1448

OPTIONS = {"transportProt": Option("text", "Tcp", "Tcp; anything else is UDP")}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    streams = AutomaticStreams(2)
    red = [
        direction({**defaults.qdisc("RedQueueDisc"), "stream": streams.next()}, "1p")
        for _ in range(2)
    ]
    tcp: dict[str, Any] = {
        **usual_socket(defaults, SegmentSize=_PACKET),
    }
    transport = tcp if values["transportProt"] == "Tcp" else {"transport": "UDP"}
    return Scenario.model_validate(
        {
            "stop_time": "15s",
            "seed": rng_run,
            "nodes": ["n0", "n1"],
            "links": [link("link", ("n0", "n1"), "10.1.1", "10Mbps", "2ms", *red)],
            "flows": [
                {
                    "source": "n1",
                    "destination": "n0",
                    "source_port": FIRST_PORT,
                    "destination_port": 7,
                    "start": "1s",
                    "stop": "10.1s",
                    "receiver_stop": "10.1s",
                    "application": on_off("50Mbps", _PACKET),
                    "tos": EXPEDITED_FORWARDING,
                    **transport,
                }
            ],
        }
    )


PROGRAM = Program("traffic-control-example", OPTIONS, build)
