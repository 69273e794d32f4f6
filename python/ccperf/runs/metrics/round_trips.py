"""Metrics of classes of transfers: the round-trip times that they would have without queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import percentile

if TYPE_CHECKING:
    from ccperf.runs.metrics.transfers import Transfers


@metric(
    "class",
    unit="ms",
    better=None,
    formula="mean of (propagation there + propagation back), over the transfers",
)
def mean_base_rtt_l4(transfers: Transfers) -> float:
    """Mean base round-trip time of the transfers: propagation at time 0, added delays included.

    Without those for which a balancer may choose among shortest paths that differ in delays.
    """
    return float(np.mean(transfers.base_rtts)) if len(transfers.base_rtts) else np.nan


@metric(
    "class",
    unit="ms",
    better=None,
    formula="least x such that 50 % of the transfers have a base round-trip time within x",
)
def p50_base_rtt_l4(transfers: Transfers) -> float:
    """Median of the base round-trip time (see mean_base_rtt_l4)."""
    return percentile(transfers.base_rtts, 50)


@metric(
    "class",
    unit="ms",
    better=None,
    formula="least x such that 90 % of the transfers have a base round-trip time within x",
)
def p90_base_rtt_l4(transfers: Transfers) -> float:
    """90th percentile of the base round-trip time (see mean_base_rtt_l4).

    What thresholds of marking disciplines go by.
    """
    return percentile(transfers.base_rtts, 90)
