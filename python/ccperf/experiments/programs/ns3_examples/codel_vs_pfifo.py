"""What ns-3's two programs have in common that compare CoDel with a FIFO: their bulk transfers.

Their default packets are larger than the links' MTU with their headers, so that IP sends them in
fragments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import MOST_DATA, usual_socket
from ccperf.experiments.programs.program import Option, float32, ns_of, time

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Defaults, Values

#: Seconds from the end of the sources to that of the simulation.
_DRAINED = 3

PACKET = Option("uint32", 1458, "data in a packet, bytes")
LENGTH = {
    "startTime": Option("real", 0.1, "seconds, only adds to the length"),
    "simDuration": Option("real", 60.0, "seconds"),
}


def bulk(values: Values, defaults: Defaults) -> tuple[str, dict[str, Any]]:
    """The end of the simulation, and what a transfer is beside its ends and ports."""
    size = values["pktSize"]
    if not 1 <= size <= MOST_DATA:
        raise UsageError(
            "--pktSize", f"packets with {size} bytes of data are not from 1 to {MOST_DATA}"
        )
    # The programs compute in single precision.
    end = float32(float32(values["startTime"]) + float32(values["simDuration"]))
    source_end = float32(end - _DRAINED)
    if source_end <= 0:
        raise UsageError(
            "--simDuration", f"{end:g} s in all end before the sources stop, {_DRAINED} s less"
        )
    stop = time(ns_of(end))
    return stop, {
        "stop": time(ns_of(source_end)),
        "receiver_stop": stop,
        "application": {"type": "Greedy", "write": f"{size}B"},
        **usual_socket(defaults, SegmentSize=size),
    }
