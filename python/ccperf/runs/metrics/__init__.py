"""Metrics: what a recording says, in numbers with a definition and a unit.

Each metric is one function in the file of its layer: `transport` (l4) and `application` (l7) for
flows, `link` (l1, l2) for the flows' bottlenecks, `network` and `convergence` for all flows
together, `completion` and `round_trips` for classes of transfers, `balancing` for what load
balancers do to flows and links, `pauses` for priority-based flow control, `trimming` for
switches that cut packets.  The series they read are defined in `series`, and figures draw the
same ones; `transfers` says what classes there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

# isort: off
# Imported for what they register, in the order in which tables show the metrics.
from ccperf.runs.metrics import transport, application, link, network, response  # noqa: F401
from ccperf.runs.metrics import convergence, completion, round_trips, balancing  # noqa: F401
from ccperf.runs.metrics import pauses, trimming  # noqa: F401

# isort: on
from ccperf.runs.metrics.grid import SAMPLING
from ccperf.runs.metrics.link_series import LinkSeries
from ccperf.runs.metrics.parallel import with_parallel
from ccperf.runs.metrics.registry import (
    METRICS,
    Better,
    Effect,
    Metric,
    Scope,
    census,
    metric_named,
    named,
)
from ccperf.runs.metrics.series import FlowSeries
from ccperf.runs.metrics.transfers import CLASSES, SIZE_CLASSES, Transfers, classes
from ccperf.runs.metrics.windows import STEADY, STEADY_PREFIX, Later, Window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.runs.recording import Recording
    from ccperf.scenario.canonical import Runnable

__all__ = [
    "CLASSES",
    "METRICS",
    "SAMPLING",
    "SIZE_CLASSES",
    "STEADY",
    "STEADY_PREFIX",
    "Better",
    "Effect",
    "FlowSeries",
    "LinkSeries",
    "Metric",
    "MetricTables",
    "Scope",
    "Transfers",
    "Window",
    "census",
    "classes",
    "compute",
    "metric_named",
    "named",
]


@dataclass
class MetricTables:
    """The metrics of a run as `{column: {metric: value}}`, in full precision.

    A metric that has no samples is absent; there are no NaNs.  Columns are the flows and the links
    that the recording samples, `net`, the classes of transfers if their ends are recorded, and the
    groups of flows that never end: of these the metrics of flows, one value of all of a group.
    """

    flow: dict[str, dict[str, float]] = field(default_factory=dict)
    link: dict[str, dict[str, float]] = field(default_factory=dict)
    network: dict[str, dict[str, float]] = field(default_factory=dict)
    classes: dict[str, dict[str, float]] = field(default_factory=dict)

    def of(self, scope: Scope) -> dict[str, dict[str, float]]:
        """Return the columns of the metrics of a scope."""
        return self.by_scope[scope]

    @property
    def by_scope(self) -> dict[Scope, dict[str, dict[str, float]]]:
        """The columns of every scope, in the order in which tables show them."""
        return {
            "flow": self.flow,
            "link": self.link,
            "network": self.network,
            "class": self.classes,
        }


def compute(scenario: Runnable, recording: Recording) -> MetricTables:
    """Compute every metric of what the recording holds.

    Of flows and links those that are sampled; of links only the flows' bottlenecks (those of static
    paths, and all among which a balancer chooses in place of one), unless the scenario names the
    links to record; of the network if all flows are sampled, or what needs no
    samples if it was recorded what load balancers do, or what became of flows without an end.

    Raises ValueError if the recording is not one of this scenario.
    """
    flows = FlowSeries(scenario, recording)
    is_named = scenario.parsed.get("recording", {}).get("links", "all") != "all"
    of_static = set(recording.flows.strings("bottleneck"))
    shown = None if is_named else with_parallel(scenario.parsed, of_static)
    links = flows.links if shown == of_static else LinkSeries(scenario, recording, shown)
    groups = classes(recording, scenario.parsed)
    has_all = bool(flows.names) and flows.is_complete
    has_totals = recording.reordering is not None or len(flows.goodputs) > 1
    has_network = has_all or has_totals
    of_flows = {"whole": flows, "steady": Later(flows, flows.steady)}
    of_links = {"whole": links, "steady": Later(links, links.steady)}
    values: dict[Scope, dict[str, Any]] = {scope: {} for scope in MetricTables().by_scope}
    for name, metric in METRICS.items():
        if metric.scope == "flow":
            values["flow"][name] = metric.compute(of_flows[metric.window]).tolist()
        elif metric.scope == "link":
            values["link"][name] = metric.compute(of_links[metric.window]).tolist()
        elif metric.scope == "class":
            values["class"][name] = [metric.compute(transfers) for transfers in groups.values()]
        elif has_all or (has_network and not metric.is_sampled):
            values["network"][name] = [metric.compute(of_flows[metric.window])]
    of_links_found = _columns(links.names, values["link"])
    of_flows_found = _columns(flows.names, values["flow"])
    of_classes_found = _columns(list(groups), values["class"])
    for group, columns in _endless(flows, of_flows_found).items():
        of_run = ((name, METRICS[name].of_run(columns)) for name in METRICS)
        found = {name: value for name, value in of_run if value is not None}
        of_classes_found[group] = {**of_classes_found.get(group, {}), **found}
    return MetricTables(
        flow=of_flows_found,
        link={
            name: found for name, found in of_links_found.items() if shown is None or name in shown
        },
        network=_columns(["net"] if has_network else [], values["network"]),
        classes=of_classes_found,
    )


def _endless(
    flows: FlowSeries, found: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the metrics of those flows of each group that never end, by group and flow."""
    of_group: dict[str, dict[str, dict[str, float]]] = {}
    for name, group, is_endless in zip(flows.names, flows.groups, flows.is_endless, strict=True):
        if group and is_endless:
            of_group.setdefault(group, {})[name] = found[name]
    return of_group


def _columns(
    names: Sequence[str], values: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, float]]:
    """Return the metrics of each column; NaN is no value."""
    return {
        name: {metric: value for metric, value in zip(values, row, strict=True) if value == value}
        for name, row in zip(names, zip(*values.values(), strict=True), strict=True)
    }
