"""Metrics of classes of transfers: completion times and slowdowns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import percentile

if TYPE_CHECKING:
    from ccperf.runs.metrics.transfers import Transfers


@metric(
    "class",
    unit="flows",
    better=None,
    formula="count of transfers",
    kind="count",
    over_flows="sum",
)
def total_transfers_l4(transfers: Transfers) -> float:
    """Transfers of the class, finished or not."""
    return float(transfers.count)


@metric(
    "class",
    unit="flows",
    better="lower",
    effect="difference",
    formula="count of transfers without an end",
    kind="count",
    over_flows="sum",
)
def total_unfinished_l4(transfers: Transfers) -> float:
    """Transfers of the class that had not ended when the run did."""
    return float(transfers.unfinished)


@metric(
    "class",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 total_unfinished_l4 / total_transfers_l4",
)
def unfinished_share_l4(transfers: Transfers) -> float:
    """Transfers of the class that had not ended when the run did, of all of them."""
    return 100.0 * transfers.unfinished / transfers.count


@metric(
    "class",
    unit="1",
    better="lower",
    effect="difference",
    formula="sum of rtos",
    kind="count",
    over_flows="sum",
)
def total_timeouts_l4(transfers: Transfers) -> float:
    """Retransmission timeouts of the transfers of the class."""
    return float(transfers.timeouts)


@metric(
    "class",
    unit="1",
    better="lower",
    effect="difference",
    formula="sum of rtos, over the transfers without retransmissions",
    kind="count",
    over_flows="sum",
)
def total_idle_timeouts_l4(transfers: Transfers) -> float:
    """Retransmission timeouts of the transfers of the class that sent nothing again.

    Nothing was lost: marks had made the window smaller than a segment, and with nothing in flight
    the sender waited for its timer before it sent the next one (RFC 3168, section 6.1.2).
    """
    return float(transfers.idle_timeouts)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="mean of (end - start), over the finished transfers",
)
def mean_fct_l4(transfers: Transfers) -> float:
    """Mean flow completion time of the finished transfers; absent if none is.

    Where some are unfinished (total_unfinished_l4) it is too low: the long ones are missing.
    """
    return _mean(transfers.completion_times)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="mean of (last_rx - start), over the finished transfers",
)
def mean_delivery_time_l4(transfers: Transfers) -> float:
    """Mean time until the receiver has the last data, or the FIN, of the finished transfers.

    Completion times as simulators print them whose clock stops at the receiver: mean_fct_l4 has
    the way of the last acknowledgement in it. Absent without `recording.deliveries`.
    """
    return _mean(transfers.delivery_times)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="least x such that 99 % of the transfers have been delivered within x",
)
def p99_delivery_time_l4(transfers: Transfers) -> float:
    """99th percentile of the time until the receiver has the last data (mean_delivery_time_l4).

    Unfinished transfers rank behind the finished; absent where that leaves less than 99 %.
    """
    return percentile(transfers.delivery_times, 99, transfers.unfinished)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="least x such that 50 % of the transfers have ended within x",
)
def p50_fct_l4(transfers: Transfers) -> float:
    """Median of the flow completion time, over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 50 %.
    """
    return percentile(transfers.completion_times, 50, transfers.unfinished)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="least x such that 95 % of the transfers have ended within x",
)
def p95_fct_l4(transfers: Transfers) -> float:
    """95th percentile of the flow completion time, over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 95 %.
    """
    return percentile(transfers.completion_times, 95, transfers.unfinished)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="least x such that 99 % of the transfers have ended within x",
)
def p99_fct_l4(transfers: Transfers) -> float:
    """99th percentile of the flow completion time, over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 99 %.
    """
    return percentile(transfers.completion_times, 99, transfers.unfinished)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="last end - first start",
)
def makespan_l4(transfers: Transfers) -> float:
    """How long the transfers take together, from the first start to the last end.

    Of transfers that wait for each other it is the completion time of the collective operation.
    Absent where one is unfinished.
    """
    return transfers.makespan


@metric(
    "class",
    unit="1",
    better="lower",
    formula="longest (end - start) / median of (end - start)",
)
def straggling_l4(transfers: Transfers) -> float:
    """Completion time of the slowest transfer over the median one: how far stragglers are behind.

    Meant for transfers of one size. Absent where one is unfinished.
    """
    if transfers.unfinished or not (times := transfers.completion_times).size:
        return math.nan
    return float(times.max() / np.median(times)) if np.median(times) > 0 else math.nan


@metric(
    "class",
    unit="1",
    better="lower",
    formula="mean of (end - start) / ideal, over the finished transfers",
)
def mean_slowdown_l4(transfers: Transfers) -> float:
    """Mean slowdown of the finished transfers: completion time over the ideal one.

    The ideal completion time is the least that a transfer alone could take on its path as
    configured at time 0: 2 x propagation there and back (one to connect) + 8 x wire(all segments) /
    least rate of the forward path + the sum over its other links of 8 x wire(last segment) / rate.
    The segments are as few as hold the transfer, each with its headers of IP, TCP (timestamps
    included, if the socket sends them) and PPP. There are no queues and no limits of a window in
    it. Sources with a rate of their own have no ideal, and no slowdown; neither has a transfer
    whose ideal time is 0 in whole ns, as that of 59 bytes is on links above 470 Gbps without delay.
    """
    return _mean(transfers.slowdowns)


@metric(
    "class",
    unit="1",
    better="lower",
    formula="least x such that 50 % of the transfers have ended with a slowdown of at most x",
)
def p50_slowdown_l4(transfers: Transfers) -> float:
    """Median of the slowdown (see mean_slowdown_l4), over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 50 %.
    """
    return percentile(transfers.slowdowns, 50, transfers.unfinished_with_ideal)


@metric(
    "class",
    unit="1",
    better="lower",
    formula="least x such that 95 % of the transfers have ended with a slowdown of at most x",
)
def p95_slowdown_l4(transfers: Transfers) -> float:
    """95th percentile of the slowdown (see mean_slowdown_l4), over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 95 %.
    """
    return percentile(transfers.slowdowns, 95, transfers.unfinished_with_ideal)


@metric(
    "class",
    unit="1",
    better="lower",
    formula="least x such that 99 % of the transfers have ended with a slowdown of at most x",
)
def p99_slowdown_l4(transfers: Transfers) -> float:
    """99th percentile of the slowdown (see mean_slowdown_l4), over all transfers of the class.

    Unfinished ones rank behind the finished; absent where that leaves less than 99 %.
    """
    return percentile(transfers.slowdowns, 99, transfers.unfinished_with_ideal)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="mean of (end of the last answer - start), over the queries whose answers all ended",
)
def mean_qct_l4(transfers: Transfers) -> float:
    """Mean query completion time: from the start of a query's answers to the end of the last.

    Absent where there is no query or none has ended; too low where some have not.
    """
    return _mean(transfers.queries.times)


@metric(
    "class",
    unit="ms",
    better="lower",
    formula="least x such that 99 % of the queries have ended within x",
)
def p99_qct_l4(transfers: Transfers) -> float:
    """99th percentile of the query completion time (see mean_qct_l4), over all queries.

    Unfinished ones rank behind the finished; absent where that leaves less than 99 %.
    """
    return percentile(transfers.queries.times, 99, transfers.queries.unfinished)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else np.nan
