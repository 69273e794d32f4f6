"""One number for an algorithm: the reward of a search, which asks for it again and again.

The formula is that of :mod:`ccperf.evidence.score`; here are the runs that it needs. Those of the
base are made once, and kept as long as the process or the database lasts.
"""

from __future__ import annotations

import html
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import campaign
from ccperf.algorithms import roles
from ccperf.algorithms.user_code.names import labels
from ccperf.api import asked
from ccperf.api.runs import Folder
from ccperf.base import expression
from ccperf.base.columns import table
from ccperf.base.folders import Temporary
from ccperf.base.wording import counted
from ccperf.campaign.plan import Plan
from ccperf.errors import UsageError
from ccperf.evidence import cells
from ccperf.evidence import score as formula
from ccperf.evidence.versions import algorithm
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue import sets
from ccperf.present import notebook
from ccperf.runs import backends
from ccperf.store import Store

if TYPE_CHECKING:
    from ccperf.api.asked import Algorithm, Seeds, Some
    from ccperf.campaign import Point
    from ccperf.evidence.cells import Cell, Record
    from ccperf.evidence.score import Part, Place
    from ccperf.runs.backends import Backend
    from ccperf.store import RunRow

#: What is run unless something else is asked for: seven points, some tens of milliseconds each.
SMALL: Sequence[tuple[str, Mapping[str, Sequence[object]]]] = (
    ("steady_state_single_flow", {"path": ["static.default"]}),
    ("steady_state_synchronous_fairness", {"k": [2], "path": ["static.default"]}),
    ("responsiveness_step", {"target": ["rate"]}),
    ("loss_resilience", {"loss": [0.01]}),
    ("buffer_sizing", {"buffer": [0.25, 2], "k": [1]}),
)

_HEAD = ["experiment", "score", "headlines (above 1: better)"]
#: The metric of a flow that is 0 if it delivers nothing.
DELIVERED = "mean_throughput_l4"
#: Where the runs of bases are that no database was given for.
_kept: list[Folder] = []


@dataclass(frozen=True)
class Failed:
    """A run that has no result."""

    algorithm: str
    experiment: str
    point: Mapping[str, str]
    seed: int
    #: What it ended with, with the class, the file and the line if it was the algorithm's fault.
    error: str


@dataclass(frozen=True, repr=False)
class Score:
    """An algorithm against a base: 1 is as good, 2 twice as good; docs/score.md defines it."""

    algorithm: str
    base: str
    #: From 1/100 to 100; exchange the two, and it is the reciprocal.
    value: float
    #: The same of each experiment, and of each of its headlines: `{"aqm": {"value": 1.1, "metrics":
    #: {"mean_srtt_l4": 1.2, ...}}}`.
    parts: Mapping[str, Mapping[str, Any]]
    #: Each headline at each point.
    points: Sequence[Part]
    seeds: Sequence[int]
    failures: Sequence[Failed]
    #: What the runs of the algorithm may take together, in seconds; None: as long as they like.
    budget: float | None
    #: What they took, and how many were made; the others were there.
    seconds: float
    made: int

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        failed = f"; {counted(len(self.failures), 'run')} failed" if self.failures else ""
        return f"<Score {self.value:.4f}: {self.algorithm} against {self.base}{failed}>"

    def __str__(self) -> str:
        """Return the number with a row for each experiment."""
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Return the same, for a terminal of so many columns if `width` says so."""
        head = f"{self.value:.4f}  {self.algorithm} against {self.base}"
        return "\n".join([head, "", table(_HEAD, self._rows, width)])

    @property
    def complaints(self) -> list[str]:
        """A line for each algorithm that failed: where first, why, and in how many runs more."""
        lines = []
        for name in dict.fromkeys(failed.algorithm for failed in self.failures):
            first, *others = [each for each in self.failures if each.algorithm == name]
            more = f" (and {counted(len(others), 'run')} more)" if others else ""
            words = (f"{key}={value}" for key, value in first.point.items())
            at = " ".join((first.experiment, *words, f"seed={first.seed}"))
            lines.append(f"failed: {name} at {at}: {first.error}{more}")
        return lines

    @property
    def _rows(self) -> list[list[str]]:
        """The parts of the number."""
        return [
            [
                experiment,
                f"{part['value']:.4f}",
                ", ".join(f"{name} {value:.3f}" for name, value in part["metrics"].items()),
            ]
            for experiment, part in self.parts.items()
        ]

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<p>{html.escape(line)}</p>" for line in (repr(self)[1:-1], *self.complaints)
        )
        return lines + notebook.table(_HEAD, self._rows)

    def json(self) -> dict[str, Any]:
        """Return all of it as one JSON object, as `ccperf score --json` prints it."""
        return {
            "value": self.value,
            "algorithm": self.algorithm,
            "base": self.base,
            "parts": {name: dict(part) for name, part in self.parts.items()},
            "points": [part.document() for part in self.points],
            "seeds": list(self.seeds),
            "failures": [dict(vars(failed)) for failed in self.failures],
            "budget_s": self.budget,
            "seconds": self.seconds,
            "made": self.made,
        }


def score(
    cc: Algorithm,
    *,
    against: Algorithm = "cubic",
    set: str = "",
    experiments: Some[str] = (),
    seed: Seeds = None,
    budget: float | None = None,
    stop_time: str | None = None,
    backend: str = backends.DEFAULT,
    jobs: int = 0,
    db: str | Path | None = None,
) -> Score:
    """Say in one number how a congestion control does against another.

    >>> float(ccperf.score("./mine.py:Mine", against="cubic"))  # doctest: +SKIP

    Both run at the same points with the same seeds, the base once in a process. docs/score.md has
    the formula.

    Args:
        cc: the algorithm: a name, or a class of your own.
        against: the base.
        set: the points of a set, e.g. ``"rfc9743"`` (docs/sets.md); or
        experiments: these experiments with all their points. Without both, seven short points.
        seed: e.g. ``range(1, 4)``; each experiment's own if not given.
        budget: seconds that the runs of the algorithm may take together. What is not finished then
            has failed.
        stop_time: instead of the experiments' own.
        backend, jobs: as for `grid`.
        db: a database that keeps the runs of both; without it the base's are kept as long as the
            process, the algorithm's not.

    Raises:
        UsageError: names the argument that is wrong, or says why the algorithm cannot be loaded;
            then nothing was run. An algorithm that fails in a run has a score, and `failures`.
        KeyboardInterrupt: after Ctrl-C.
    """
    parts = _parts(set, asked.several(experiments))
    if budget is not None and not (isinstance(budget, int | float) and 0 < budget < math.inf):
        raise UsageError("budget", f"`{budget}` must be a number of seconds above 0")
    asked.jobs(jobs)
    asked.file("db", db)
    made_by = asked.backend(backend)
    seeds = asked.seeds(seed)
    base, other = (_one(name, given) for name, given in (("against", against), ("cc", cc)))
    called = labels((base, other))
    points = {}
    for name in (base, other):
        plans = [
            Plan(experiment, [name], parameters, seeds, stop_time=stop_time)
            for experiment, parameters in parts
            if experiment.takes(base) and experiment.takes(other)
        ]
        # Sections of a set may ask for the same point.
        each = {
            (_place(point), point.scenario.seed): point for plan in plans for point in plan.points()
        }
        points[name] = list(each.values())
        for point in points[name]:
            made_by.prepare(point.scenario)
    if not points[base]:
        raise UsageError("experiments", f"none of them takes both {base} and {other}")
    with ExitStack() as stack:
        kept = stack.enter_context(Store(_path(db), "a"))
        # What a search has thrown away is not kept, unless somebody wants to see it.
        own = kept
        if db is None:
            folder = stack.enter_context(Temporary())
            own = stack.enter_context(Store(Path(folder) / "runs.db", "a"))
        found = _made(called[base], points[base], kept, made_by, jobs)
        started = time.perf_counter()
        mine = _made(called[other], points[other], own, made_by, jobs, budget)
        seconds = time.perf_counter() - started
    return _score(found, mine, budget, seconds)


def _parts(
    named_set: str, experiments: Sequence[str]
) -> list[tuple[catalogue.Experiment, Mapping[str, Sequence[object]]]]:
    """The experiments that are asked for, with what is chosen of their parameters."""
    if named_set and experiments:
        raise UsageError("set", "has experiments of its own; leave the other one out")
    if named_set:
        entries = [(one.experiment, one.parameters) for one in sets.get(named_set).entries]
    else:
        entries = [(name, {}) for name in experiments] or list(SMALL)
    found = [(asked.experiment(name), parameters) for name, parameters in entries]
    for experiment, _ in found:
        if experiment.kind != "cc":
            message = f"{experiment.name} tests what {experiment.kind} names, not cc"
            raise UsageError("experiments", message)
    return found


def _one(option: str, given: Algorithm) -> str:
    """The one algorithm that is named."""
    words = asked.algorithms(given)
    if len(words) != 1:
        raise UsageError(option, f"`{given}` must be one algorithm")
    try:
        return catalogue.get(SMALL[0][0]).resolve(words[0])
    except UsageError as error:
        raise UsageError(option, error.message) from None


def _path(db: str | Path | None) -> Path:
    """The database that keeps the runs of the base."""
    if db is not None:
        return Path(db)
    if not _kept:
        _kept.append(Folder())
    return _kept[0].path / "bases.db"


@dataclass(frozen=True)
class _Side:
    """What came of the points of one algorithm."""

    name: str
    cells: Mapping[Place, Cell]
    seeds: Mapping[Place, Sequence[int]]
    failures: Sequence[Failed]
    made: int


def _made(
    name: str,
    points: Sequence[Point],
    store: Store,
    backend: Backend,
    jobs: int,
    budget: float | None = None,
) -> _Side:
    """Make the runs that the store lacks, and read them all."""
    report = campaign.run(
        points,
        store,
        backend,
        jobs=jobs or None,
        progress=campaign.Silent(),
        seconds=budget,
        gives_up=False,
    )
    if report.changed:
        raise report.changed
    if report.interrupted:
        raise KeyboardInterrupt
    if report.unrepeatable:
        text = f"{report.unrepeatable.title}: made twice, it came out differently"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    runs = [*report.of_points, *[""] * (len(points) - len(report.of_points))]
    run_of = {id(point): run for point, run in zip(points, runs, strict=True)}
    errors = {run_of[id(failure.point)]: failure.message for failure in report.failures}
    # What has neither a run nor an error.
    late = f"not finished within the budget of {budget} s"
    seeds: dict[Place, list[int]] = {}
    records: list[Record] = []
    failures = []
    for point, run in zip(points, runs, strict=True):
        place, number = _place(point), point.scenario.seed
        seeds.setdefault(place, []).append(number)
        record = _record(store, run, place)
        if record and _delivers(store, record):
            records.append(record)
            continue
        error = "it delivered nothing" if record else errors.get(run, late)
        failures.append(Failed(name, place[0], dict(place[1]), number, error))
    gathered = cells.gather(records)
    return _Side(
        name,
        {(cell.point.experiment, cell.point.parameters): cell for cell in gathered},
        seeds,
        failures,
        len(report.made),
    )


def _place(point: Point | RunRow) -> Place:
    """What algorithms have in common that are compared at a point."""
    shared = roles.parameters(point.parameters)
    return str(point.experiment), tuple((name, str(value)) for name, value in shared.items())


def _record(store: Store, run: str, place: Place) -> Record | None:
    """A run that the store has, as a run of this point."""
    for row in store.runs(run_id=run, experiment=place[0]):
        if _place(row) == place:
            metrics = store.reduced_metrics(run).get(run, {})
            return cells.record(row, store.path, store.scenario(run), metrics)
    return None


def _delivers(store: Store, record: Record) -> bool:
    """Whether the flows of the algorithm under test deliver anything, if they are sampled."""
    tested = expression.cut(algorithm(record.row))[0]
    flows = store.scenario(record.row.id)["flows"]
    names = {flow["name"] for flow in flows if flow.get("cc", {}).get("type") == tested}
    sampled = store.metrics(record.row.id).flow
    rates = [sampled[name].get(DELIVERED, 0.0) for name in names & sampled.keys()]
    return not rates or any(rates)


def _score(base: _Side, other: _Side, budget: float | None, seconds: float) -> Score:
    both = {place: sorted({*of, *other.seeds[place]}) for place, of in base.seeds.items()}
    found = formula.parts(base.cells, other.cells, both)
    gains = formula.of_experiments(found)
    return Score(
        algorithm=other.name,
        base=base.name,
        value=formula.value(gains),
        parts={
            experiment: {
                "value": formula.value({experiment: metrics}),
                "metrics": {name: math.exp(gain) for name, gain in metrics.items()},
            }
            for experiment, metrics in gains.items()
        },
        points=found,
        seeds=sorted({seed for seeds in both.values() for seed in seeds}),
        failures=[*base.failures, *other.failures],
        budget=budget,
        seconds=seconds,
        made=other.made,
    )
