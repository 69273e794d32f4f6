"""What is on the site's pages: plain values, made from results, that templates only arrange."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ccperf import roles
from ccperf.catalogue import REGISTRY, published_scenarios
from ccperf.metrics import CLASSES, METRICS, SAMPLING, MetricTables
from ccperf.reproduce import published_command, reproduce
from ccperf.site import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ccperf.catalogue import Parameter
    from ccperf.metrics import Metric
    from ccperf.result import Result
    from ccperf.site.drawing import Drawn


@dataclass(frozen=True)
class Headline:
    """A column of the overviews: one number a run."""

    title: str
    unit: str
    #: The metric that it is taken from.
    metric: str

    @property
    def how(self) -> str:
        """How it is made of the metric's values, in words."""
        metric = METRICS[self.metric]
        if metric.scope == "network":
            return "all flows together"
        return (
            f"{metric.over_flows} over the {'flows' if metric.scope == 'flow' else 'bottlenecks'}"
        )


HEADLINES = (
    Headline("Throughput", "Mbps", "mean_agg_throughput_l4"),
    Headline("Utilisation", "1", "mean_agg_utilization_bw_l4"),
    Headline("sRTT", "ms", "mean_srtt_l4"),
    Headline("Jain", "1", "mean_jains_fairness_throughput_l4"),
    Headline("Drops", "packets", "total_qdisc_drops_l2"),
    Headline("Retransm.", "segments", "total_retransmissions_l4"),
)


@dataclass(frozen=True)
class Column:
    """A value of an overview: as printed, and what it is sorted by."""

    text: str
    order: str


@dataclass(frozen=True)
class Flow:
    """A row of the flow table."""

    name: str
    src: str
    dst: str
    transport_protocol: str
    cca: str
    cc_recovery_alg: str
    traffic_model: str
    start_time: str
    stop_time: str


@dataclass(frozen=True)
class Direction:
    """One direction of a link, and how many flows it limits."""

    name: str
    rate: str
    delay: str
    qdisc: str
    attributes: str
    loss: str
    flows: int


@dataclass(frozen=True)
class Reason:
    """How often a queue discipline dropped or marked for one reason."""

    link: str
    verdict: str
    reason: str
    packets: int


class RunView:
    """The page of a run, and its row in the overviews."""

    def __init__(self, result: Result, figures: Sequence[Drawn], database: str) -> None:
        self.id = result.id
        self.figures = figures
        self.database = database
        self.provenance = result.provenance
        self.experiment = REGISTRY.get(result.experiment or "")
        self.experiment_name = result.experiment or ""
        self.label = result.scenario.label or "scenario"
        self.parameters = {name: str(value) for name, value in result.parameters.items()}
        self.command = reproduce(result)
        self.published_command = published_command(result)
        self.published = published_scenarios().get(result.provenance.scenario_hash)
        self.scenario = result.scenario.canonical()
        self.flow_table = tables.table(result.flow_metrics)
        self.link_table = tables.table(result.link_metrics)
        self.network_table = tables.table(result.network_metrics)
        self.class_table = tables.table(result.class_metrics)
        self.flows = [_flow(flow) for flow in self.scenario["flows"]]
        self.bottlenecks = _bottlenecks(self.scenario, result.recording.flows.strings("bottleneck"))
        self.reasons = _reasons(result)
        self.changes = [_change(change) for change in self.scenario["changes"]]
        self.headlines = [_headline(each, result) for each in HEADLINES]
        self._json = result.json()

    @property
    def folder(self) -> str:
        """Where the run's files are, from the site's root."""
        return f"runs/{self.id}"

    @cached_property
    def algorithms(self) -> str:
        """The algorithm under test, or those of the flows."""
        of_flows = ", ".join(dict.fromkeys(flow.cca for flow in self.flows if flow.cca))
        return roles.under_test(self.parameters) or of_flows

    @property
    def title(self) -> str:
        """The experiment's title, or the scenario's label."""
        return self.experiment.title if self.experiment else self.experiment_name or self.label

    @property
    def point(self) -> dict[str, str]:
        """The parameters without the algorithm under test."""
        return roles.parameters(self.parameters)

    @property
    def point_text(self) -> str:
        """The parameters in one line."""
        return ", ".join(f"{name} = {value}" for name, value in self.point.items())

    @property
    def name(self) -> str:
        """Title, parameters and algorithm in one line, for the window's title."""
        return ": ".join(filter(None, [self.title, self.point_text]))

    @property
    def search(self) -> str:
        """What filters look through."""
        words = [
            self.id,
            self.experiment_name,
            self.title,
            self.label,
            self.algorithms,
            self.provenance.backend,
            f"seed={self.provenance.seed}",
            *(f"{name}={value}" for name, value in self.point.items()),
            "published" if self.published else "",
        ]
        return " ".join(filter(None, words)).lower()

    @property
    def parameter_rows(self) -> list[tuple[str, str, str]]:
        """`(name, value, meaning)` of each parameter."""
        known: Mapping[str, Parameter] = (
            {each.name: each for each in self.experiment.parameters} if self.experiment else {}
        )
        meanings = {roles.LABELS[role]: text for role, text in roles.MEANINGS.items()}
        return [
            (name, value, known[name].doc if name in known else meanings.get(name, ""))
            for name, value in self.parameters.items()
        ]

    def column(self, name: str) -> Column:
        """Return the value of a parameter; times and rates are sorted by size."""
        value = self.point.get(name, "")
        parameter = next(
            (
                each
                for each in (self.experiment.parameters if self.experiment else ())
                if each.name == name
            ),
            None,
        )
        return Column(value or tables.MISSING, _order(parameter, value))

    @property
    def json(self) -> str:
        """The run as `exec --json` prints it."""
        return json.dumps({**self._json, "command": self.command}, indent=1) + "\n"

    @property
    def scenario_json(self) -> str:
        """The canonical scenario."""
        return json.dumps(self.scenario, indent=1) + "\n"


class ExperimentView:
    """The page of an experiment, and its part of the index; name "" for scenarios of no one's."""

    def __init__(self, name: str, runs: Iterable[RunView]) -> None:
        self.name = name
        self.experiment = REGISTRY.get(name)
        self.runs = sorted(runs, key=self._order)
        #: Parameters by which the runs differ or the experiment is known.
        self.parameters = (
            [each.name for each in self.experiment.parameters]
            if self.experiment
            else list(dict.fromkeys(name for run in self.runs for name in run.point))
        )

    @property
    def title(self) -> str:
        """The experiment's title."""
        if self.experiment:
            return self.experiment.title
        return self.name or "Scenarios of your own"

    @property
    def page(self) -> str:
        """The page, from the site's root."""
        return f"experiments/{self.name}.html" if self.name else "index.html#own"

    @property
    def grid(self) -> int:
        """How many points the catalogue has."""
        return sum(1 for _ in self.experiment.grid()) if self.experiment else 0

    def _order(self, run: RunView) -> tuple[Any, ...]:
        known = self.experiment.parameters if self.experiment else ()
        values = [_order(parameter, run.point.get(parameter.name, "")) for parameter in known]
        return (
            [(0, float(each), "") if _is_number(each) else (1, 0.0, each) for each in values],
            run.algorithms,
            run.provenance.backend,
            run.provenance.seed,
            run.id,
        )


@dataclass(frozen=True)
class MetricView:
    """A metric's definition, taken apart for a page."""

    metric: Metric
    paragraphs: tuple[str, ...]
    sampled: bool


def metric_views() -> dict[str, list[MetricView]]:
    """Return every definition by scope."""
    views: dict[str, list[MetricView]] = {scope: [] for scope in MetricTables().by_scope}
    for metric in METRICS.values():
        parts = metric.definition.split("\n\n")
        paragraphs = tuple(
            " ".join(part.split())
            for part in parts
            if part not in (metric.formula, SAMPLING, CLASSES)
        )
        views[metric.scope].append(MetricView(metric, paragraphs, SAMPLING in parts))
    return views


def experiment_views(runs: Sequence[RunView]) -> list[ExperimentView]:
    """Return the experiments that have runs: the catalogue's in its order, then others."""
    names = [*REGISTRY, *sorted({run.experiment_name for run in runs} - {*REGISTRY, ""}), ""]
    views = [
        ExperimentView(name, [run for run in runs if run.experiment_name == name]) for name in names
    ]
    return [view for view in views if view.runs]


def _flow(flow: Mapping[str, Any]) -> Flow:
    application = flow["application"]
    settings = ", ".join(f"{key}={value}" for key, value in application.items() if key != "type")
    return Flow(
        name=flow["name"],
        src=flow["source"],
        dst=flow["destination"],
        transport_protocol=flow.get("transport", "TCP"),
        cca=flow["cc"]["type"] if "cc" in flow else "",
        cc_recovery_alg=flow["recovery"] if "cc" in flow else "",
        traffic_model=f"{application['type']}({settings})",
        start_time=flow["start"],
        stop_time=flow["stop"],
    )


def _bottlenecks(scenario: Mapping[str, Any], of_flows: Sequence[str]) -> list[Direction]:
    """Return both directions of each link that is some flow's bottleneck: ACKs go back over it."""
    rows = []
    for link in scenario["links"]:
        sides = {f"{link['name']}_{side}": link[side] for side in ("forward", "reverse")}
        for name, direction in sides.items() if sides.keys() & set(of_flows) else ():
            qdisc = direction["qdisc"] or {"type": "none", "attributes": {}}
            rows.append(
                Direction(
                    name=name,
                    rate=direction["rate"] or link["rate"],
                    delay=link["delay"],
                    qdisc=qdisc["type"],
                    attributes=", ".join(f"{k} = {v}" for k, v in qdisc["attributes"].items()),
                    loss=f"{direction['loss']:g}",
                    flows=of_flows.count(name),
                )
            )
    return rows


def _change(change: Mapping[str, Any]) -> dict[str, str]:
    what = [f"{key} {change[key]}" for key in ("rate", "delay", "loss") if change[key] is not None]
    return {
        "time": change["time"],
        "link": change["link"],
        "direction": change["direction"],
        "what": ", ".join(what),
    }


def _reasons(result: Result) -> list[Reason]:
    drops = result.recording.drops
    return [
        Reason(link, verdict.replace("_", " "), reason, int(packets))
        for link, verdict, reason, packets in zip(
            drops.strings("link"),
            drops.strings("verdict"),
            drops.strings("reason"),
            drops.array("packets"),
            strict=True,
        )
    ]


def _headline(headline: Headline, result: Result) -> Column:
    metric = METRICS[headline.metric]
    value = metric.of_run(result.metrics.of(metric.scope))
    if value is None:
        return Column(tables.MISSING, "")
    places = 0 if metric.kind == "count" else 2
    return Column(tables.number(value, places), repr(value))


def _order(parameter: Parameter | None, value: str) -> str:
    """Return what a value is sorted by: a number where it is one, else the text."""
    from ccperf import _native

    parse = {"time": _native.parse_time, "rate": _native.parse_rate}.get(
        parameter.kind if parameter else ""
    )
    if parse is None:
        return value
    try:
        return str(parse(value))
    except ValueError:
        return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
