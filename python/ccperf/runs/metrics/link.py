"""Link metrics: the wire (l1) and the queue discipline (l2) of the flows' bottleneck directions,
and of those that a balancer takes in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.grid import Floats, positive
from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import mean, percentiles

if TYPE_CHECKING:
    from ccperf.runs.metrics.link_series import LinkSeries


@metric("link", unit="Mbps", better="higher", formula="mean over k of sending_rate_l1(t_k)")
def mean_sending_rate_l1(links: LinkSeries) -> Floats:
    """Mean rate of bytes on the wire, PPP headers included, counted at start of transmission."""
    return mean(links.sending_rate_l1)


@metric(
    "link",
    unit="ms",
    better="lower",
    effect="difference",
    formula="mean over k of floor(sojourn(t_k) [ms])",
)
def mean_qdisc_delay_l2(links: LinkSeries) -> Floats:
    """Mean sojourn time in the queue discipline.

    sojourn(t_k) is that of the packet taken from the queue last, those then dropped by the
    discipline included, rounded down to whole ms.
    """
    return mean(links.qdisc_delay)


@metric(
    "link",
    unit="packets",
    better="lower",
    effect="difference",
    formula="mean over k of qdisc_length(t_k)",
)
def mean_qdisc_length_l2(links: LinkSeries) -> Floats:
    """Mean number of packets in the queue discipline; the device's own queue is not counted."""
    return mean(links.qdisc_length)


@metric(
    "link",
    unit="packets",
    better="lower",
    formula="count of packets dropped by the queue discipline",
    kind="count",
    over_flows="sum",
    sampled=False,
)
def total_qdisc_drops_l2(links: LinkSeries) -> Floats:
    """Packets that the queue discipline dropped in the whole run, for whatever reason."""
    return np.where(links.has_qdisc, links.counter("qdisc_dropped"), np.nan)


@metric(
    "link",
    unit="packets",
    better=None,
    formula="count of packets marked by the queue discipline",
    kind="count",
    over_flows="sum",
    sampled=False,
)
def total_qdisc_marks_l2(links: LinkSeries) -> Floats:
    """Packets that the queue discipline marked CE in the whole run, for whatever reason."""
    return np.where(links.has_qdisc, links.counter("qdisc_marked"), np.nan)


@metric(
    "link",
    unit="us",
    better="lower",
    effect="difference",
    formula="mean over k of sojourn(t_k) [us], where the link sends in (t_(k-1), t_k]",
)
def mean_sojourn_l2(links: LinkSeries) -> Floats:
    """Mean sojourn time in the queue discipline, to the nanosecond.

    sojourn(t_k) is that of the packet taken from the queue last, those then dropped by the
    discipline included.
    """
    return 1e3 * mean(links.sojourn)


@metric(
    "link",
    unit="us",
    better="lower",
    effect="difference",
    formula="50th percentile over k of sojourn(t_k) [us], where the link sends in (t_(k-1), t_k]",
)
def p50_sojourn_l2(links: LinkSeries) -> Floats:
    """Median of the sojourn time: the least value that 50 % of the samples do not exceed."""
    return 1e3 * percentiles(links.sojourn, 50)


@metric(
    "link",
    unit="us",
    better="lower",
    effect="difference",
    formula="95th percentile over k of sojourn(t_k) [us], where the link sends in (t_(k-1), t_k]",
)
def p95_sojourn_l2(links: LinkSeries) -> Floats:
    """95th percentile of the sojourn time: what 95 % of the samples do not exceed."""
    return 1e3 * percentiles(links.sojourn, 95)


@metric(
    "link",
    unit="us",
    better="lower",
    effect="difference",
    formula="99th percentile over k of sojourn(t_k) [us], where the link sends in (t_(k-1), t_k]",
)
def p99_sojourn_l2(links: LinkSeries) -> Floats:
    """99th percentile of the sojourn time: what 99 % of the samples do not exceed."""
    return 1e3 * percentiles(links.sojourn, 99)


@metric(
    "link",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x packets lost / packets offered",
    sampled=False,
)
def loss_rate_l2(links: LinkSeries) -> Floats:
    """Share of packets that are dropped in front of the link or lost on it, for whatever reason.

    Lost are those that the queue discipline or the device drops, that the link loses at random and
    that fail with it or have no route then. Offered are those that it sends and those dropped in
    front of it, by a failure, too. Those on its wire when it fails count as sent and as dropped in
    front: a recording does not tell them from those that waited.
    """
    names = ("qdisc_dropped", "device_dropped", "failure_dropped")
    in_front = sum(links.counter(name) for name in names)
    lost = in_front + links.counter("loss_dropped")
    offered = in_front + links.counter("tx_packets")
    return 100 * lost / positive(offered)


@metric(
    "link",
    unit="%",
    better=None,
    effect="difference",
    formula="100 x packets marked / packets sent",
    sampled=False,
)
def mark_rate_l2(links: LinkSeries) -> Floats:
    """Packets that the queue discipline marked CE, as a share of the packets sent.

    What has been marked and waits when the run ends, or is dropped after all, counts as marked.
    """
    sent = links.counter("tx_packets")
    marked = links.counter("qdisc_marked") / positive(sent)
    return np.where(links.has_qdisc, 100 * marked, np.nan)


@metric("link", unit="%", better="higher", formula="mean over k of utilization(t_k)")
def mean_utilization_l1(links: LinkSeries) -> Floats:
    """Mean of the bytes on the wire over what the configured rate allows, PPP headers included.

    Packets count when their transmission starts, so that the last one may go beyond 100 %.
    """
    return mean(links.utilization)


@metric(
    "link",
    unit="%",
    better="higher",
    formula="100 x max(8 x bytes sent / integral of the rate, 8 x IP bytes sent / bucket)",
    over_flows="max",
    sampled=False,
)
def used_capacity_l1(links: LinkSeries) -> Floats:
    """Share of what the link could have sent in the whole run that it did send.

    The integral is over the rates that the link has in turn, and bytes sent have PPP's headers. A
    token bucket in front of it that all packets pass (policer or TBF) counts without them: it could
    have let through Rate x T + 8 x Burst, of a TBF's second one PeakRate x T + 8 x Mtu, T the run's
    length, with the engine's values where the scenario gives none. Packets count when their
    transmission starts, so that the last one may go beyond 100 %. Of several bottlenecks that of
    the tightest, which is used most, stands for the run.
    """
    return 100 * links.used_capacity
