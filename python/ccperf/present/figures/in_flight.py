"""Mean throughput and sRTT in relation to what is in flight: how full the pipe is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.base.wording import counted
from ccperf.present.figures.figure import Axis, Figure, Floats, Panel, Role, Series, of_flows
from ccperf.present.figures.optimum import Optimum
from ccperf.present.figures.registry import figure
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.runs.metrics import FlowSeries


@figure("In flight and mean operating point")
def in_flight(flows: FlowSeries) -> Figure:
    """Mean throughput (l4) and mean smoothed RTT over the mean number of segments in flight.

    One point per flow and, with several flows, the joint operating point: their aggregate
    throughput and the mean of their mean sRTTs over all that is in flight; of datagrams nobody
    knows that, so that neither they nor all together have a point. Star: the optimum,
    what the bottleneck can carry of payload (its mean over time) at the propagation RTT (its mean
    over time and flows) with one bandwidth-delay product in flight. Dotted: an ideal network of
    that rate and RTT, whose throughput grows until the pipe is full and whose delay grows from
    there on.
    """
    optimum = Optimum(flows)
    filled, throughput, srtt = mean(flows.in_flight), mean(flows.throughput_l4), mean(flows.srtt)
    count = len(flows.names)
    best_rate = float(mean(optimum.rate).sum())
    best_rtt = float(mean(optimum.rtt).mean())
    best_filled = float(mean(optimum.in_flight).sum())
    known = bool(np.isfinite(best_filled))
    joint_filled = float(filled.sum())
    has_joint = count > 1 and bool(np.isfinite(joint_filled))
    joint_throughput = float(throughput.sum())
    joint_srtt = float(np.nanmean(srtt)) if np.isfinite(srtt).any() else np.nan
    # The ideal curves bend at the optimum, so three points draw them.  Beyond it each segment waits
    # for the transmission of one more.
    reached = np.array([best_filled, joint_filled, *filled])
    end = 1.1 * float(np.max(reached, where=np.isfinite(reached), initial=0.0)) or 1.0
    segment_time = 8e-3 * float(flows.segment_bytes.mean()) / best_rate
    bend = np.array([0.0, best_filled, end])
    ideal_rate = np.array([0.0, best_rate, best_rate])
    ideal_rtt = np.array([best_rtt, best_rtt, best_rtt + (end - best_filled) * segment_time])

    def series(values: Floats, joint: float, best: float, ideal: Floats) -> tuple[Series, ...]:
        # Where the bottleneck is not sampled, nobody knows what would be best.
        drawn = [Series(bend, ideal, "line", "ideal")] if known else []
        drawn += [
            _point(filled[flow], values[flow], "subject", flow)
            for flow in range(count)
            if np.isfinite(filled[flow]) and np.isfinite(values[flow])
        ]
        if has_joint and np.isfinite(joint):
            drawn.append(_point(joint_filled, joint, "joint"))
        if known:
            drawn.append(_point(best_filled, best, "optimum"))
        return tuple(drawn)

    x = Axis("Mean in flight", "segments", lower=0, upper=end)
    return Figure(
        name="in_flight",
        title="In flight and mean operating point",
        alt="Two panels over the mean number of segments in flight: mean throughput in Mbps and "
        f"mean smoothed round-trip time in ms, for {counted(count, 'flow')}"
        f"{' and all of them together' * has_joint}; a star marks the optimum.",
        panels=(
            Panel(
                x,
                Axis("Mean throughput", "Mbps", lower=0),
                series(throughput, joint_throughput, best_rate, ideal_rate),
                name="throughput",
            ),
            Panel(
                x,
                Axis("Mean sRTT", "ms"),
                series(srtt, joint_srtt, best_rtt, ideal_rtt),
                name="srtt",
            ),
        ),
        subjects=of_flows(flows),
        roles=(
            *((("joint", "all flows together"),) if has_joint else ()),
            *((("optimum", "optimum"), ("ideal", "ideal network")) if known else ()),
        ),
    )


def _point(x: float, y: float, role: Role, subject: int = 0) -> Series:
    return Series(np.array([x]), np.array([y]), "points", role, subject)
