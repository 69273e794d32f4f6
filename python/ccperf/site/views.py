"""What is on the site's pages: plain values, made from results, that templates only arrange."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import roles
from ccperf.evidence.values import quantity
from ccperf.experiments.catalogue import published_scenarios
from ccperf.present import varying
from ccperf.present.figures import topology
from ccperf.present.reproduce import commands
from ccperf.runs.diagnoses import RULES, grouped
from ccperf.runs.metrics import CLASSES, METRICS, SAMPLING, MetricTables, metric_named
from ccperf.site import tables
from ccperf.site.drawing import DATA_FILE
from ccperf.site.engine import LiveView
from ccperf.site.naming import slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.experiments.catalogue import Parameter
    from ccperf.experiments.published import Published
    from ccperf.runs.metrics import Metric
    from ccperf.runs.result import Result
    from ccperf.site.drawing import Picture
    from ccperf.site.inventory import Group, Page


@dataclass(frozen=True)
class Headline:
    """A column of the tables of runs: one number a run."""

    #: As tables call it, `small.p99_fct_l4`.
    metric: str

    @property
    def definition(self) -> Metric:
        """The metric."""
        return metric_named(self.metric)

    @property
    def title(self) -> str:
        """What it is called in words."""
        return self.definition.title

    @property
    def unit(self) -> str:
        """Its unit; empty for ratios."""
        return self.definition.shown_unit

    @property
    def how(self) -> str:
        """How it is made of the metric's values, in words."""
        metric = self.definition
        if metric.scope == "class":
            plain = METRICS[self.metric.rpartition(".")[2]]
            if plain.scope == "flow":
                return f"{plain.over_flows} over the flows of the group"
            return "of the transfers that ended"
        if metric.scope == "network":
            return "all flows together"
        over = "flows" if metric.scope == "flow" else "bottlenecks"
        return f"{'largest' if metric.over_flows == 'max' else metric.over_flows} over the {over}"


def headlines(group: Group) -> list[Headline]:
    """Return the columns of a group's runs: what it declares and there are values of."""
    return [Headline(name) for name in group.headlines]


#: What of a link's rate is used, in %; and how many directions are worth a map.
_USED = "used_capacity_l1"
_WORTH_A_MAP = 4
#: A link with more than this share of its rate in use, in %, has a queue.
_FULL = 90

#: Tables have at most so many flows; all of them are in the page's download.
MOST_FLOWS = 20


@dataclass(frozen=True)
class Column:
    """A value of an overview: as printed, and what it is sorted by."""

    text: str
    order: str

    @property
    def order_differs(self) -> bool:
        """Whether a script could not sort by what is printed."""
        return not self.text.replace(".", "", 1).isdigit()


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


@dataclass(frozen=True)
class Interval:
    """A mean over seeds: as printed, its interval if there is one, and what it is sorted by."""

    text: str
    spread: str
    order: str
    #: Both with all digits, and how many seeds.
    full: str
    #: `never in 1 of 3`, where what it is of did not come with each seed.
    never: str = ""


class PageView:
    """A page's row in the overviews."""

    def __init__(self, page: Page, group: Group) -> None:
        self.page = page
        self._group = group

    @property
    def short(self) -> str:
        """The beginning of the id of the run that is shown first."""
        return self.page.id[:8]

    @cached_property
    def published(self) -> Published | None:
        """The published page that one of the runs is."""
        known = published_scenarios()
        rows = (self.page.cell.records[seed].row for seed in self.page.seeds)
        return next(
            (found for row in rows if (found := known.get(row.provenance.scenario_hash))), None
        )

    @property
    def name(self) -> str:
        """Title and parameters in one line."""
        return ": ".join(filter(None, [self.page.title, self.page.point_text]))

    @property
    def search(self) -> str:
        """What filters look through."""
        row = self.page.record.row
        words = [
            *self.page.runs,
            self.page.experiment,
            self.page.title,
            row.label or "scenario",
            self.page.algorithm,
            row.backend,
            *(f"seed={seed}" for seed in self.page.seeds),
            *(f"{name}={value}" for name, value in self.page.point.items()),
            *(f"{name}={value}" for name, value in self.page.settings.items()),
            "published" if self.published else "",
        ]
        return " ".join(filter(None, words)).lower()

    def column(self, name: str) -> Column:
        """Return the value of a parameter or setting; times and rates are sorted by size."""
        value = self.page.point.get(name) or self._group.setting(self.page, name)
        found = quantity(value) if value else None
        return Column(value or tables.MISSING, value if found is None else repr(found.size))

    @cached_property
    def headlines(self) -> list[Interval]:
        """The numbers of the overviews."""
        return [interval(self.page, name) for name in self._group.headlines]


def interval(page: Page, name: str) -> Interval:
    """Return a metric's mean over the seeds of a page."""
    metric = metric_named(name)
    of_seeds = page.cell.metrics.values()
    never = sum(map(metric.is_never, of_seeds))
    summary = page.cell.summary(name)
    if not summary:
        return Interval(*(("never", "", "", "never") if never else _NOTHING))
    places = 0 if metric.kind == "count" and summary.n == 1 else 2
    full = repr(summary.mean)
    if summary.half_width is not None:
        full += f" ± {summary.half_width!r}, {summary.n} seeds"
    spread = tables.spread(summary.half_width, places)
    said = f"never in {never} of {len(of_seeds)}" if never else ""
    return Interval(tables.number(summary.mean, places), spread, f"{summary.mean:.6g}", full, said)


_NOTHING = (tables.MISSING, "", "", "no samples")


@dataclass(frozen=True)
class SeedRow:
    """One seed of a page: its run, and its numbers."""

    seed: int
    run: str
    file: str
    headlines: list[Column]


class RunView:
    """The page of runs: the tables of the one that it shows first, and all its seeds."""

    def __init__(
        self,
        result: Result,
        page: Page,
        group: Group,
        picture: Picture | None,
    ) -> None:
        self.page = page
        self._group = group
        self.row = PageView(page, group)
        self.axes = group.beside(page)
        self.picture = picture
        self.id = result.id
        self.database = page.record.database.name
        self.provenance = result.provenance
        self.experiment = page.described
        self.experiment_name = page.experiment
        self.label = result.scenario.label or "scenario"
        self.command, self.published_command = commands(result)
        self.published = published_scenarios().get(result.provenance.scenario_hash)
        self.scenario = result.scenario.parsed
        self.own = result.scenario.user_code
        shown = dict(islice(result.flow_metrics.items(), MOST_FLOWS))
        self.flow_table = tables.table(shown)
        self.link_table = tables.table(result.link_metrics)
        self.network_table = tables.table(result.network_metrics)
        self.class_table = tables.table(result.class_metrics)
        self.heat = _heat(self.scenario, result.link_metrics)
        self.flows = [_flow(flow) for flow in self.scenario["flows"][:MOST_FLOWS]]
        self.all_flows = len(self.scenario["flows"])
        self.bottlenecks = _bottlenecks(self.scenario, result.recording.flows.strings("bottleneck"))
        self.reasons = _reasons(result)
        self.notes = grouped(result.notes)
        self.habits = {m: each.rule for each, _ in self.notes if (m := RULES[each.rule].metric)}
        self.changes = [_change(change) for change in self.scenario["changes"]]
        # The scenario only where no command makes it.
        self._json = result.json(scenario=self.command is None)
        self._parameters = {name: str(value) for name, value in result.parameters.items()}

    @property
    def headlines(self) -> list[Headline]:
        """The columns of the table of seeds."""
        return headlines(self._group)

    @property
    def answers(self) -> list[tuple[Headline, Interval]]:
        """What the page says first: the headlines that there are values of."""
        found = zip(self.headlines, self.row.headlines, strict=True)
        return [(headline, of) for headline, of in found if of.text != tables.MISSING]

    @property
    def classes(self) -> str:
        """What the table of classes is of: transfers, or groups of flows that never end."""
        is_of_transfers = any(row.metric.scope == "class" for row in self.class_table.rows)
        return "Completion times" if is_of_transfers else "Groups of flows"

    @property
    def live(self) -> LiveView:
        """The scenario, to be changed in the page."""
        command = self.command or f"ccperf run {self.id}.json"
        return LiveView("scenario.js", command, self.algorithms, own=self.own)

    @property
    def algorithms(self) -> str:
        """The algorithm under test, or those of the flows."""
        return self.page.algorithm

    @property
    def title(self) -> str:
        """The experiment's title, or the scenario's label."""
        return self.page.title

    @property
    def point_text(self) -> str:
        """The parameters in one line."""
        return self.page.point_text

    @property
    def name(self) -> str:
        """Title, parameters and algorithm in one line, for the window's title."""
        return self.row.name

    @cached_property
    def seeds(self) -> list[SeedRow]:
        """Every run of the page."""
        cell = self.page.cell
        return [
            SeedRow(
                seed,
                cell.runs[seed],
                DATA_FILE if cell.runs[seed] == self.id else f"{slug(cell.runs[seed])}.js",
                [_headline(name, cell.metrics[seed]) for name in self._group.headlines],
            )
            for seed in self.page.seeds
        ]

    @property
    def parameter_rows(self) -> list[tuple[str, str, str]]:
        """`(name, value, meaning)` of each parameter."""
        known: Mapping[str, Parameter] = (
            {each.name: each for each in self.experiment.parameters} if self.experiment else {}
        )
        meanings = {roles.LABELS[role]: text for role, text in roles.MEANINGS.items()}
        return [
            (name, value, known[name].doc if name in known else meanings.get(name, ""))
            for name, value in self._parameters.items()
        ]

    @property
    def group_href(self) -> str:
        """The experiment's page, from the site's root."""
        return self._group.href

    @property
    def json(self) -> str:
        """The run as `exec --json` prints it, and the command that makes it."""
        said = {**self._json, "command": self.command}
        return json.dumps(said, separators=(",", ":")) + "\n"


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


def _flow(flow: Mapping[str, Any]) -> Flow:
    application = flow["application"]
    settings = ", ".join(f"{key}={value}" for key, value in application.items() if key != "type")
    return Flow(
        name=flow["name"],
        src=flow["source"],
        dst=flow["destination"],
        transport_protocol=flow.get("transport", "TCP"),
        cca=flow["cc"]["type"] if "cc" in flow else "",
        cc_recovery_alg=flow["recovery"] if flow.get("transport", "TCP") == "TCP" else "",
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
                    rate=varying.rate(scenario, link, name.rpartition("_")[2]),
                    delay=varying.delay(scenario, link),
                    qdisc=qdisc["type"],
                    attributes=", ".join(f"{k} = {v}" for k, v in qdisc["attributes"].items()),
                    loss=f"{direction['loss']:g}",
                    flows=of_flows.count(name),
                )
            )
    return rows


@dataclass(frozen=True)
class Heat:
    """How much of each link is used: a drawing, and a table of switches by switches."""

    drawing: str
    columns: tuple[str, ...]
    #: A switch, and of each column the share of the rate that is used, in %; None for no link.
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    #: The largest share, in %: colours are relative to it.
    most: float

    def step(self, share: float) -> int:
        """Return the step of a share's colour, from 0 to 9."""
        return min(9, int(10 * share / self.most)) if self.most else 0


def _heat(scenario: Mapping[str, Any], metrics: Mapping[str, Mapping[str, float]]) -> Heat | None:
    """Return the use of links where there are so many that one looks for the hot ones."""
    shares = {name: found[_USED] / 100 for name, found in metrics.items() if _USED in found}
    if len(shares) < _WORTH_A_MAP:
        return None
    ways: dict[tuple[str, str], float] = {}
    for link in scenario["links"]:
        one, other = link["ends"]
        for way, ends in (("forward", (one, other)), ("reverse", (other, one))):
            if (share := shares.get(f"{link['name']}_{way}")) is not None:
                # Of several links side by side the one that is used most.
                ways[ends] = max(100 * share, ways.get(ends, 0.0))
    most = max(ways.values())
    starts, targets = ({pair[side] for pair in ways} for side in (0, 1))
    columns = tuple(node for node in scenario["nodes"] if node in targets)
    rows = tuple(
        (node, tuple(ways.get((node, end)) for end in columns))
        for node in scenario["nodes"]
        if node in starts
    )
    return Heat(topology.draw(scenario, shares), columns, rows, most)


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


def _headline(name: str, metrics: Mapping[str, float]) -> Column:
    if name not in metrics:
        return Column(metric_named(name).without_value([metrics]) or tables.MISSING, "")
    places = 0 if metric_named(name).kind == "count" else 2
    return Column(tables.number(metrics[name], places), f"{metrics[name]:.6g}")
