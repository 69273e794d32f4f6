"""Cells: the runs of a store by what they are repetitions of."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import registry, roles
from ccperf.chance import draws
from ccperf.errors import UsageError, unknown
from ccperf.result import canonical_json
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ccperf.store import RunRow

#: What a flow's entry in a scenario says of its algorithm, and what a seed may draw.
_NOT_OF_THE_POINT = {"cc", "start", "stop", "receiver_stop"}


@dataclass(frozen=True)
class Point:
    """Where algorithms are compared: a point of an experiment, or a scenario without one."""

    experiment: str
    #: In the experiment's order, without the algorithm under test.
    parameters: tuple[tuple[str, str], ...]
    #: Tells scenarios apart that differ in something that is no parameter, e.g. the stop time.
    settings: str

    @property
    def text(self) -> str:
        """`aqm k=5 qdisc=CoDelQueueDisc`."""
        return " ".join([self.experiment, *(f"{name}={value}" for name, value in self.parameters)])


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
    #: Whether the run draws random numbers.
    draws: bool = True


@dataclass
class Cell:
    """The runs of one algorithm at one point that differ in their seed only."""

    point: Point
    algorithm: str
    backend: str
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
        """Whether a seed changes nothing here: nothing is drawn, or several gave the same."""
        first, *others = self.metrics.values()
        return self.is_constant or (bool(others) and all(metrics == first for metrics in others))

    def at(self, seed: int) -> Mapping[str, float] | None:
        """The metrics with this seed; None if there is no such run."""
        if self.is_constant:
            return next(iter(self.metrics.values()))
        return self.metrics.get(seed)


def read(databases: Iterable[str | Path]) -> list[Cell]:
    """Return the cells of all runs, in the order in which they were made; each run once."""
    return gather(record for path in databases for record in _records(Path(path)))


def gather(records: Iterable[Record]) -> list[Cell]:
    """Return the cells of runs, in their order; each run counts once at each of its points."""
    cells: dict[tuple[Point, str, str, str], Cell] = {}
    seen: set[tuple[str, str]] = set()
    for record in records:
        row = record.row
        point = _point(row, record.settings)
        if (row.id, point.text) in seen:
            continue
        seen.add((row.id, point.text))
        key = (point, algorithm(row), row.backend, row.provenance.engine_hash)
        cell = cells.setdefault(key, Cell(*key))
        cell.metrics[row.seed] = dict(record.metrics)
        cell.runs[row.seed] = row.id
        cell.records[row.seed] = record
    return list(cells.values())


def _records(path: Path) -> Iterator[Record]:
    with Store(path, "r") as store:
        metrics = store.reduced_metrics()
        known: dict[str, tuple[str, str, bool]] = {}
        for row in store.runs():
            if row.id not in known:
                scenario = store.scenario(row.id)
                settings = settings_of(scenario, algorithm(row))
                known[row.id] = settings, str(scenario["stop_time"]), draws(scenario)
            settings, stop_time, is_drawn = known[row.id]
            yield Record(row, path, settings, stop_time, metrics.get(row.id, {}), is_drawn)


def algorithm(row: RunRow) -> str:
    """Return the algorithm under test, or those of the flows."""
    return str(roles.under_test(row.parameters) or ",".join(row.cc))


def by_algorithm(cells: Iterable[Cell], names: Sequence[str] = ()) -> dict[str, list[Cell]]:
    """Return the cells of each algorithm, in the order of `names`, or in that of the cells."""
    sides: dict[str, list[Cell]] = {name: [] for name in names}
    for cell in cells:
        if cell.algorithm in sides or not names:
            sides.setdefault(cell.algorithm, []).append(cell)
    return sides


def select(
    cells: Iterable[Cell],
    *,
    experiments: Sequence[str] = (),
    algorithms: Sequence[str] = (),
    parameters: Mapping[str, Sequence[str]] | None = None,
) -> list[Cell]:
    """Return the cells that fit all the filters given."""
    return [
        cell
        for cell in cells
        if (not experiments or cell.point.experiment in experiments)
        and (not algorithms or cell.algorithm in algorithms)
        and all(
            dict(cell.point.parameters).get(name) in values
            for name, values in (parameters or {}).items()
        )
    ]


def choose(
    databases: Iterable[str | Path],
    *,
    experiment: str = "",
    cc: str = "",
    at: str = "",
    parameters: Mapping[str, Sequence[str]] | None = None,
) -> list[Cell]:
    """Return the cells that fit texts of the command line: `ecn,aqm`, `cubic,bbr`, `k=5,qdisc=..`.

    `parameters` has more of what `at` says: values by the name of the parameter. Raises
    `UsageError`.
    """
    chosen = {name: list(values) for name, values in (parameters or {}).items()}
    for word in words(at):
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError("--at", f"`{word}` is not parameter=value")
        chosen.setdefault(name, []).append(value)
    found = read(databases)
    there = {cell.algorithm for cell in found}
    names = [known_as(name, there, "--cc") for name in words(cc)]
    varied = {name for cell in found for name, _ in cell.point.parameters}
    for name in chosen:
        if found and name not in varied:
            raise UsageError(f"--{name.replace('_', '-')}", unknown("parameter", name, varied))
    spelt = {name: [s for v in values for s in _spellings(v)] for name, values in chosen.items()}
    return select(found, experiments=words(experiment), algorithms=names, parameters=spelt)


def _spellings(value: str) -> list[str]:
    """Return a parameter's value as given, and as points have it if it is an algorithm."""
    kinds: tuple[registry.Kind, ...] = ("qdisc", "cc", "recovery", "routing")
    found = [value]
    for kind in kinds:
        with suppress(ValueError):
            found.append(registry.resolve(kind, value))
    return found


def words(text: str) -> list[str]:
    """Return the words of a comma list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def known_as(name: str, there: Collection[str], option: str) -> str:
    """Return the algorithm that is called so: one of `there`, or any congestion control.

    A class of one's own is known by its label, a queue discipline by any of its names; whatever
    else is not there gets the usual error, `UsageError`.
    """
    if name in there:
        return name
    with suppress(ValueError):
        if (discipline := registry.resolve("qdisc", name)) in there:
            return discipline
    try:
        return registry.resolve("cc", name)
    except ValueError as error:
        raise UsageError(option, str(error)) from None


def _point(row: RunRow, settings: str) -> Point:
    parameters = tuple(
        (name, str(value)) for name, value in roles.parameters(row.parameters).items()
    )
    return Point(row.experiment or row.label or "scenario", parameters, settings)


def settings_of(scenario: Mapping[str, Any], algorithm: str) -> str:
    """Return a hash of what all algorithms and seeds of a point have in common.

    If the algorithm under test is no flow's congestion control, it is a load balancer, where a seed
    may draw which links are slow but not how many, or a queue discipline: that of some ports, whose
    neighbours have the same.
    """
    common = {key: value for key, value in scenario.items() if key not in ("seed", "label")}
    common["flows"] = [
        {key: value for key, value in flow.items() if key not in _NOT_OF_THE_POINT}
        for flow in scenario["flows"]
    ]
    ways = (*scenario["flows"], *scenario.get("stacks", ()))
    used = {way["cc"]["type"] for way in ways if way.get("cc")}
    if common.get("routing", {}).get("type") == algorithm:
        del common["routing"]
        common["links"] = [
            {name: value for name, value in link.items() if name != "rate"}
            for link in scenario["links"]
        ]
        common["rates"] = sorted(link["rate"] for link in scenario["links"])
    elif not used.issuperset(algorithm.split(",")):
        common["links"] = [
            {name: value for name, value in link.items() if name not in ("forward", "reverse")}
            for link in scenario["links"]
        ]
    return hashlib.sha256(canonical_json(common).encode()).hexdigest()[:16]
