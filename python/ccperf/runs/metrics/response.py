"""Flow metrics of how a flow answers: to a start or a step of the path, and to its company."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.grid import Floats, positive
from ccperf.runs.metrics.registry import metric
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.runs.metrics.series import FlowSeries

#: How near the throughput of the last second has to be to that of the steady state.
BAND = 0.2
#: What has a value wherever flows could settle: those that do not have not.
_ASKED_WITH = "overshoot_in_flight_l4"


@metric(
    "flow",
    unit="s",
    better="lower",
    formula="first t_k after the event with |y(t_k) - Y| <= 0.2 Y, less the event's time",
    steady=False,
    asked_with=_ASKED_WITH,
)
def response_time_l4(flows: FlowSeries) -> Floats:
    """Time from the last event until the throughput first is near that of the steady state.

    y is the mean of throughput_l4 over the last second (in whole intervals), or since the flow's
    start if that is later; Y is its mean over the steady state (see steady_mean_throughput_l4). The
    event is the last one that algorithms have to answer: the start of a flow without end, or the
    change of links where all change at one time only; the run's start where there is none. Absent
    for flows that have an end or are stopped before the run ends. Where the throughput is never
    near, as where there is none in the steady state, it is never: absent, though
    overshoot_in_flight_l4 is there. A run in which that is so of some flow has no mean over the
    others.
    """
    near = _near(flows)
    reached = flows.time[np.argmax(near, axis=0)] if len(near) else np.nan
    return np.where(near.any(axis=0), reached, np.nan) - flows.phases.disturbance_ns / 1e9


@metric(
    "flow",
    unit="s",
    better="lower",
    formula="first t_k after the event from which on |y(t) - Y| <= 0.2 Y, less the event's time",
    steady=False,
    asked_with=_ASKED_WITH,
)
def settling_time_l4(flows: FlowSeries) -> Floats:
    """Time from the last event until the throughput stays near that of the steady state.

    y, Y, the event and the flows are those of response_time_l4. If it is not near at the run's end,
    it is never: absent, though overshoot_in_flight_l4 is there. A run in which that is so of some
    flow has no mean over the others.
    """
    near = _near(flows)
    if not len(near):
        return np.full(near.shape[1], np.nan)
    stays: np.ndarray = np.logical_and.accumulate(near[::-1], axis=0)[::-1]
    settled = flows.time[np.argmax(stays, axis=0)]
    return np.where(near[-1], settled, np.nan) - flows.phases.disturbance_ns / 1e9


@metric(
    "flow",
    unit="%",
    better="lower",
    effect="difference",
    formula="100 x (max of in_flight(t_k) after the event / mean in the steady state - 1)",
    steady=False,
)
def overshoot_in_flight_l4(flows: FlowSeries) -> Floats:
    """How far the data in flight goes beyond its mean in the steady state, after the last event.

    The event and the flows are those of response_time_l4, the mean is steady_mean_in_flight_l4.
    """
    after = flows.in_flight[_rows_after(flows)]
    level = positive(mean(flows.in_flight[flows.steady :]))
    level = np.where(flows.stays, level, np.nan)
    most: Floats = np.max(after, axis=0, initial=0.0)
    return 100 * (most / level - 1)


@metric(
    "flow",
    unit="1",
    better="lower",
    effect="difference",
    formula=(
        "max(0, 1 - mean over k of x(t_k) / mean over k of c(t_k)), t_(k-1) >= start and t_k <= "
        "stop of the flow"
    ),
)
def harm_throughput_l4(flows: FlowSeries) -> Floats:
    """What of its throughput a flow without end loses to its company: 0 nothing, 1 all of it.

    x is throughput_l4; c is what the flow could have alone: the rate of its bottleneck less the
    headers of full segments, both in the intervals in which it may send. This is harm as of R. Ware
    et al. ("Beyond Jain's Fairness Index", HotNets 2019) with an ideal flow for the solo one: where
    an algorithm alone leaves capacity unused, that counts as harm as well. What a flow of the same
    kind would do in the other's place is the measure: compare with the point where both are of one
    kind. Only over TCP, and of sources that always have something to send. Absent where a balancer
    chooses among shortest paths that differ in rates, or spreads a flow over several that are
    slower than its hosts' links, and where a failure leaves another path.
    """
    there = flows.is_there
    solo = positive(mean(np.where(there, flows.payload_capacity, np.nan)))
    harm = np.maximum(0.0, 1 - mean(np.where(there, flows.throughput_l4, np.nan)) / solo)
    return np.where(flows.is_endless, harm, np.nan)


def _near(flows: FlowSeries) -> np.ndarray:
    """Return where the throughput of the last second is near that of the steady state, after the
    event; before it nowhere."""
    level = positive(mean(flows.throughput_l4[flows.steady :]))
    near: np.ndarray = (np.abs(flows.lately - level) <= BAND * level) & flows.stays
    near[: _rows_after(flows).start] = False
    return near


def _rows_after(flows: FlowSeries) -> slice:
    event = flows.phases.disturbance_ns / 1e9
    return slice(int(flows.time.searchsorted(event, side="right")), None)
