"""What priority-based flow control (PFC) does to a network: how often and how long links pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.runs.metrics.registry import metric

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries


@metric(
    "network",
    unit="pauses",
    better="lower",
    formula="count of pauses, of all directions and priorities",
    kind="count",
    sampled=False,
)
def total_pauses_l2(flows: FlowSeries) -> float:
    """How often a switch had the other end of a link pause a priority, in the whole run.

    A pause counts once, however often it is renewed. Absent where no link can pause.
    """
    return flows.pauses


@metric(
    "network",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x max over directions and priorities of time paused / length of the run",
    sampled=False,
)
def max_paused_share_l1(flows: FlowSeries) -> float:
    """Share of the run in which the direction that paused longest could not send a priority.

    Absent where no link can pause.
    """
    return 100 * flows.paused_share
