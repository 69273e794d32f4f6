"""Network metrics: the run's own flows together, and how they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.grid import Floats, positive
from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import mean, row_sums

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries


#: Of a product of throughputs.
_LARGEST = 1e300


@metric("network", unit="Mbps", better="higher", formula="mean over k of sum_i x_i(t_k)")
def mean_agg_throughput_l4(flows: FlowSeries) -> float:
    """Mean throughput of all flows together; x_i is throughput_l4 of flow i."""
    return _mean_sum(flows.throughput_l4)


@metric("network", unit="segments", better=None, formula="mean over k of sum_i in_flight_i(t_k)")
def mean_agg_in_flight_l4(flows: FlowSeries) -> float:
    """Mean data in flight of all flows together, each in its own segments."""
    return _mean_sum(flows.in_flight)


@metric("network", unit="1", better="higher", formula="mean over k of sum_i x_i(t_k) / rate_i(t_k)")
def mean_agg_utilization_bw_l4(flows: FlowSeries) -> float:
    """Mean utilisation by all flows together, each of its own bottleneck (see the flow metric)."""
    return _mean_sum(flows.utilization_bw)


@metric("network", unit="1", better=None, formula="mean over k of sum_i utilization_bdp_i(t_k)")
def mean_agg_utilization_bdp_l4(flows: FlowSeries) -> float:
    """Mean data in flight of all flows together in bandwidth-delay products (see flow metric)."""
    return _mean_sum(flows.utilization_bdp)


@metric(
    "network",
    unit="ln(Mbps)",
    better="higher",
    effect="difference",
    formula="mean over k of sum_i ln(x_i(t_k) [Mbps]), over the flows with x_i(t_k) > 0",
)
def mean_agg_utility_pf_l4(flows: FlowSeries) -> float:
    """Mean total utility under proportional fairness; x_i is throughput_l4 of flow i.

    Intervals in which no flow has throughput are left out.
    """
    return _mean_sum(flows.utility_pf)


@metric(
    "network",
    unit="1/Mbps",
    better="higher",
    effect="difference",
    formula="mean over k of sum_i -1 / x_i(t_k) [Mbps], over the flows with x_i(t_k) > 0",
)
def mean_agg_utility_mpdf_l4(flows: FlowSeries) -> float:
    """Mean total utility under minimum potential delay fairness; x_i is throughput_l4 of flow i.

    Intervals in which no flow has throughput are left out.
    """
    return _mean_sum(flows.utility_mpdf)


@metric(
    "network",
    unit="1",
    better="higher",
    effect="difference",
    formula="mean over k of (sum_i x_i(t_k))^2 / (n sum_i x_i(t_k)^2)",
)
def mean_jains_fairness_throughput_l4(flows: FlowSeries) -> float:
    """Mean of Jain's fairness index of the n flows' throughputs x_i: 1/n to 1, 1 is fair.

    Intervals in which no flow has throughput are left out. The n flows are all of the run: before
    its start and after its end a flow has a throughput of 0, which is not fair. What is of the time
    in which all send is mean_jains_fairness_1s_l4.
    """
    x = flows.throughput_l4
    n = x.shape[1]
    return _scalar_mean(x.sum(axis=1) ** 2 / positive(n * (x**2).sum(axis=1)))


@metric(
    "network",
    unit="1",
    better="higher",
    effect="difference",
    formula="(sum_i g_i)^2 / (n sum_i g_i^2), g_i = acked_bytes_i / (end_i - start_i)",
    sampled=False,
)
def jains_fairness_goodput_l4(flows: FlowSeries) -> float:
    """Jain's fairness index of the goodputs of the n flows without an end: 1/n to 1, 1 is fair.

    A goodput g_i is what the receiver has acknowledged in the whole run, over the time from the
    flow's start to the end of the run. That of a flow that is stopped before ends over TCP when all
    that it had written is acknowledged, over others with its stop. Datagrams are not acknowledged:
    flows over UDP are none of the n. It needs no samples, only that completions are recorded, so
    that it is over all flows where few are sampled; absent where n is less than two.
    """
    g = flows.goodputs
    return float(g.sum() ** 2 / (len(g) * (g**2).sum())) if len(g) > 1 and g.any() else np.nan


@metric(
    "network",
    unit="Mbps",
    better="higher",
    formula="mean of goodput_i over the flows without an end",
    sampled=False,
)
def mean_goodput_l4(flows: FlowSeries) -> float:
    """Mean of the goodputs of the flows without an end, as in jains_fairness_goodput_l4.

    Flows over UDP have none. Absent where no other flow is without an end.
    """
    return float(flows.goodputs.mean()) if len(flows.goodputs) else np.nan


@metric(
    "network",
    unit="nats",
    better="higher",
    effect="difference",
    formula="mean over k of -sum_i p_i ln p_i, p_i = x_i(t_k) / sum_j x_j(t_k)",
)
def mean_entropy_fairness_throughput_l4(flows: FlowSeries) -> float:
    """Mean Shannon entropy of the flows' shares of the throughput: 0 to ln n, ln n is fair.

    x_i is throughput_l4 of flow i; a flow without throughput adds 0.  Intervals in which no flow
    has throughput are left out.
    """
    x = flows.throughput_l4
    p = x / positive(x.sum(axis=1))[:, np.newaxis]
    # 1 in place of 0 makes 0 ln 0 = 0, its limit; a NaN share keeps its interval out.
    return _scalar_mean((p * np.log(1 / np.where(p == 0, 1, p))).sum(axis=1))


@metric("network", unit="Mbps^n", better=None, formula="mean over k of prod_i x_i(t_k) [Mbps]")
def mean_product_fairness_throughput_l4(flows: FlowSeries) -> float:
    """Mean product of the n flows' throughputs x_i; at a given sum the largest is the fairest.

    Its size depends on the unit and on n, so it ranks nothing. Absent where it is beyond 1e300,
    as of 250 flows of 16 Mbps: sums of such values would soon be no numbers.
    """
    x = flows.throughput_l4
    with np.errstate(over="ignore", invalid="ignore"):
        product = x.prod(axis=1)
        # Where one flow has none, it is 0 however large the others' product is.
        found = _scalar_mean(np.where((x == 0).any(axis=1), 0.0, product))
    return found if found <= _LARGEST else np.nan


@metric(
    "network",
    unit="packets",
    better=None,
    formula="sum over all links and directions of packets sent",
    kind="count",
    over_flows="sum",
    sampled=False,
)
def total_packet_hops_l1(flows: FlowSeries) -> float:
    """Packets over links in the whole run, of all flows, ACKs included: what it costs to simulate.

    How long that took is a matter of the host: `ccperf runs` has it for each run.
    """
    return float(flows.packet_hops)


def _mean_sum(series: Floats) -> float:
    """Sum over the flows in each interval, then the mean over the intervals with any value."""
    return _scalar_mean(row_sums(series))


def _scalar_mean(series: Floats) -> float:
    return float(mean(series[:, np.newaxis])[0])
