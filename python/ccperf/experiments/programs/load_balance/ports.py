"""What stands before every link of the programs: RED with one threshold for DCTCP, or a FIFO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ecn_sharp.transport import SEGMENT

if TYPE_CHECKING:
    from ccperf.experiments.topologies import SwitchPort

#: The originals have DCTCP on top of NewReno: a loss halves the window (RFC 8257, section 3.5).
DCTCP = "TcpDctcpReno"
#: In packets of `SEGMENT` bytes.
LIMIT, MARK = 600, 65


def port(*, marks: bool) -> SwitchPort:
    """A port of a switch, or of a server.

    The originals have it above a device queue of 10 packets, and instead of the FIFO one of 600;
    here all that waits does so in the discipline, where it is seen.
    """
    from ccperf.experiments.topologies import SwitchPort

    if not marks:
        return SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": f"{LIMIT}p"}})
    limits = {"MaxSize": f"{LIMIT * SEGMENT}B", "MarkingThreshold": f"{MARK * SEGMENT}B"}
    return SwitchPort({"type": "StepRedQueueDisc", "attributes": limits})
