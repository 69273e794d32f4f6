"""The figures over time: the operating point, the congestion window, the bottleneck's queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.present.figures import states
from ccperf.present.figures.figure import (
    MANY_FLOWS,
    Axis,
    Figure,
    Panel,
    Role,
    Series,
    Subject,
    of_flows,
    the_one,
)
from ccperf.present.figures.quantities import (
    QUANTITIES,
    Strip,
    Timeline,
    axis,
    bottlenecks,
    columns,
    optima,
)
from ccperf.present.figures.registry import figure
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.present.figures.figure import Floats
    from ccperf.runs.metrics import FlowSeries

TIMELINES: Mapping[str, Timeline] = {
    each.name: each
    for each in (
        Timeline(
            "time_series",
            "Time series of the operating point",
            "Segments in flight, smoothed RTT and throughput (l4) of each flow over time. "
            "In flight and sRTT are values at the grid points, throughput is the mean of the "
            "interval that ends there. Dotted: the optimum, an equal share of what the bottleneck "
            "can carry of payload, without a queue, while all flows that share it may send. A line "
            "is as long as its flow. With more than ten flows the mean of those that are there is "
            "drawn, too.",
            (Strip("in_flight"), Strip("srtt"), Strip("throughput")),
        ),
        Timeline(
            "window",
            "Congestion window",
            "Congestion window of each flow over time, dashed its slow start threshold once it has "
            "one; ticks are intervals with retransmissions, and with retransmission timeouts "
            "(taller). A window without bound is not drawn. Beneath, where every change is "
            "recorded, the state of the sender: Open, Disorder, CWR, Recovery or Loss.",
            (Strip("cwnd", dashed=("ssthresh",), ticks=("retransmissions", "rtos")),),
            has_states=True,
        ),
        Timeline(
            "queue",
            "Bottleneck",
            "How much of the bottleneck's rate is used in each interval, how many packets wait in "
            "its queue discipline, and how long the packet that left last had waited; ticks are "
            "intervals in which packets were dropped, and marked (shorter).",
            (
                Strip("utilisation"),
                Strip("length", ticks=("drops", "marks")),
                Strip("sojourn"),
            ),
        ),
    )
}


def describe(timeline: Timeline, flows: FlowSeries) -> Figure:
    """Describe a figure over time of a run."""
    values, best = columns(flows), optima(flows)
    time = Axis("Time", "s", lower=0, upper=float(flows.time[-1]))
    times = flows.time, flows.begins
    panels = tuple(_panel(strip, time, times, values, best) for strip in timeline.strips)
    if timeline.has_states and (beneath := states.panel(time, flows)):
        panels = (*panels, beneath)
    run = the_one(flows.algorithms)
    subjects = (
        tuple(Subject(flows.links.names[column], algorithm=run) for column in bottlenecks(flows))
        if timeline.is_of_links
        else of_flows(flows)
    )
    what = "bottleneck" if timeline.is_of_links else "flow"
    shown = ", ".join(panel.y.title for panel in panels)
    besides = [QUANTITIES[n].label for s in timeline.strips for n in (*s.dashed, *s.ticks)]
    drawn = {series.role for panel in panels for series in panel.series}
    labels: dict[Role, str] = {
        "mean": f"mean of the {what}s",
        "optimum": "optimum" if len(subjects) == 1 else "optimum, equal shares",
    }
    return Figure(
        name=timeline.name,
        title=timeline.title,
        alt=f"{counted(len(panels), 'panel')} over time for {counted(len(subjects), what)}: {shown}"
        f"{'; with ' * bool(besides)}{', '.join(besides)}.",
        panels=panels,
        subjects=subjects,
        roles=tuple((role, label) for role, label in labels.items() if role in drawn),
    )


def _panel(
    strip: Strip,
    x: Axis,
    times: tuple[Floats, float | None],
    values: Mapping[str, Floats],
    best: Mapping[str, Floats],
) -> Panel:
    quantity = QUANTITIES[strip.quantity]
    time, first = times
    begins = first if quantity.shape == "step" else None
    own = values[strip.quantity]
    count = own.shape[1]
    series = [
        Series(time, own[:, index], quantity.shape, "subject", index, begins=begins)
        for index in range(count)
    ]
    if quantity.has_optimum and strip.quantity in best:
        series.append(Series(time, best[strip.quantity], "step", "optimum", begins=first))
    if count > MANY_FLOWS:
        series.append(Series(time, mean(own.T), quantity.shape, "mean", begins=begins))
    for name in strip.dashed:
        label = QUANTITIES[name].label
        series += [
            replace(
                one,
                y=values[name][:, one.subject],
                shape="line",
                is_dashed=True,
                label=label,
                begins=None,
            )
            for one in series[:count]
        ]
    for rank, name in enumerate(strip.ticks):
        series += [
            Series(
                time[struck],
                values[name][struck, index],
                "ticks",
                "subject",
                index,
                rank=rank,
                label=QUANTITIES[name].label,
            )
            for index in range(count)
            if (struck := values[name][:, index] > 0).any()
        ]
    return Panel(x, axis(quantity), tuple(series), (), quantity.name)


def _register(timeline: Timeline) -> None:
    def describes(flows: FlowSeries) -> Figure:
        return describe(timeline, flows)

    describes.__name__ = timeline.name
    describes.__doc__ = timeline.caption
    figure(timeline.title)(describes)


for _timeline in TIMELINES.values():
    _register(_timeline)
