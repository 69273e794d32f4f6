"""How throughput and sRTT are distributed over the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.base.wording import counted
from ccperf.present.figures.figure import Axis, Figure, Floats, Line, Panel, Series, of_flows
from ccperf.present.figures.optimum import Optimum, common, constant
from ccperf.present.figures.registry import figure

if TYPE_CHECKING:
    from ccperf.runs.metrics import FlowSeries


@figure("Distribution of the operating point")
def distribution(flows: FlowSeries) -> Figure:
    """Empirical distribution functions of throughput (l4) and smoothed RTT of each flow.

    A point (v, p) says that the share p of the grid's values is at most v. Dotted: the optimum, an
    equal share of what the bottleneck can carry of payload, and the propagation RTT.
    """
    optimum = Optimum(flows)
    # No share is equal where those that share never all send at once.
    shared = common(optimum.rate) if flows.are_all_there.any() else None
    rate, rtt = constant(shared), constant(common(optimum.rtt))
    count = len(flows.names)
    return Figure(
        name="distribution",
        title="Distribution of the operating point",
        alt=f"Empirical cumulative distribution functions for {counted(count, 'flow')}: "
        "throughput in Mbps on the left, smoothed round-trip time in ms on the right.",
        panels=(
            _panel(Axis("Throughput", "Mbps", lower=0), flows.throughput_l4, rate),
            _panel(Axis("sRTT", "ms"), flows.srtt, rtt),
        ),
        subjects=of_flows(flows),
        roles=()
        if rate is None and rtt is None
        else (("optimum", "optimum" if count == 1 else "optimum, equal shares"),),
        side_by_side=True,
    )


def ecdf(values: Floats) -> tuple[Floats, Floats]:
    """Return (v, p): the values in order and the share of values at or below each; NaN is none.

    The first point is (v_1, 0), where the function starts to rise.
    """
    ordered = np.sort(values[~np.isnan(values)])
    if not ordered.size:
        return ordered, ordered
    shares = np.arange(1, ordered.size + 1) / ordered.size
    return np.concatenate([ordered[:1], ordered]), np.concatenate([[0.0], shares])


def _panel(x: Axis, values: Floats, best: float | None) -> Panel:
    series = tuple(
        Series(*ecdf(values[:, index]), "ecdf", "subject", index)
        for index in range(values.shape[1])
    )
    lines = () if best is None else (Line("x", best, "optimum"),)
    name = "throughput" if x.label == "Throughput" else "srtt"
    return Panel(x, Axis("Share of samples", lower=0, upper=1.02), series, lines, name)
