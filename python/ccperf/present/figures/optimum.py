"""Where a run would be best: all that the bottleneck can carry, without a queue.

Kleinrock's operating point: all of the rate is used, and the round-trip time is that of
propagation alone; one bandwidth-delay product (rate x RTT) is in flight then. Throughput is
payload, so the rate is what headers leave of the configured one, as in mean_goodput_share_l7:
1448/1502 = 96.4 % of it for segments of 1448 B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ccperf.present.figures.figure import Floats
    from ccperf.runs.metrics import FlowSeries


@dataclass(frozen=True)
class Optimum:
    """Each flow's part in the optimum, with equal shares for the flows of one bottleneck,
    sampled or not."""

    flows: FlowSeries

    @cached_property
    def rate(self) -> Floats:
        """Equal share of the payload that the bottleneck carries, in Mbps, shape (n - 1, flows)."""
        carried = self.flows.bottleneck_rate * self.flows.payload_share
        share: Floats = carried / self.flows.sharing
        return share

    @property
    def rtt(self) -> Floats:
        """Round-trip time of the path without a queue, in ms, shape (n - 1, flows)."""
        return self.flows.path_rtt

    @cached_property
    def in_flight(self) -> Floats:
        """Share of the bandwidth-delay product, in segments, shape (n - 1, flows)."""
        segments: Floats = self.rate * self.rtt * 1e3 / (8 * self.flows.segment_bytes)
        return segments


def common(values: Floats) -> Floats | None:
    """Return what all flows (the columns) have in common, or None where they differ."""
    first = values[..., :1]
    if values.shape[-1] == 0 or not np.allclose(values, first, rtol=1e-9, atol=0):
        return None
    return first[..., 0]


def constant(values: Floats | None) -> float | None:
    """Return the one value of a series that never changes, or None."""
    if values is None or values.size == 0 or not np.allclose(values, values.flat[0], rtol=1e-9):
        return None
    return float(values.flat[0])
