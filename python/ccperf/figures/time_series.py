"""Segments in flight, sRTT and throughput of each flow over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.figures.figure import (
    MANY_FLOWS,
    Axis,
    Figure,
    Floats,
    Panel,
    Role,
    Series,
    Shape,
    of_flows,
)
from ccperf.figures.optimum import Optimum, common
from ccperf.figures.registry import figure
from ccperf.metrics.statistics import mean

if TYPE_CHECKING:
    from ccperf.metrics import FlowSeries


@figure("Time series of the operating point")
def time_series(flows: FlowSeries) -> Figure:
    """Segments in flight, smoothed RTT and throughput (l4) of each flow over time.

    In flight and sRTT are values at the grid points, throughput is the mean of the interval that
    ends there. Dotted: the optimum, an equal share of the bottleneck's rate without a queue. With
    more than ten flows their mean is drawn as well.
    """
    optimum = Optimum(flows)
    time = Axis("Time", "s", lower=0, upper=float(flows.time[-1]))
    rtt = common(optimum.rtt)
    panels = (
        _panel(
            flows,
            time,
            Axis("In flight", "segments", lower=0),
            flows.in_flight,
            "line",
            common(optimum.in_flight),
        ),
        _panel(
            flows,
            time,
            Axis("sRTT", "ms"),
            flows.srtt,
            "line",
            None if rtt is None else np.full(flows.time.shape, float(rtt)),
        ),
        _panel(
            flows,
            time,
            Axis("Throughput", "Mbps", lower=0),
            flows.throughput_l4,
            "step",
            common(optimum.rate),
        ),
    )
    count = len(flows.names)
    drawn = {series.role for panel in panels for series in panel.series}
    labels: dict[Role, str] = {
        "mean": "mean of the flows",
        "optimum": "optimum" if count == 1 else "optimum, equal shares",
    }
    return Figure(
        name="time_series",
        title="Time series of the operating point",
        alt=f"Three panels over time for {count} flow{'s' * (count != 1)}: segments in flight, "
        "smoothed round-trip time in ms, throughput in Mbps.",
        panels=panels,
        subjects=of_flows(flows.names),
        roles=tuple((role, label) for role, label in labels.items() if role in drawn),
    )


def _panel(
    flows: FlowSeries, x: Axis, y: Axis, values: Floats, shape: Shape, best: Floats | None
) -> Panel:
    count = len(flows.names)
    series = [
        Series(flows.time, values[:, index], shape, "subject", index) for index in range(count)
    ]
    if best is not None:
        series.append(Series(flows.time, best, "step", "optimum"))
    if count > MANY_FLOWS:
        series.append(Series(flows.time, mean(values.T), shape, "mean"))
    return Panel(x, y, tuple(series))
