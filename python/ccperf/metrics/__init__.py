"""Metrics: what a recording says, in numbers with a definition and a unit.

Each metric is one function in the file of its layer: `transport` (l4) and `application` (l7) for
flows, `link` (l1, l2) for the flows' bottlenecks, `network` and `convergence` for all flows
together, `completion` and `round_trips` for classes of transfers, `balancing` for what load
balancers do to flows and links.  The series they read are defined
in `series`, and figures draw the same ones; `transfers` says what classes there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

# isort: off
# Imported for what they register, in the order in which tables show the metrics.
from ccperf.metrics import transport, application, link, network, response  # noqa: F401
from ccperf.metrics import convergence, completion, round_trips, balancing  # noqa: F401

# isort: on
from ccperf.metrics.parallel import with_parallel
from ccperf.metrics.registry import METRICS, Metric, Scope, named
from ccperf.metrics.series import SAMPLING, FlowSeries, LinkSeries
from ccperf.metrics.transfers import CLASSES, Transfers, classes
from ccperf.metrics.windows import STEADY, STEADY_PREFIX, Later, Window

if TYPE_CHECKING:
    from ccperf.recording import Recording
    from ccperf.scenario import Scenario

__all__ = [
    "CLASSES",
    "METRICS",
    "SAMPLING",
    "STEADY",
    "STEADY_PREFIX",
    "FlowSeries",
    "LinkSeries",
    "Metric",
    "MetricTables",
    "Scope",
    "Transfers",
    "Window",
    "classes",
    "compute",
    "named",
]


@dataclass
class MetricTables:
    """The metrics of a run as `{column: {metric: value}}`, in full precision.

    A metric that has no samples is absent; there are no NaNs.  Columns are the flows and the links
    that the recording samples, `net`, and the classes of transfers if their ends are recorded.
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


def compute(scenario: Scenario, recording: Recording) -> MetricTables:
    """Compute every metric of what the recording holds.

    Of flows and links those that are sampled; of links only the flows' bottlenecks, unless the
    scenario names the links to record; of the network if all flows are sampled, or what needs no
    samples if it was recorded what load balancers do.

    Raises ValueError if the recording is not one of this scenario.
    """
    flows = FlowSeries(scenario, recording)
    is_named = scenario.parsed.get("recording", {}).get("links", "all") != "all"
    shown = None if is_named else set(recording.flows.strings("bottleneck"))
    links = LinkSeries(scenario, recording, shown and with_parallel(scenario.parsed, shown))
    groups = classes(recording)
    has_all = bool(flows.names) and flows.is_complete
    tables = MetricTables(
        flow={name: {} for name in flows.names},
        link={name: {} for name in links.names if shown is None or name in shown},
        network={"net": {}} if has_all or recording.reordering is not None else {},
        classes={name: {} for name in groups},
    )
    of_flows = {"whole": flows, "steady": Later(flows, flows.steady)}
    of_links = {"whole": links, "steady": Later(links, flows.steady)}
    for metric in METRICS.values():
        if metric.scope == "flow":
            values = metric.compute(of_flows[metric.window]).tolist()
            for name, value in zip(flows.names, values, strict=True):
                _add(tables.flow[name], metric, value)
        elif metric.scope == "link":
            values = metric.compute(of_links[metric.window]).tolist()
            for name, value in zip(links.names, values, strict=True):
                if name in tables.link:
                    _add(tables.link[name], metric, value)
        elif metric.scope == "class":
            for name, transfers in groups.items():
                _add(tables.classes[name], metric, metric.compute(transfers))
        elif tables.network and (has_all or not metric.is_sampled):
            _add(tables.network["net"], metric, metric.compute(of_flows[metric.window]))
    return tables


def _add(table: dict[str, float], metric: Metric, value: float) -> None:
    if not math.isnan(value):
        table[metric.name] = value
