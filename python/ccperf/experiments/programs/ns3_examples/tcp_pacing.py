"""ns-3's ``examples/tcp/tcp-pacing.cc``.

``n0, n1 - n2 - n3 - n4, n5``: two paced flows, n0 to n4 and n1 to n5, over a bottleneck of 10 Mbps
and 40 ms. They start within the first millisecond, when a random number says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.programs.ns3_examples.parts import FIRST_PORT, link, usual_queue
from ccperf.experiments.programs.program import (
    DEVICES,
    SOCKETS,
    Defaults,
    Option,
    Program,
    Values,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_US = 1000
_STREAM = 0

OPTIONS = {
    "tracing": Option("bool", False, "traces of the devices", files=".tr and .pcap"),
    "maxBytes": Option("uint32", 0, "bytes to send; 0: without end"),
    "isPacingEnabled": Option("bool", True, "paces"),
    "maxPacingRate": Option("rate", "4Gbps", "bound of the pacing rate"),
    "useEcn": Option("bool", True, "of TCP"),
    "useQueueDisc": Option("bool", True, "FQ-CoDel, which the bottleneck has without it, too"),
    "shouldPaceInitialWindow": Option("bool", True, "paces the first window, too"),
    "simulationEndTime": Option("time", "5s", "of applications and simulation"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    usual = usual_queue(defaults)
    edge: dict[str, Any] = {"rate": "40Mbps", "delay": "5ms", "forward": usual}
    end = time(values["simulationEndTime"])
    starts = _native.uniform_integers(rng_run, _STREAM, 0, 1000, 2)
    # The program sets its first window before it reads its command line.
    tcp = {
        "InitialCwnd": 10,
        **defaults.tcp(
            EnablePacing=values["isPacingEnabled"],
            PaceInitialWindow=values["shouldPaceInitialWindow"],
            UseEcn="On" if values["useEcn"] else "Off",
            MaxPacingRate=rate(values["maxPacingRate"]),
        ),
    }
    return Scenario.model_validate(
        {
            "stop_time": end,
            "seed": rng_run,
            "nodes": [f"n{i}" for i in range(6)],
            "links": [
                link("n0n2", ("n0", "n2"), "10.1.1", **edge),
                link("n1n2", ("n1", "n2"), "10.1.2", **edge),
                link("n3n4", ("n3", "n4"), "10.1.4", **edge),
                link("n3n5", ("n3", "n5"), "10.1.5", **edge),
                link("btl", ("n2", "n3"), "10.1.3", "10Mbps", "40ms", usual),
            ],
            "flows": [
                {
                    "source": source,
                    "destination": destination,
                    "source_port": FIRST_PORT,
                    "destination_port": 8080,
                    "start": time(start * _US),
                    "stop": end,
                    "receiver_stop": end,
                    "application": {"type": "Greedy", "bytes": f"{values['maxBytes']}B"},
                    "cc": defaults.cc("TcpCubic"),
                    "recovery": "TcpPrrRecovery",
                    "tcp": tcp,
                }
                for source, destination, start in zip(
                    ("n0", "n1"), ("n4", "n5"), starts, strict=True
                )
            ],
        }
    )


PROGRAM = Program(
    "tcp-pacing",
    OPTIONS,
    build,
    files="its .dat traces",
    paths=(
        (r"flows\[\d\]\.application\.bytes", "--maxBytes"),
        (r"flows\[\d\]\.tcp\.MaxPacingRate", "--maxPacingRate"),
        (
            r"stop_time|flows\[\d\]\.(start|stop|receiver_stop)|recording\.interval",
            "--simulationEndTime",
        ),
    ),
    leaves=("BulkSendApplication::SendSize", *SOCKETS, *DEVICES),
    sets=("BulkSendApplication::MaxBytes",),
)
