"""Cells: the runs of a store by what they are repetitions of."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import compress, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import roles
from ccperf.base import expression
from ccperf.evidence.summary import Summary, summarise
from ccperf.evidence.versions import algorithm, digests, versioned
from ccperf.experiments.catalogue import NAMED
from ccperf.experiments.catalogue.experiment import JITTER, LABELLED, jitters
from ccperf.scenario.canonical import canonical_json
from ccperf.scenario.chance import draws, surely_draws
from ccperf.scenario.differences import told_apart
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from ccperf.store import RunRow

#: What a seed may draw of a flow's entry in a scenario, where the experiment draws starts.
_OF_DRAWN_STARTS = {"start", "stop", "receiver_stop"}
#: What else it may draw where the experiment says that it draws flows; PIAS is of a scheduler.
_OF_DRAWN_FLOWS = {"source", "destination", "source_port", "destination_port", "dscp", "pias"}
#: What runs may have among their labels though no experiment declares it, and what stands for it in
#: runs without.
SETTINGS = LABELLED
NOT_GIVEN = "none"
#: The backend whose version is that of the engine.
_OWN = "native"
#: The scheme that is left out where a scenario is written.
_ONE_PATH = "static"
#: The attributes of sockets that the parameter `order` of experiments on load balancers sets.
_OF_ORDER = ("ResequencingTimeout", "ReorderingTolerance", "Sack")


@dataclass(frozen=True)
class Point:
    """Where algorithms are compared: a point of an experiment, or a scenario without one."""

    experiment: str
    #: In the experiment's order, without the algorithm under test.
    own: tuple[tuple[str, str], ...]
    #: Tells scenarios apart that differ in something that is no parameter, e.g. the stop time.
    settings: str
    #: In words what tells it from the others there are. It depends on these, so that it makes no
    #: other point: another database has others.
    told: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Its own, then what else tells the point from another one with the same: `stop_time`."""
        return (*self.own, *self.told)

    @property
    def text(self) -> str:
        """`aqm k=5 qdisc=CoDelQueueDisc`."""
        return " ".join([self.experiment, *(f"{name}={value}" for name, value in self.parameters)])

    def with_more(self, fields: Mapping[str, str]) -> Point:
        """The same, told by these, too."""
        return replace(self, told=tuple({**dict(self.told), **fields}.items()))


@dataclass(frozen=True)
class Record:
    """One run at one point, as a cell takes it."""

    row: RunRow
    database: Path
    #: See `Point.settings`.
    settings: str
    stop_time: str
    #: One value a metric.
    metrics: Mapping[str, float]
    #: Whether another seed gives another run: random numbers are drawn in it, or for its scenario.
    draws: bool
    #: Whether that is known: of users' code nobody knows.
    surely_draws: bool
    #: The congestion control of each flow and stack in an experiment of the user's own.
    senders: tuple[str, ...] = ()
    #: Those of them that are not under test, as far as its runs with several algorithms tell.
    beside: str = ""


@dataclass
class Cell:
    """The runs of one algorithm at one point that differ in their seed only."""

    point: Point
    #: With its version (`mycca.py:MyCca@2503`) if there are runs of several.
    algorithm: str
    backend: str
    #: The sources that simulated; of another backend its version, too.
    engine: str
    #: Seed to metrics; those of flows and links are means, counts are sums.
    metrics: dict[int, dict[str, float]] = field(default_factory=dict)
    #: Seed to the run's id.
    runs: dict[int, str] = field(default_factory=dict)
    #: Seed to what else is known of the run, and to where it is.
    records: dict[int, Record] = field(default_factory=dict, repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether its one run draws nothing, and so stands for every seed."""
        return len(self.records) == 1 and not any(record.draws for record in self.records.values())

    @property
    def is_deterministic(self) -> bool:
        """Whether a seed changes nothing here: nothing is drawn; or, where only users' code might
        draw, several gave the same.

        Where losses are known to be drawn, no loss with three seeds says nothing of a fourth.
        """
        if any(record.surely_draws for record in self.records.values()):
            return False
        first, *others = self.metrics.values()
        return self.is_constant or (bool(others) and all(metrics == first for metrics in others))

    def of_seeds(self, seeds: Collection[int]) -> Cell:
        """Its runs with these seeds; one that stands for every seed stays."""
        if self.is_constant:
            return self
        there = [seed for seed in self.metrics if seed in seeds]
        return replace(
            self,
            metrics={seed: self.metrics[seed] for seed in there},
            runs={seed: self.runs[seed] for seed in there},
            records={seed: self.records[seed] for seed in there},
        )

    def at(self, seed: int) -> Mapping[str, float] | None:
        """The metrics with this seed; None if there is no such run."""
        if self.is_constant:
            return next(iter(self.metrics.values()))
        return self.metrics.get(seed)

    def values(self, metric: str) -> dict[int, float]:
        """A metric's value with each seed that gave it one."""
        return {seed: found[metric] for seed, found in self.metrics.items() if metric in found}

    def summary(self, metric: str) -> Summary | None:
        """A metric over the seeds; None without a value."""
        values = self.values(metric)
        return summarise(list(values.values())) if values else None


def read(databases: Iterable[str | Path]) -> list[Cell]:
    """Return the cells of all runs, in the order in which they were made; each run once."""
    return gather(record for path in databases for record in records(Path(path)))


def gather(records: Iterable[Record]) -> list[Cell]:
    """Return the cells of runs, in their order; each run counts once at each of its points."""
    records = _beside_each_other(list(records))
    names = versioned([record.row for record in records])
    cells: dict[tuple[Point, str, str, str], Cell] = {}
    seen: set[tuple[str, str]] = set()
    for record, name in zip(records, names, strict=True):
        row = record.row
        point = _point(row, "/".join(filter(None, (record.settings, record.beside))))
        if (row.id, point.text) in seen:
            continue
        seen.add((row.id, point.text))
        key = (point, name, row.backend, _engine(row))
        cell = cells.setdefault(key, Cell(*key))
        cell.metrics[row.seed] = dict(record.metrics)
        cell.runs[row.seed] = row.id
        cell.records[row.seed] = record
    return _told_apart([_by_seed(cell) for cell in cells.values()])


def _beside_each_other(records: list[Record]) -> list[Record]:
    """Return records that say which congestion controls are not under test.

    A file may write `$cc` for some flows and an algorithm for others, and its runs do not say which
    is which: those are under test that are the algorithm under test in all runs of a point.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        if record.senders:
            point = tuple(roles.parameters(record.row.parameters).items())
            alike[record.row.experiment, point, record.settings].append(place)
    for places in alike.values():
        tested = [
            [
                expression.cut(sender)[0] == expression.cut(algorithm(records[place].row))[0]
                for sender in records[place].senders
            ]
            for place in places
        ]
        are_beside = [not all(each) for each in zip(*tested, strict=True)]
        for place in places:
            found = compress(records[place].senders, are_beside)
            words = (f"{len([*of])}*{name}" for name, of in groupby(found))
            beside = "+".join(word.removeprefix("1*") for word in words)
            records[place] = replace(records[place], beside=beside)
    return records


def _by_seed(cell: Cell) -> Cell:
    """Return a cell whose seeds are in their order, whichever run ended first."""
    order = sorted(cell.runs)
    return replace(
        cell,
        metrics={seed: cell.metrics[seed] for seed in order},
        runs={seed: cell.runs[seed] for seed in order},
        records={seed: cell.records[seed] for seed in order},
    )


def _engine(row: RunRow) -> str:
    """Return what simulated: the sources of this engine, or another backend's version and these.

    Two of ns-3's releases are as different as two engines.
    """
    made = row.provenance
    return made.engine_hash if row.backend == _OWN else f"{made.backend_version}/{made.engine_hash}"


def _told_apart(cells: list[Cell]) -> list[Cell]:
    """Return cells whose points say in what their settings differ, where nothing else tells."""
    alike: dict[Hashable, dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        alike[_apart_from_jitter(cell.point)].setdefault(cell.point.settings, cell)
    several = {place: of for place, of in alike.items() if len(of) > 1}
    made_of = described(cell for of in several.values() for cell in of.values())
    said: dict[Hashable, dict[str, str]] = {}
    for place, of in several.items():
        for settings, fields in zip(of, told_apart([next(made_of) for _ in of]), strict=True):
            said[place, settings] = fields
    points = [cell.point for cell in cells]
    more = [said.get((_apart_from_jitter(point), point.settings), {}) for point in points]
    return [
        replace(cell, point=cell.point.with_more(fields))
        for cell, fields in zip(cells, more, strict=True)
    ]


def described(cells: Iterable[Cell]) -> Iterator[dict[str, Any]]:
    """Yield what the settings of each cell are made of."""
    with ExitStack() as stack:
        stores: dict[Path, Store] = {}
        for cell in cells:
            record = next(iter(cell.records.values()))
            path = record.database
            if path not in stores:
                stores[path] = stack.enter_context(Store(path, "r"))
            yield _described(stores[path].scenario(record.row.id), record)


def _apart_from_jitter(point: Point) -> Hashable:
    """Return what is alike at points with and without jitter, which moves nothing but starts: one
    label says that it is there, and none in what else they differ."""
    return point.experiment, tuple(each for each in point.own if each[0] != JITTER)


def records(path: Path) -> Iterator[Record]:
    """Yield what is known of each run of a database, at each point that it serves."""
    with Store(path, "r") as store:
        metrics = store.reduced_metrics()
        for row in store.runs():
            yield record(row, path, store.scenario(row.id), metrics.get(row.id, {}))


def record(
    row: RunRow, database: Path, scenario: Mapping[str, Any], metrics: Mapping[str, float]
) -> Record:
    """Return what a cell takes of a run."""
    stop_time = str(scenario["stop_time"])
    is_sure = surely_draws(scenario) or _is_drawn(row)
    is_drawn = is_sure or draws(scenario)
    settings = _settings(scenario, row)
    senders = tuple(map(_sender, _senders(scenario))) if _is_own(row) else ()
    return Record(row, database, settings, stop_time, metrics, is_drawn, is_sure, senders)


def _is_own(row: RunRow) -> bool:
    """Whether a run is one of an experiment in a file of the user's."""
    return bool(row.experiment) and row.experiment not in NAMED


def _senders(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what has a congestion control, or could have one."""
    return [*scenario["flows"], *scenario.get("stacks", ())]


def _sender(of: Mapping[str, Any]) -> str:
    cc = of.get("cc")
    return expression.write(cc["type"], cc["attributes"]) if cc else ""


def _is_drawn(row: RunRow) -> bool:
    """Return whether the scenario itself, as when flows start, was drawn from the seed."""
    experiment = NAMED.get(row.experiment or "")
    return experiment is not None and experiment.draws(row.parameters)


def by_algorithm(cells: Iterable[Cell], names: Sequence[str] = ()) -> dict[str, list[Cell]]:
    """Return the cells of each algorithm, in the order of `names`, or in that of the cells.

    Points that were run by several backends or engines say by which, and none says who sends.
    """
    sides: dict[str, list[Cell]] = {name: [] for name in names}
    chosen = (cell for cell in cells if cell.algorithm in sides or not names)
    for cell in told_by_maker(map(whoever_sends, chosen)):
        sides.setdefault(cell.algorithm, []).append(cell)
    return sides


def says_who_sends(experiment: str) -> str:
    """Return the parameter at some of whose values nobody is under test, since they say who sends,
    as DCQCN or NDP in place of TCP; empty if the experiment has none."""
    tested_at = NAMED[experiment].tested_at if experiment in NAMED else None
    return tested_at[0] if tested_at else ""


def whoever_sends(cell: Cell) -> Cell:
    """Return a cell at a point that does not say again what its algorithm is."""
    name = says_who_sends(cell.point.experiment)
    return apart_from(cell, name) if name else cell


def apart_from(cell: Cell, name: str) -> Cell:
    """Return a cell at a point that does not say a parameter, nor what that brings with it."""
    point = cell.point
    (stop_time,) = {record.stop_time for record in cell.records.values()}
    own = tuple(each for each in point.own if each[0] != name)
    told = tuple(each for each in point.told if each[0] == "stop_time")
    return replace(cell, point=Point(point.experiment, own, stop_time, told))


def told_by_maker(
    cells: Iterable[Cell], place: Callable[[Cell], Hashable] = lambda cell: cell.point
) -> list[Cell]:
    """Return cells whose points say which backend or engine ran them, where several ran the same
    place: the same point, if nothing else is said."""
    cells = list(cells)
    ran: dict[Hashable, dict[tuple[str, str], dict[str, str]]] = defaultdict(dict)
    for cell in cells:
        by = {"backend": cell.backend, "engine": cell.engine[:8]}
        ran[place(cell)][cell.backend, cell.engine] = by
    for several in ran.values():
        several.update(zip(several, told_apart([*several.values()]), strict=True))
    return [
        replace(cell, point=cell.point.with_more(ran[place(cell)][cell.backend, cell.engine]))
        for cell in cells
    ]


def _point(row: RunRow, settings: str) -> Point:
    parameters = tuple(
        (name, str(value)) for name, value in roles.parameters(row.parameters).items()
    )
    # Of users' code that is not under test each version makes another point.
    _, others = digests(row)
    settings = "/".join((settings, *others))
    return Point(row.experiment or _label(row) or "scenario", parameters, settings)


def _label(row: RunRow) -> str:
    """Return the label of a run of no experiment, without the algorithm under test.

    With other settings (`--what-if`) a run of an experiment has a label that says which, and both
    algorithms and points of what it was made from.
    """
    return (row.label or "").replace(f" {roles.LABELS[roles.UNDER_TEST]}={algorithm(row)}", "", 1)


def _settings(scenario: Mapping[str, Any], row: RunRow) -> str:
    """Return a hash of what all algorithms and seeds of a point have in common.

    An experiment may draw from the seed what links change to (a walk, a handover), but not when;
    when flows start; and how much flows send, and between whom, if it declares that
    (`draws_flows`). What is in a file, a trace or a scenario of the user's, nobody draws: an edited
    file makes other points. Jitter is taken off the starts that it has moved. If the algorithm
    under test is no flow's congestion control, it is a load balancer, where a seed may draw which
    links are slow but not how many, or a queue discipline: that of some ports, whose neighbours
    have the same. What an experiment gives hosts against a balancer's reordering is part of the
    balancer; the parameter `order` tells the points apart where it is not.
    """
    return hashlib.sha256(canonical_json(_common(scenario, row)).encode()).hexdigest()[:16]


def _described(scenario: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Return what a point's settings are made of."""
    _, others = digests(record.row)
    more = {"code": " ".join(others), "beside": record.beside}
    return {**_common(scenario, record.row), **more}


def _common(scenario: Mapping[str, Any], row: RunRow) -> dict[str, Any]:
    common = {key: value for key, value in scenario.items() if key not in ("seed", "label")}
    links = common["links"]
    if row.experiment:
        experiment = NAMED.get(row.experiment)
        draws_more = experiment is not None and experiment.draws_more is not False
        if draws_more or (experiment is not None and experiment.draws_starts):
            flows = _without(scenario["flows"], *_OF_DRAWN_STARTS)
        else:
            flows = [*_as_written(scenario, row)]
        common["flows"] = _without(flows, "cc")
        if _is_own(row):
            common["stacks"] = _without(scenario.get("stacks", ()), "cc")
        if experiment is not None and experiment.draws_flows:
            common["flows"] = [_as_drawn(flow) for flow in common["flows"]]
            named = ("flows", "links")
            common["recording"] = {
                key: value for key, value in scenario["recording"].items() if key not in named
            }
        if draws_more:
            moving = {change["link"] for change in scenario["changes"] if change["delay"]}
            # Where a delay moves, the first one is drawn as the others are.
            links = [{**one, "delay": ""} if one["name"] in moving else one for one in links]
            links = [{**link, "schedules": _times(link)} for link in links]
            common["changes"] = [
                {**change, "delay": change["delay"] is not None} for change in scenario["changes"]
            ]
    else:
        common["mix"] = _mix(scenario["flows"])
        common["flows"] = [
            {**flow, "cc": flow["cc"]["attributes"] if flow.get("cc") else {}}
            for flow in scenario["flows"]
        ]
    used = {way["cc"]["type"] for way in _senders(scenario) if way.get("cc")}
    under_test = [expression.cut(name)[0] for name in expression.split(algorithm(row))]
    # A scenario that does not say how its switches choose has one path between two nodes.
    if common.get("routing", {"type": _ONE_PATH})["type"] == under_test[0]:
        common.pop("routing", None)
        common["rates"] = sorted(link["rate"] for link in links)
        links = _without(links, "rate")
        if row.experiment:
            stacks = scenario.get("stacks", ())
            # What a user's file gives hosts is no scheme's own.
            common["stacks"] = [*stacks] if _is_own(row) else [*map(_in_any_order, stacks)]
    elif not used.issuperset(under_test):
        links = _without(links, "forward", "reverse")
    common["links"] = links
    return common


def _as_written(scenario: Mapping[str, Any], row: RunRow) -> Iterator[dict[str, Any]]:
    """Yield the flows with the starts that they have without the jitter of the run.

    None for one that it may move to the end of the run, from where nobody finds back. That a flow
    stops with the run is no setting of its own.
    """
    flows, end = scenario["flows"], scenario["stop_time"]
    jitter = row.parameters.get(JITTER)
    longest = 0 if jitter is None else _native.parse_time(str(jitter))
    latest = _native.parse_time(end) - 1
    for flow, later in zip(flows, jitters(longest, row.seed, len(flows)), strict=True):
        time = _native.parse_time(flow["start"])
        is_sure = time - later + longest < latest
        start = _native.format_time(time - later) if is_sure else None
        yield {**flow, "start": start, "stop": None if flow["stop"] == end else flow["stop"]}


def _as_drawn(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flow without how much it sends, and between whom."""
    kept = {key: value for key, value in flow.items() if key not in _OF_DRAWN_FLOWS}
    sends = {key: value for key, value in flow["application"].items() if key != "bytes"}
    return {**kept, "application": sends}


def _mix(flows: Iterable[Mapping[str, Any]]) -> str:
    """Return which flows have the same algorithm, whichever it is: `3A+1B`."""
    letters: dict[str | None, str] = {}
    types = (flow["cc"]["type"] if flow.get("cc") else None for flow in flows)
    several = groupby(letters.setdefault(name, _letter(len(letters))) for name in types)
    return "+".join(f"{sum(1 for _ in of)}{letter}" for letter, of in several)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"({place + 1})"


def _times(link: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return when each schedule of a link changes what."""
    return [
        {name: value if name == "times_ns" else None for name, value in schedule.items()}
        for schedule in link.get("schedules", ())
    ]


def _in_any_order(stack: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stack without what the parameter `order` sets."""
    kept = {name: value for name, value in stack["tcp"].items() if name not in _OF_ORDER}
    return {**stack, "tcp": kept}


def _without(links: Iterable[Mapping[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in link.items() if name not in names} for link in links]
