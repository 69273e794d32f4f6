"""The plane of mean operating points: what throughput at what delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.base.wording import counted
from ccperf.present.figures.figure import Axis, Figure, Panel, Series, of_flows
from ccperf.present.figures.optimum import Optimum, common
from ccperf.present.figures.registry import figure
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.runs.metrics import FlowSeries


@figure("Mean operating point plane")
def operating_point(flows: FlowSeries) -> Figure:
    """Mean throughput (l4) against mean smoothed RTT, one point per flow: up and left is better.

    Star: the optimum, an equal share of what the bottleneck can carry of payload at the propagation
    RTT (both means over time); one star where all flows have the same, none where those that share
    never all send at once.
    """
    optimum = Optimum(flows)
    throughput, srtt = mean(flows.throughput_l4), mean(flows.srtt)
    best_rate, best_rtt = mean(optimum.rate), mean(optimum.rtt)
    if common(best_rate) is not None and common(best_rtt) is not None:
        best_rate, best_rtt = best_rate[:1], best_rtt[:1]
    points = [
        Series(srtt[index : index + 1], throughput[index : index + 1], "points", "subject", index)
        for index in range(len(flows.names))
    ]
    # Not where the bottleneck is not sampled, and where those that share never all send at once.
    known = bool(np.isfinite(best_rate).any() and flows.are_all_there.any())
    if known:
        points.append(Series(best_rtt, best_rate, "points", "optimum"))
    count = len(flows.names)
    return Figure(
        name="operating_point",
        title="Mean operating point plane",
        alt=f"Scatter plot of mean throughput in Mbps against mean smoothed round-trip time in ms, "
        f"one point for each of {counted(count, 'flow')}; a star marks the optimum.",
        panels=(
            Panel(
                Axis("Mean sRTT", "ms"),
                Axis("Mean throughput", "Mbps", lower=0),
                tuple(series for series in points if np.isfinite(series.x).any()),
            ),
        ),
        subjects=of_flows(flows),
        roles=(("optimum", "optimum" if count == 1 else "optimum, equal shares"),) if known else (),
    )
