"""Flow metrics of the application layer (l7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.runs.metrics.grid import Floats, positive
from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries


@metric("flow", unit="Mbps", better="higher", formula="mean over k of throughput_l7(t_k)")
def mean_throughput_l7(flows: FlowSeries) -> Floats:
    """Mean rate of bytes handed to the receiving application, in order and once each."""
    return mean(flows.throughput_l7)


@metric(
    "flow",
    unit="%",
    better="higher",
    formula="100 x mean over k of throughput_l7(t_k) / c(t_k)",
)
def mean_goodput_share_l7(flows: FlowSeries) -> Floats:
    """Mean of the goodput over what the bottleneck could carry for the flow alone.

    c is the bottleneck's rate less the headers of full segments (20 B of IP, 20 B of TCP, 12 B of
    timestamps if the socket sends them, 2 B of PPP): 100 % is all that there is. Only over TCP;
    absent where a balancer chooses among shortest paths that differ in rates, or spreads a flow
    over several that are slower than its hosts' links, and where a failure leaves another path.
    """
    capacity = flows.payload_capacity
    return 100 * mean(flows.throughput_l7 / positive(capacity))


@metric("flow", unit="Mbps", better=None, formula="mean over k of sending_rate_l7(t_k)")
def mean_sending_rate_l7(flows: FlowSeries) -> Floats:
    """Mean rate of bytes that the socket accepts from the application.

    Filling the send buffer counts, so it exceeds the throughput in a short run.
    """
    return mean(flows.sending_rate_l7)


@metric("flow", unit="ms", better="lower", formula="mean over k of one_way_delay_l7(t_k)")
def mean_one_way_delay_l7(flows: FlowSeries) -> Floats:
    """Mean age of an application packet when the receiving application has read it.

    For each read that completes an application packet (one write of the sender): time of the read
    minus the creation stamp of the last packet completed; the latest such value is sampled.  A
    packet that does not fit in the send buffer keeps its stamp while it waits, so a greedy flow
    mostly measures the send buffer.
    """
    return mean(flows.one_way_delay_l7)
