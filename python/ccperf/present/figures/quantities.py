"""What can be drawn over time, as a table: each quantity with its unit and where it comes from.

Pages draw runs in the browser from the same table (`site/static/quantities.js`), also runs that are
made there; it reaches them as data, so that what a figure shows is said here only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ccperf.present.figures.optimum import Optimum, common
from ccperf.runs.diagnoses import UNBOUNDED_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.present.figures.figure import Axis, Floats, Shape
    from ccperf.runs.metrics import FlowSeries

Of: TypeAlias = Literal["flow", "link"]


@dataclass(frozen=True)
class Quantity:
    """A column of numbers for each flow, or for each bottleneck."""

    name: str
    label: str
    unit: str
    of: Of
    shape: Shape
    #: Where its axis begins; None: where data do.
    lower: float | None = 0
    #: Whether a network without a queue and with equal shares has a value to compare with.
    has_optimum: bool = False


QUANTITIES: Mapping[str, Quantity] = {
    each.name: each
    for each in (
        Quantity("throughput", "Throughput", "Mbps", "flow", "step", has_optimum=True),
        Quantity("srtt", "sRTT", "ms", "flow", "line", None, has_optimum=True),
        Quantity("in_flight", "In flight", "segments", "flow", "line", has_optimum=True),
        Quantity("cwnd", "cwnd", "segments", "flow", "line"),
        Quantity("ssthresh", "ssthresh", "segments", "flow", "line"),
        Quantity("retransmissions", "retransmissions", "segments", "flow", "ticks"),
        Quantity("rtos", "timeouts", "", "flow", "ticks"),
        Quantity("utilisation", "Utilisation", "%", "link", "step"),
        Quantity("length", "Queue", "packets", "link", "line"),
        Quantity("sojourn", "Sojourn time", "ms", "link", "line"),
        Quantity("drops", "drops", "packets", "link", "ticks"),
        Quantity("marks", "marks", "packets", "link", "ticks"),
    )
}


@dataclass(frozen=True)
class Strip:
    """One panel over time: what its axis shows, and what is drawn into it besides."""

    quantity: str
    #: Drawn dashed in the same units.
    dashed: tuple[str, ...] = ()
    #: Drawn as ticks at the lower edge.
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """A figure over time: strips one above the other."""

    name: str
    title: str
    caption: str
    strips: tuple[Strip, ...]
    #: Whether the senders' congestion states stand beneath, where they are known.
    has_states: bool = False

    @property
    def is_of_links(self) -> bool:
        """Whether it shows bottlenecks; else flows."""
        return QUANTITIES[self.strips[0].quantity].of == "link"


def columns(flows: FlowSeries) -> dict[str, Floats]:
    """Return every quantity of a run: shape (n - 1, flows), or (n - 1, bottlenecks).

    States and rates of a flow begin and end with it: its last sRTT is nobody's any more.
    """
    links = flows.links
    shown = bottlenecks(flows)

    def living(values: Floats) -> Floats:
        return np.where(flows.is_living, values, np.nan)

    def bounded(segments: Floats) -> Floats:
        is_bounded = segments * flows.segment_bytes < UNBOUNDED_BYTES
        return living(np.where(is_bounded, segments, np.nan))

    return {
        "throughput": living(flows.throughput_l4),
        "srtt": living(flows.srtt),
        "in_flight": living(flows.in_flight),
        "cwnd": bounded(flows.cwnd),
        "ssthresh": bounded(flows.ssthresh),
        "retransmissions": flows.retransmissions,
        "rtos": flows.rtos,
        "utilisation": links.utilization[:, shown],
        "length": links.qdisc_length[:, shown],
        "sojourn": links.sojourn[:, shown],
        "drops": links.drops[:, shown],
        "marks": links.marks[:, shown],
    }


def bottlenecks(flows: FlowSeries) -> list[int]:
    """Return which of the sampled directions are some flow's bottleneck, by their column."""
    used = set(flows.bottleneck.tolist())
    return [column for column, port in enumerate(flows.links.positions.tolist()) if port in used]


def optima(flows: FlowSeries) -> dict[str, Floats]:
    """Return the best that the network allows, over time, where it is the same for all flows.

    An equal share is one only while all flows that share may send.
    """
    optimum = Optimum(flows)
    found = {"srtt": common(optimum.rtt)}
    together = flows.are_all_there.all(axis=1)
    for name, values in (("throughput", optimum.rate), ("in_flight", optimum.in_flight)):
        share = common(values)
        if share is not None and together.any():
            found[name] = np.where(together, share, np.nan)
    return {name: values for name, values in found.items() if values is not None}


def axis(quantity: Quantity) -> Axis:
    """Return the axis that shows a quantity."""
    from ccperf.present.figures.figure import Axis

    return Axis(quantity.label, quantity.unit, lower=quantity.lower)
