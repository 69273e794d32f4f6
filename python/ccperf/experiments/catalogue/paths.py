"""Network paths by name, as the published experiments use them.

Most are Pantheon's calibrated models of measured paths (F. Y. Yan et al., "Pantheon: the training
ground for Internet congestion-control research", USENIX ATC 2018, table 2), one is the WINDS
satellite. All have drop-tail queues.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ccperf.errors import UsageError, unknown
from ccperf.experiments import traces
from ccperf.experiments.catalogue.shared import PACKET_BITS


@dataclass(frozen=True)
class NetworkPath:
    """A bottleneck and the way to it."""

    rate: str
    #: Two-way propagation delay: twice the one-way delay of the published table.
    rtt: str
    qlen: str
    #: Probability that a packet is lost on the way forward.
    loss: float = 0.0


DEFAULT = "static.default"

#: Paths that stay as they are.
STATIC: dict[str, NetworkPath] = {
    # As in the published command lines; the published table of paths has 8 Mbps and 30 ms.
    DEFAULT: NetworkPath("16Mbps", "15ms", "20p"),
    "static.india_to_aws_india": NetworkPath("100.42Mbps", "54ms", "173p"),
    "static.aws_korea_to_china": NetworkPath("77.72Mbps", "102ms", "94p", 0.0006),
    "static.aws_california_to_mexico": NetworkPath("114.68Mbps", "90ms", "450p"),
    "static.winds_satellite": NetworkPath("42Mbps", "800ms", "2.8kp", 0.0074),
}

#: Paths whose rate follows a trace in the package, by the trace's name; what has no rate of its own
#: there (the return path) has 1 Gbps.
TRACED: dict[str, NetworkPath] = {
    "0.57mbps-poisson.trace": NetworkPath("1Gbps", "56ms", "14p", 0.0477),
    "2.64mbps-poisson.trace": NetworkPath("1Gbps", "176ms", "130p"),
    "3.04mbps-poisson.trace": NetworkPath("1Gbps", "260ms", "426p"),
    # Ours: round trips and buffers as these networks have them, about 200 ms of the mean rate.
    "lte-like.csv": NetworkPath("1Gbps", "50ms", "250p"),
    "wifi-like.csv": NetworkPath("1Gbps", "20ms", "250p"),
    "leo-like.csv": NetworkPath("1Gbps", "40ms", "1000p"),
}


def traced(trace: str | Path) -> NetworkPath:
    """The path of a trace; of a user's own one with a usual round trip, and a buffer of 200 ms of
    its mean rate."""
    if trace in TRACED:
        return TRACED[str(trace)]
    packets = 0.2 * traces.load(str(trace)).mean_bps() / PACKET_BITS
    return NetworkPath("1Gbps", "50ms", f"{max(1, round(packets))}p")


def static(name: object, k: int = 1) -> NetworkPath:
    """The static path that `k` flows share: the default one has 16 Mbps and a bandwidth-delay
    product of buffer for each of them, a measured one is as it is.

    Raises:
        UsageError: if there is none.
    """
    if name not in STATIC:
        raise UsageError("path", unknown("path", str(name), STATIC))
    path = STATIC[str(name)]
    return replace(path, rate=f"{16 * k}Mbps", qlen=f"{20 * k}p") if name == DEFAULT else path
