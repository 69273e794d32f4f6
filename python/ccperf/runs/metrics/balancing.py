"""What load balancers do to flows and links: order, switches of ways, imbalance, probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.runs.metrics.grid import Floats
    from ccperf.runs.metrics.link_series import LinkSeries
    from ccperf.runs.metrics.series import FlowSeries
    from ccperf.runs.metrics.transfers import Transfers


@metric(
    "class",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x sum of reordered / sum of packets",
)
def reordering_rate_l3(transfers: Transfers) -> float:
    """Share of the packets that come after one that was sent later (RFC 4737, section 3.3).

    Of the packets from source to destination that arrive, whatever is in them, numbered as the
    source sends them. Absent, as all about order and ways, unless `recording.balancing` asks for
    it.
    """
    return 100 * _over(transfers.order.reordered, transfers.order.packets)


@metric(
    "class",
    unit="packets",
    better="lower",
    formula="sum of extents / sum of reordered",
)
def mean_reordering_extent_l3(transfers: Transfers) -> float:
    """Mean extent of the reordered packets (RFC 4737, section 4.2); absent if none is.

    The extent of packet s[i], the i-th to arrive, is i - j for the least j with s[j] > s[i]: how
    many packets before it the first one came that was sent later. With an extent of 3 and more a
    sender takes it for lost that goes by three duplicate ACKs.
    """
    return _over(transfers.order.extent_sum, transfers.order.reordered)


@metric(
    "class",
    unit="packets",
    better="lower",
    effect="difference",
    formula="maximum of extents",
    kind="count",
)
def max_reordering_extent_l3(transfers: Transfers) -> float:
    """Largest extent of a reordered packet (see mean_reordering_extent_l3); 0 without any."""
    return transfers.order.max_extent


@metric(
    "class",
    unit="1",
    better=None,
    effect="difference",
    formula="sum of switches / count of transfers",
)
def mean_path_switches_l3(transfers: Transfers) -> float:
    """Mean number of times that a transfer's data goes over to another path.

    A path is the links between switches that a packet takes. A packet with payload switches if it
    takes another one than the one with payload sent before it, of those that arrive.
    """
    return transfers.order.path_switches / transfers.count


@metric(
    "link",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x mean over k of (max_j u_j(t_k) - min_j u_j(t_k)) / mean_j u_j(t_k)",
)
def mean_imbalance_l1(links: LinkSeries) -> Floats:
    """Mean imbalance of the parallel links of which this is one.

    Parallel are the sampled links that leave one switch and lead equally near to some host; u_j is
    the share of link j's rate that is used in the interval. 0 is even, 100 x the number of links is
    all on one (M. Alizadeh et al., ACM SIGCOMM 2014, section 5.2.4, with rates in place of
    throughputs, which is the same where links are alike). In intervals in which links are down it
    is of those that are parallel without them. Intervals in which nothing is sent are left out; a
    link without others has none.
    """
    return mean(links.imbalance)


@metric(
    "network",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x bytes of probes / bytes sent by hosts",
    sampled=False,
)
def probing_overhead_l1(flows: FlowSeries) -> float:
    """Share of the bytes that hosts send on their links that belongs to probes, there and back.

    0 where nobody probes; absent unless `recording.balancing` asks for it.
    """
    return 100 * flows.probing_share


def _over(part: float, whole: float) -> float:
    return part / whole if whole else np.nan
