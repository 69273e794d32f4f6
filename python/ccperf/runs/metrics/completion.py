"""Metrics of classes of transfers: completion times and slowdowns."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ccperf.runs.metrics.transfers import Transfers


#: A metric of classes of which less is better.
of_class = partial(metric, "class", better="lower")
#: A mean of those that have ended.
of_ended = partial(of_class, unfinished="unfinished_share_l4")


def percentiles(
    name: str,
    percents: Sequence[int],
    values: Callable[[Transfers], tuple[np.ndarray, int]],
    *,
    unit: str,
    formula: str,
    of: str,
) -> None:
    """Register percentiles of `values`, which has those of the finished and counts the others."""

    def of_percent(percent: int) -> Callable[[Transfers], float]:
        def compute(transfers: Transfers) -> float:
            finished, unfinished = values(transfers)
            return percentile(finished, percent, unfinished)

        compute.__name__ = f"p{percent}_{name}"
        which = "Median" if percent == 50 else f"{percent}th percentile"
        compute.__doc__ = (
            f"{which} of {of}.\n\nUnfinished ones rank behind the finished; absent where that "
            f"leaves less than {percent} %."
        )
        return compute

    for percent in percents:
        of_class(unit=unit, formula=f"least x such that {percent} % of {formula}")(
            of_percent(percent)
        )


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


@of_class(
    unit="flows",
    effect="difference",
    formula="count of transfers without an end",
    kind="count",
    over_flows="sum",
)
def total_unfinished_l4(transfers: Transfers) -> float:
    """Transfers of the class that had not ended when the run did."""
    return float(transfers.unfinished)


@of_class(unit="%", effect="difference", formula="100 total_unfinished_l4 / total_transfers_l4")
def unfinished_share_l4(transfers: Transfers) -> float:
    """Transfers of the class that had not ended when the run did, of all of them."""
    return 100.0 * transfers.unfinished / transfers.count


@of_class(unit="1", effect="difference", formula="sum of rtos", kind="count", over_flows="sum")
def total_timeouts_l4(transfers: Transfers) -> float:
    """Retransmission timeouts of the transfers of the class that put their sender into Loss.

    Backoff and SYNs add nothing, as in total_rtos_l4.
    """
    return float(transfers.timeouts)


@of_class(
    unit="1",
    effect="difference",
    formula="sum of rtos, over the transfers without retransmissions",
    kind="count",
    over_flows="sum",
)
def total_idle_timeouts_l4(transfers: Transfers) -> float:
    """Such timeouts (total_timeouts_l4) of the transfers of the class that sent nothing again.

    Nothing was lost: marks had made the window smaller than a segment, and with nothing in flight
    the sender waited for its timer before it sent the next one (RFC 3168, section 6.1.2).
    """
    return float(transfers.idle_timeouts)


@of_ended(unit="ms", formula="mean of (end - start), over the finished transfers")
def mean_fct_l4(transfers: Transfers) -> float:
    """Mean flow completion time of the finished transfers; absent if none is.

    Where some are unfinished (total_unfinished_l4) it is too low: the long ones are missing.
    """
    return _mean(transfers.completion_times)


@of_ended(unit="ms", formula="mean of (last_rx - start), over the finished transfers")
def mean_delivery_time_l4(transfers: Transfers) -> float:
    """Mean time until the receiver has the last data, or the FIN, of the finished transfers.

    Completion times as simulators print them whose clock stops at the receiver: mean_fct_l4 has
    the way of the last acknowledgement in it. Absent without `recording.deliveries`.
    """
    return _mean(transfers.delivery_times)


percentiles(
    "delivery_time_l4",
    (99,),
    lambda transfers: (transfers.delivery_times, transfers.unfinished),
    unit="ms",
    formula="the transfers have been delivered within x",
    of="the time until the receiver has the last data (mean_delivery_time_l4)",
)


percentiles(
    "fct_l4",
    (50, 95, 99),
    lambda transfers: (transfers.completion_times, transfers.unfinished),
    unit="ms",
    formula="the transfers have ended within x",
    of="the flow completion time, over all transfers of the class",
)


@of_ended(unit="ms", formula="mean of (arrival - start of the request), over finished answers")
def mean_rpc_time_l4(transfers: Transfers) -> float:
    """Mean time of remote calls: from the start of a request until its answer has come, all of it.

    Over the finished transfers that answer others (arrivals `Answers`); absent without such.
    """
    return _mean(transfers.rpc_times)


percentiles(
    "rpc_time_l4",
    (99,),
    lambda transfers: (transfers.rpc_times, transfers.unfinished_calls),
    unit="ms",
    formula="the answers have come within x of the start of their requests",
    of="the time of remote calls (see mean_rpc_time_l4)",
)


@of_class(unit="ms", formula="last end - first start")
def makespan_l4(transfers: Transfers) -> float:
    """How long the transfers take together, from the first start to the last end.

    Of transfers that wait for each other it is the completion time of the collective operation.
    Absent where one is unfinished.
    """
    return transfers.makespan


@of_class(unit="1", formula="longest (end - start) / median of (end - start)")
def straggling_l4(transfers: Transfers) -> float:
    """Completion time of the slowest transfer over the median one: how far stragglers are behind.

    Meant for transfers of one size; of an even number the median is the mean of the two in the
    middle. Absent where one is unfinished.
    """
    if transfers.unfinished or not (times := transfers.completion_times).size:
        return math.nan
    return float(times.max() / np.median(times)) if np.median(times) > 0 else math.nan


@of_ended(unit="1", formula="mean of (end - start) / ideal, over the finished transfers")
def mean_slowdown_l4(transfers: Transfers) -> float:
    """Mean slowdown of the finished transfers: completion time over the ideal one.

    The ideal completion time is the least that a transfer alone could take on its path as
    configured at time 0: 2 x propagation there and back (one to connect; without that one where the
    connection was open, and over RoCE and switches that trim) + the sum over all segments but the
    last of 8 x wire(segment) / least rate of the forward path + the sum over its links of 8 x
    wire(last segment) / rate, each in whole ns, as on links. The segments are as few as hold the
    transfer, each with its headers of IP, TCP (timestamps included, if the socket sends them) and
    PPP. There are no queues and no limits of a window in it. Sources with a rate of their own have
    no ideal, and no slowdown; neither has a transfer whose ideal time is 0 in whole ns, as that of
    59 bytes is on links above 950 Gbps without delay, nor a flow, or any transfer of a workload,
    for which a balancer may choose among shortest paths that differ in rates or delays, or which it
    may spread over several that are slower than the links of its hosts, nor one on whose shortest
    paths a link gets another rate or delay in the run, or fails where no others are as short.
    """
    return _mean(transfers.slowdowns)


percentiles(
    "slowdown_l4",
    (50, 95, 99),
    lambda transfers: (transfers.slowdowns, transfers.unfinished_with_ideal),
    unit="1",
    formula="the transfers have ended with a slowdown of at most x",
    of="the slowdown (see mean_slowdown_l4), over all transfers of the class",
)


@of_ended(
    unit="ms",
    formula="mean of (end of the last answer - start), over the queries whose answers all ended",
)
def mean_qct_l4(transfers: Transfers) -> float:
    """Mean query completion time: from the start of a query's answers to the end of the last.

    Absent where there is no query or none has ended; too low where some have not.
    """
    return _mean(transfers.queries.times)


percentiles(
    "qct_l4",
    (99,),
    lambda transfers: (transfers.queries.times, transfers.queries.unfinished),
    unit="ms",
    formula="the queries have ended within x",
    of="the query completion time (see mean_qct_l4), over all queries",
)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else np.nan
