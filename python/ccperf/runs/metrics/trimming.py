"""What switches that cut packets do (NDP, Ultra Ethernet)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.runs.metrics.registry import metric

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries


@metric(
    "network",
    unit="packets",
    better=None,
    formula="count of packets cut, of all directions",
    kind="count",
    sampled=False,
)
def total_trimmed_l2(flows: FlowSeries) -> float:
    """Packets whose payload queue disciplines cut off, in the whole run.

    Absent where no discipline cuts packets.
    """
    return flows.trimmed
