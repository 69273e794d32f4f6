"""Flow metrics of the transport layer (l4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.grid import Floats, positive
from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import cov, mean, percentiles

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries


@metric("flow", unit="Mbps", better="higher", formula="mean over k of throughput_l4(t_k)")
def mean_throughput_l4(flows: FlowSeries) -> Floats:
    """Mean rate of payload that reaches the destination's IP layer.

    Retransmitted and duplicate segments count.
    """
    return mean(flows.throughput_l4)


@metric(
    "flow",
    unit="1",
    better="lower",
    formula="std over k of throughput_l4(t_k) / mean over k of throughput_l4(t_k)",
)
def cov_throughput_l4(flows: FlowSeries) -> Floats:
    """Coefficient of variation of the throughput: how unsteady it is."""
    return cov(flows.throughput_l4)


@metric("flow", unit="Mbps", better=None, formula="mean over k of sending_rate_l4(t_k)")
def mean_sending_rate_l4(flows: FlowSeries) -> Floats:
    """Mean rate of payload that the sender emits, retransmissions included."""
    return mean(flows.sending_rate_l4)


@metric("flow", unit="Mbps", better="higher", formula="mean over k of delivery_rate_l4(t_k)")
def mean_delivery_rate_l4(flows: FlowSeries) -> Floats:
    """Mean rate at which the highest cumulative ACK advances at the sender."""
    return mean(flows.delivery_rate_l4)


@metric("flow", unit="segments", better=None, formula="mean over k of in_flight(t_k)")
def mean_in_flight_l4(flows: FlowSeries) -> Floats:
    """Mean amount of data in flight: the sender's estimate in bytes over its segment size.

    Nothing is in flight before the connection.
    """
    return mean(flows.in_flight)


@metric(
    "flow",
    unit="1",
    better="lower",
    formula="std over k of in_flight(t_k) / mean over k of in_flight(t_k)",
)
def cov_in_flight_l4(flows: FlowSeries) -> Floats:
    """Coefficient of variation of the data in flight."""
    return cov(flows.in_flight)


@metric("flow", unit="segments", better=None, formula="mean over k of cwnd(t_k)")
def mean_cwnd_l4(flows: FlowSeries) -> Floats:
    """Mean congestion window: bytes over the segment size; 0 before the connection.

    ns-3's TcpBbr lets the window stand at 2^32 - 1 B, and so do we: see docs/what-ns3-does.md.
    """
    return mean(flows.cwnd)


@metric("flow", unit="ms", better="lower", formula="mean over k of srtt(t_k)")
def mean_srtt_l4(flows: FlowSeries) -> Floats:
    """Mean of TCP's smoothed round-trip time (RFC 6298), rounded to whole us at each point.

    With timestamps ns-3's TCP measures whole milliseconds and takes 1 us for 0, and so do we: where
    round trips are shorter than 1 ms it says nothing (docs/what-ns3-does.md).
    """
    return mean(flows.srtt)


@metric("flow", unit="ms", better="lower", formula="50th percentile over k of srtt(t_k)")
def p50_srtt_l4(flows: FlowSeries) -> Floats:
    """Median of the smoothed round-trip time: half of the samples do not exceed it."""
    return percentiles(flows.srtt, 50)


@metric("flow", unit="ms", better="lower", formula="95th percentile over k of srtt(t_k)")
def p95_srtt_l4(flows: FlowSeries) -> Floats:
    """95th percentile of the smoothed round-trip time: 95 % of the samples do not exceed it."""
    return percentiles(flows.srtt, 95)


@metric("flow", unit="ms", better="lower", formula="99th percentile over k of srtt(t_k)")
def p99_srtt_l4(flows: FlowSeries) -> Floats:
    """99th percentile of the smoothed round-trip time: 99 % of the samples do not exceed it."""
    return percentiles(flows.srtt, 99)


@metric(
    "flow",
    unit="ms",
    better="lower",
    effect="difference",
    formula="mean over k of (srtt(t_k) - RTT(t_k))",
)
def mean_est_qdelay_l4(flows: FlowSeries) -> Floats:
    """Mean queueing delay as the sender can estimate it.

    RTT is the propagation delay there and back of the path that the flow has at t_k, so the
    estimate contains the transmission times; after a change of the path it lags behind, as the
    smoothed round-trip time does. Absent where the delay changes on one of several shortest paths,
    where a balancer chooses among some that differ in delays, and where a failure leaves another.
    """
    return mean(flows.est_qdelay)


@metric(
    "flow",
    unit="Mbps/s",
    better="higher",
    formula="mean over k of throughput_l4(t_k) [Mbps] / srtt(t_k) [s]",
)
def mean_network_power_l4(flows: FlowSeries) -> Floats:
    """Mean of Kleinrock's power: throughput over delay."""
    return mean(flows.throughput_l4 / positive(flows.srtt / 1e3))


@metric(
    "flow",
    unit="ln(Mbps)",
    better="higher",
    effect="difference",
    formula="mean over k of ln(throughput_l4(t_k) [Mbps]), where throughput_l4(t_k) > 0",
)
def mean_utility_pf_l4(flows: FlowSeries) -> Floats:
    """Mean utility under proportional fairness."""
    return mean(flows.utility_pf)


@metric(
    "flow",
    unit="1/Mbps",
    better="higher",
    effect="difference",
    formula="mean over k of -1 / throughput_l4(t_k) [Mbps], where throughput_l4(t_k) > 0",
)
def mean_utility_mpdf_l4(flows: FlowSeries) -> Floats:
    """Mean utility under minimum potential delay fairness."""
    return mean(flows.utility_mpdf)


@metric("flow", unit="1", better="higher", formula="mean over k of throughput_l4(t_k) / rate(t_k)")
def mean_utilization_bw_l4(flows: FlowSeries) -> Floats:
    """Mean share of the bottleneck's rate that the flow's throughput takes.

    rate(t_k) is the rate configured for the flow's bottleneck in the interval that ends at t_k, its
    mean where it changes within. Payload over a rate on the wire: with segments of 1448 B it cannot
    exceed 1448/1502 = 0.964, unless the rate falls while packets are on their way.
    Absent where a balancer chooses among shortest paths that differ in rates, or spreads a flow
    over several that are slower than its hosts' links, and where a failure leaves another path.
    """
    return mean(flows.utilization_bw)


@metric(
    "flow",
    unit="1",
    better=None,
    formula="mean over k of in_flight(t_k) x (segment size + 112 B) x 8 / (rate(t_k) x RTT(t_k))",
)
def mean_utilization_bdp_l4(flows: FlowSeries) -> Floats:
    """Mean data in flight over the bandwidth-delay product: 1 fills the pipe without a queue.

    in_flight counts segments, each taken as its payload plus 112 B, as the published tables do:
    1560 B for a segment of 1448 B, 3.9 % more than the 1502 B it has on the wire.  rate(t_k) is
    that of the flow's bottleneck in the interval that ends at t_k; RTT is the propagation delay
    there and back of the path at t_k, as in mean_est_qdelay_l4. Absent where a balancer chooses
    among shortest paths that differ in rates or delays, or spreads a flow over several that are
    slower than its hosts' links, and where a failure leaves another path.
    """
    return mean(flows.utilization_bdp)


@metric("flow", unit="ms", better=None, formula="mean over k of idt_ewma(t_k)")
def mean_idt_ewma_l4(flows: FlowSeries) -> Floats:
    """Mean of the smoothed inter-departure time of data segments.

    The smoothed value starts with the first gap g between two segments emitted and then goes
    idt_ewma <- 0.95 idt_ewma + 0.05 g with every further one.
    """
    return mean(flows.idt_ewma)


@metric(
    "flow",
    unit="ms",
    better="lower",
    formula="total length of finished recovery episodes / their number",
    sampled=False,
)
def mean_recovery_time_l4(flows: FlowSeries) -> Floats:
    """Mean length of a loss recovery, from entering Recovery to leaving Recovery or Loss.

    An episode that turns into Loss goes on.  Absent if none was finished.
    """
    episodes = flows.counter("recovery_episodes")
    total = flows.counter("recovery_time_ns") / 1e6
    return total / positive(episodes)


@metric(
    "flow",
    unit="s",
    better="lower",
    formula="(completion, or stop if the flow has not ended) - start",
    sampled=False,
)
def flow_completion_time_l4(flows: FlowSeries) -> Floats:
    """Time from the flow's start until all bytes of its transfer were acknowledged.

    For a flow that has not ended (or never ends, or was stopped before it had sent all) it is the
    flow's scheduled life time.  Only over TCP does a sender know.
    """
    completion = flows.completions_ns
    end = np.where(np.isnan(completion), flows.counter("stop_ns"), completion)
    lifetime: Floats = (end - flows.counter("start_ns")) / 1e9
    return flows.of_tcp(lifetime)


@metric(
    "flow",
    unit="segments",
    better="lower",
    formula="count of data segments emitted below the highest sequence number emitted before",
    kind="count",
    over_flows="sum",
    sampled=False,
)
def total_retransmissions_l4(flows: FlowSeries) -> Floats:
    """Data segments retransmitted in the whole run."""
    return flows.of_tcp(flows.counter("retransmissions"))


@metric(
    "flow",
    unit="1",
    better="lower",
    effect="difference",
    formula="count of entries into Loss",
    kind="count",
    over_flows="sum",
    sampled=False,
)
def total_rtos_l4(flows: FlowSeries) -> Floats:
    """Retransmission timeouts in the whole run that put the sender into Loss.

    A timer that expires again before the sender has left Loss (backoff) adds nothing, nor does that
    of a SYN: a long outage of the path has one.
    """
    return flows.of_tcp(flows.counter("rtos"))


@metric(
    "flow",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x sum over k of retransmissions in (t_(k-1), t_k] x segment size / payload sent",
)
def retransmission_rate_l4(flows: FlowSeries) -> Floats:
    """Share of the payload sent that had been sent before, each segment taken as a full one.

    What a flow believes to be lost; what is lost at a link is loss_rate_l2.
    """
    sent = flows.sending_rate_l4.sum(axis=0) * flows.interval_s * 1e6 / 8
    again = flows.retransmissions.sum(axis=0) * flows.segment_bytes
    return flows.of_tcp(100 * again / positive(sent))
