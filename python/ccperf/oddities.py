"""Values that look wrong and are ns-3's doing: how they are recognised.

What there is to say of them is in :mod:`ccperf.verify.habits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf.recording import Recording

#: Anchors of `docs/what-ns3-does.md` and of the page of sites.
WINDOW = "window"
DEVICE_QUEUE = "device-queue"

#: A window of this many bytes or more stands for one without bound (2^31 - 1 or 2^32 - 1).
UNBOUNDED_BYTES = 2**31 - 1
#: Per cent of a link's rate from which on it is full.
_FULL = 90


def of(recording: Recording, links: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return metrics whose values are ns-3's doing, each with the anchor that explains it.

    `links`: the metrics of each direction.
    """
    found = {}
    if (recording.flow_samples.array("cwnd_bytes") >= UNBOUNDED_BYTES).any():
        found["mean_cwnd_l4"] = WINDOW
    if any(
        metrics.get("mean_utilization_l1", 0) > _FULL and metrics.get("mean_sojourn_l2", 1) == 0
        for metrics in links.values()
    ):
        found["mean_sojourn_l2"] = DEVICE_QUEUE
    return found
