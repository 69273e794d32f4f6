"""Metrics: what a recording says, in numbers with a definition and a unit.

Each metric is one function in the file of its layer: `transport` (l4) and `application` (l7) for
flows, `link` (l1, l2) for the flows' bottlenecks, `network` for all flows together.  The series
they read are defined in `series`, and figures draw the same ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

# isort: off
# Imported for what they register, in the order in which tables show the metrics.
from ccperf.metrics import transport, application, link, network  # noqa: F401

# isort: on
from ccperf.metrics.registry import METRICS, Metric, Scope
from ccperf.metrics.series import SAMPLING, FlowSeries, LinkSeries

if TYPE_CHECKING:
    from ccperf.recording import Recording
    from ccperf.scenario import Scenario

__all__ = [
    "METRICS",
    "SAMPLING",
    "FlowSeries",
    "LinkSeries",
    "Metric",
    "MetricTables",
    "Scope",
    "compute",
]


@dataclass
class MetricTables:
    """The metrics of a run as `{column: {metric: value}}`, in full precision.

    A metric that has no samples is absent; there are no NaNs.
    """

    flow: dict[str, dict[str, float]] = field(default_factory=dict)
    link: dict[str, dict[str, float]] = field(default_factory=dict)
    network: dict[str, dict[str, float]] = field(default_factory=dict)

    def of(self, scope: Scope) -> dict[str, dict[str, float]]:
        """Return the columns of the metrics of a scope."""
        columns: dict[str, dict[str, float]] = getattr(self, scope)
        return columns


def compute(scenario: Scenario, recording: Recording) -> MetricTables:
    """Compute every metric of every flow, of the flows' bottleneck directions and of the network.

    Raises ValueError if the recording is not one of this scenario.
    """
    flows = FlowSeries(scenario, recording)
    links = LinkSeries(scenario, recording)
    bottlenecks = sorted(set(flows.bottleneck.tolist()))
    tables = MetricTables(
        flow={name: {} for name in flows.names},
        link={links.names[index]: {} for index in bottlenecks},
        network={"net": {}} if flows.names else {},
    )
    for metric in METRICS.values():
        if metric.scope == "flow":
            for name, value in zip(flows.names, metric.compute(flows).tolist(), strict=True):
                _add(tables.flow[name], metric, value)
        elif metric.scope == "link":
            values = metric.compute(links).tolist()
            for index in bottlenecks:
                _add(tables.link[links.names[index]], metric, values[index])
        elif flows.names:
            _add(tables.network["net"], metric, metric.compute(flows))
    return tables


def _add(table: dict[str, float], metric: Metric, value: float) -> None:
    if not math.isnan(value):
        table[metric.name] = value
