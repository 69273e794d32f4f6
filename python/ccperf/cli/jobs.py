"""What a command is to make: points that go to databases, planned, run and told about."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ccperf.base import interruption
from ccperf.base.process import cores
from ccperf.base.wording import counted
from ccperf.cli.options import DEFAULT_DB, Running, writable_file
from ccperf.cli.output import note, progress_bar, warn
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.campaign import CampaignReport, Point, Repeated
    from ccperf.campaign.plan import Plan
    from ccperf.cli.options import MadeBy
    from ccperf.runs.backends import Backend
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario
    from ccperf.store import Store

#: So many points take a moment to check.
MANY = 100
#: Scenarios of a plan are kept up to so many flows and links in all (some 200 MB), and built anew
#: beyond.
_KEPT_PARTS = 50_000

T = TypeVar("T")


class AskedFor(NamedTuple):
    """A point of a command, by which its run is called."""

    #: The command that makes it again.
    again: str
    experiment: str | None = None
    parameters: Mapping[str, Any] = {}


class Made(NamedTuple):
    """A run of a command that is stored. The run itself stays where it is: there may be many."""

    path: Path
    id: str
    #: The point that was asked for: a run may be those of several.
    point: AskedFor


class Outcome(NamedTuple):
    """What became of the points of one job."""

    #: In their order, made when it is looked at.
    made: Lazy[Made]
    status: int = 0
    #: Whether nothing else of the command is to be done.
    ends_all: bool = False


@dataclass(frozen=True)
class Lazy(Collection[T]):
    """So many things, made whenever somebody looks at them: of many runs none is kept."""

    count: int
    make: Callable[[], Iterable[T]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[T]:
        return iter(self.make())

    def __contains__(self, wanted: object) -> bool:
        return any(each == wanted for each in self)


class Job(NamedTuple):
    """Points that go to one database."""

    points: Collection[Point]
    default_db: Path
    #: What each of the points is called, in their order.
    asked: Collection[AskedFor]
    #: A scenario of each kind among the points, and how many are of it.
    kinds: Collection[tuple[Scenario, int]]
    #: What the points are, if they are of an experiment.
    repeats: Sequence[Repeated] = ()
    #: How many points are not made, since another seed changes nothing there.
    left_out: int = 0

    @classmethod
    def of(cls, repeats: Sequence[Repeated], default_db: Path, backend: str) -> Job:
        """All points of these, whose scenarios have been checked."""
        count = sum(len(repeated.seeds) for repeated in repeats)
        return cls(
            Lazy(count, lambda: (point for each in repeats for point in each.points())),
            default_db,
            Lazy(
                count,
                lambda: (
                    AskedFor(line, each.experiment.name, parameters)
                    for each in repeats
                    for parameters in [each.parameters]
                    for line in each.commands(backend)
                ),
            ),
            Lazy(len(repeats), lambda: ((each.scenario, len(each.seeds)) for each in repeats)),
            repeats,
            sum(len(each.asked) - len(each.seeds) for each in repeats),
        )

    def what_if(self, written: str, backend: str) -> Job:
        """The same with other settings: no points of an experiment any more, but called so.

        Of each point those seeds are left that change something with these settings.
        """
        from ccperf.campaign import Point, is_another
        from ccperf.experiments.what_if import parse, text, what_if

        settings = parse(written)
        option = f" --what-if {shlex.quote(text(settings))}"
        whole = self
        if self.repeats:
            every = [each._replace(seeds=each.asked) for each in self.repeats]
            whole = Job.of(every, self.default_db, backend)
        points: list[Point] = []
        asked = []
        each_one = zip(whole.points, whole.asked, strict=True)
        for title, seeds in groupby(each_one, lambda one: one[0].title):
            first = None
            for point, one in seeds:
                named = point.scenario.model_copy(update={"label": title})
                scenario = what_if(named, settings)
                first = first or scenario
                if scenario is first or is_another(scenario, first):
                    points.append(Point(scenario))
                    asked.append(AskedFor(one.again + option))
        check(points)
        kinds = [(point.scenario, 1) for point in points]
        left_out = len(whole.points) - len(points)
        return Job(points, DEFAULT_DB, asked, kinds, left_out=left_out)

    def run(
        self,
        backend: Backend,
        running: Running,
        db: Path | None,
        packets: Path | None,
        made_by: MadeBy,
    ) -> Outcome:
        """What was made, in the order of the points."""
        from ccperf.store import Store

        target = db or self.default_db
        writable_file(target, "--db")
        with Store(target, "a") as store:
            if packets:
                result = simulate_one(next(iter(self.points)), backend, packets)
                store.add(result)
                [asked] = self.asked
                return Outcome(Lazy(1, lambda: [Made(target, result.id, asked)]))
            report = run_campaign(self.points, store, backend, running, made_by=made_by)
            if report.interrupted:
                return Outcome(Lazy(0, tuple), status(report), ends_all=True)
            # Not begun are those after user code has changed.
            stored = {*report.stored_before, *report.made_elsewhere, *report.made}
        of_points, points = report.of_points, self.asked

        def made() -> Iterator[Made]:
            for run_id, asked in zip(of_points, points, strict=True):
                if run_id in stored:
                    yield Made(target, run_id, asked)

        count = sum(1 for run_id in of_points if run_id in stored)
        return Outcome(Lazy(count, made), status(report), bool(report.changed))


def check(points: Sequence[Point]) -> None:
    """Check the meaning of every point, with a bar where they are many.

    Raises :class:`~ccperf.errors.ScenarioError`.
    """
    with progress_bar("checking") if len(points) > MANY else nullcontext() as progress:
        for i, point in enumerate(points):
            point.scenario.check()
            if progress:
                progress(i + 1, len(points))


def status(report: CampaignReport) -> int:
    """The exit status of a command whose only campaign this was."""
    if report.interrupted:
        return interruption.STATUS
    return 0 if report.ok else 1


def simulate_one(point: Point, backend: Backend, packets: Path | None) -> Result:
    """Make one run, with a bar where somebody looks."""
    from ccperf import campaign

    with campaign.bar_if_seen("") as bar:
        bar.begin(1, 0)
        return campaign.simulate(
            point, backend, lambda fraction: bar.advance(point, fraction), packets=packets
        )


def run_campaign(
    points: Iterable[Point],
    store: Store,
    backend: Backend,
    running: Running,
    title: str = "",
    made_by: MadeBy | None = None,
    count: int | None = None,
) -> CampaignReport:
    """Run what the store lacks, with a progress bar, and say what became of it."""
    from ccperf import campaign

    report = campaign.run(
        points,
        store,
        backend,
        jobs=running.job_count(),
        progress=campaign.bar_if_seen(title, campaign.Lines(note, title)),
        executor=made_by.executor if made_by else None,
        processes=made_by.processes if made_by else None,
        count=count,
    )
    for alike in report.failures_by_kind():
        more = f" (and {len(alike) - 1} more like it)" if len(alike) > 1 else ""
        note(f"failed: {alike[0]}{more}")
        from ccperf.present.reproduce import reproduce_point

        point = alike[0].point
        if again := reproduce_point(
            point.experiment, point.parameters, point.scenario, backend.name
        ):
            note(f"  again: {again} {shlex.join(['--db', str(store.path), *running.again()])}")
    if report.skipped:
        count = len(report.failures)
        note(f"{counted(report.skipped, 'run')} not begun: the first {count} all failed alike")
    if report.unrepeatable:
        warn(
            f"{report.unrepeatable.title}: made twice, it came out differently; the user code in "
            "it depends on something else than its input (time, id(), os.urandom, sets)"
        )
    made, before = counted(len(report.made), "run"), len(report.stored_before)
    theirs = len(report.made_elsewhere)
    meanwhile = f", {theirs} made meanwhile by another process" if theirs else ""
    note(f"{made} made, {before} in {store.path} before{meanwhile}, {report.wall_seconds:.1f} s")
    if report.changed:
        note(f"stopped: {report.changed}")
    if report.interrupted:
        note("interrupted: what was finished is stored; the same command makes the rest")
    return report


def note_estimate(runs: Iterable[tuple[Scenario, int]], running: Running) -> None:
    """Say what so many runs of each scenario will cost about."""
    from ccperf.campaign.estimate import estimate

    note(estimate(runs, running.backend).text(running.job_count() or cores()))


def note_left_out(count: int) -> None:
    """Say how many repetitions are not made because they would come out the same."""
    if count:
        runs = counted(count, "run")
        note(f"{runs} not repeated: another seed changes nothing there (docs/evidence.md)")


def planned(plans: Mapping[str, Sequence[Plan]], backend: str) -> dict[str, list[Repeated]]:
    """What each algorithm is to run, built and with that checked, with a bar where it is much."""
    if any(plan.sysctl for several in plans.values() for plan in several):
        backends.needs_sysctls(backend)
    total = sum(plan.count for several in plans.values() for plan in several)
    asked = sum(plan.asked for several in plans.values() for plan in several)
    if asked > MANY:
        note(f"planning {counted(asked, 'run')}")
    found: dict[str, list[Repeated]] = {}
    with progress_bar("checking") if total > MANY else nullcontext() as progress:
        done = parts = 0
        for name, several in plans.items():
            found[name] = []
            for repeated in (each for plan in several for each in plan.repeats()):
                parts += len(repeated.scenario.flows) + len(repeated.scenario.links)
                found[name].append(repeated if parts <= _KEPT_PARTS else repeated.kept_short())
                done += 1
                if progress:
                    progress(done, total)
    return found


def once(several: Iterable[Repeated]) -> list[Repeated]:
    """Those that are other runs than those before: experiments may have points in common.

    Large scenarios, which are not kept, are not built again for that.
    """
    found: dict[Hashable, Repeated] = {}
    for i, each in enumerate(several):
        key = each.first.hash if each.first else i
        found.setdefault((key, tuple(each.seeds)), each)
    return list(found.values())


def plan_jobs(plans: Sequence[Plan], backend: str) -> list[Job]:
    """One job an algorithm, since each has a database of its own."""
    from ccperf.algorithms.user_code.names import short

    algorithms = dict.fromkeys(cc for plan in plans for cc in plan.tested())
    found = planned(
        {cc: [replace(plan, only=[cc]) for plan in plans] for cc in algorithms}, backend
    )
    jobs = []
    for cc, repeats in found.items():
        path = Path(f"benchmark_{short(cc)}.db") if cc else DEFAULT_DB
        jobs.append(Job.of(repeats, path, backend))
    return jobs
