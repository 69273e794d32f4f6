"""Many runs from Python: a grid of an experiment, the whole catalogue, a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import campaign
from ccperf.api import asked
from ccperf.api.runs import Folder, Runs
from ccperf.errors import RunError, UsageError
from ccperf.evidence import cells, chosen
from ccperf.evidence.by_parameter import by_parameter
from ccperf.evidence.compare import compare as differences
from ccperf.evidence.paired import LEAST
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue.experiment import known_to
from ccperf.runs import backends
from ccperf.store import Store

if TYPE_CHECKING:
    from ccperf.api.asked import Algorithm, Seeds, Some
    from ccperf.campaign import CampaignReport, Point
    from ccperf.evidence.compare import Comparison

#: What `bench` runs of each kind of algorithm.
_CATALOGUES = {
    "cc": catalogue.REGISTRY,
    "qdisc": catalogue.DATACENTRE,
    "routing": catalogue.BALANCING,
}


def grid(
    experiment: str | Path,
    *,
    cc: Some[Algorithm] | None = None,
    seed: Seeds = None,
    recovery: str | None = None,
    stop_time: str | None = None,
    jitter: str | None = None,
    profile: str | None = None,
    sysctl: str | Mapping[str, object] | None = None,
    backend: str = backends.DEFAULT,
    jobs: int = 0,
    db: str | Path | None = None,
    progress: bool = True,
    **parameters: Any,
) -> Runs:
    """Run an experiment for several algorithms, parameters and seeds, on all cores.

    >>> runs = ccperf.grid("aqm", cc=["cubic", "bbr"], seed=range(1, 11))  # doctest: +SKIP

    Every argument may be one value or several. Where a seed changes nothing, one run is made.

    Args:
        experiment: its name, e.g. ``"aqm"``, or a file with one of your own.
        cc: the algorithms under test: names, or classes of your own. Experiments on queue
            disciplines have ``qdisc`` instead, those on load balancers ``routing``. If not given,
            NewReno alone, or the experiment's usual disciplines or balancers.
        seed: e.g. ``range(1, 11)``; the experiment's own if not given.
        recovery, stop_time: instead of the experiment's own.
        jitter: time within which flows start, drawn from the seed, e.g. ``"10ms"``.
        profile: a release of ns-3, e.g. ``"ns3-3.48"``, with its TCP and its own loss recovery.
        sysctl: of all hosts on the backend ``linux``: ``{"tcp_sack": 0}``.
        backend: ``"native"``, ``"ns3"`` or ``"linux"``.
        jobs: runs at a time; 0: one a core.
        db: a database that keeps the runs, and what it has already is not run again. If it is not
            given, they are kept as long as the result is.
        progress: whether a bar is shown, in a notebook or a terminal.
        parameters: of the experiment, e.g. ``k=[1, 2]``; the catalogue's grid for those not given.

    Raises:
        UsageError: names the argument that is wrong; then nothing was run.
        RunError: if every run failed. If some did, there is a warning for each kind of failure.
        KeyboardInterrupt: after Ctrl-C; what was finished is in ``db``.
    """
    plan = asked.plan(
        asked.experiment(experiment),
        cc,
        seed,
        parameters,
        recovery=recovery,
        stop_time=stop_time,
        jitter=jitter,
        profile=profile,
        sysctl=asked.sysctl(sysctl, backend),
    )
    return _made(plan.points(), backend, jobs, db, progress)


def bench(
    cc: Some[Algorithm] | None = None,
    *,
    qdisc: Some[Algorithm] | None = None,
    routing: Some[Algorithm] | None = None,
    experiments: str | Iterable[str] = (),
    seed: Seeds = None,
    recovery: str | None = None,
    stop_time: str | None = None,
    jitter: str | None = None,
    profile: str | None = None,
    sysctl: str | Mapping[str, object] | None = None,
    backend: str = backends.DEFAULT,
    jobs: int = 0,
    db: str | Path | None = None,
    site: str | Path | None = None,
    progress: bool = True,
) -> Runs:
    """Run the whole catalogue for algorithms: all its experiments with all their points.

    >>> ccperf.bench(["cubic", MyCca], seed=range(1, 11), site="site")  # doctest: +SKIP

    Args:
        cc: congestion controls; or
        qdisc: queue disciplines, in the experiments on data centres; or
        routing: load balancers, in the experiments on load balancing.
        experiments: only these.
        site: a folder that the web site of the runs is written to.
        seed, recovery, stop_time, jitter, profile, sysctl, backend, jobs, db, progress: as for
            `grid`.

    Raises:
        UsageError: names the argument that is wrong; then nothing was run.
        RunError, KeyboardInterrupt: as for `grid`.
    """
    given = {"cc": cc, "qdisc": qdisc, "routing": routing}
    named = [(kind, names) for kind, names in given.items() if names is not None]
    if len(named) != 1:
        raise UsageError("cc", "name what is under test: one of cc, qdisc and routing")
    [(kind, given_names)] = named
    under_test = asked.filled(kind, given_names, "another of cc, qdisc and routing")
    there = _CATALOGUES[kind]
    wanted = [catalogue.get(name) for name in asked.several(experiments)] or list(there.values())
    for experiment in wanted:
        if experiment.kind != kind:
            message = f"{experiment.name} tests what {experiment.kind} names, not {kind}"
            raise UsageError("experiments", message)
    points: list[Point] = []
    algorithms = [known_to(wanted, word) for word in asked.algorithms(under_test)]
    for experiment in wanted:
        names = [name for name in algorithms if experiment.takes(name)]
        if not names:
            continue
        parameters = {kind: names} if kind != "cc" else {}
        plan = asked.plan(
            experiment,
            names if kind == "cc" else None,
            seed,
            parameters,
            recovery=recovery,
            stop_time=stop_time,
            jitter=jitter,
            profile=profile,
            sysctl=asked.sysctl(sysctl, backend),
        )
        points += plan.points()
    runs = _made(points, backend, jobs, db, progress)
    if site is not None:
        runs.site(site)
    return runs


def compare(
    *names: Algorithm,
    db: str | Path | Sequence[str | Path],
    metric: str | Iterable[str] = (),
    experiment: str | Iterable[str] = (),
    by: str = "",
    each: bool = False,
    least: float = LEAST,
    **parameters: Any,
) -> Comparison:
    """Compare algorithms whose runs are in databases, over the same points and seeds.

    >>> ccperf.compare("newreno", "cubic", db="runs.db", k=[1, 2])  # doctest: +SKIP
    >>> ccperf.compare("cubic", db="runs.db", by="qdisc=fifo,codel")  # doctest: +SKIP

    Args:
        names: algorithms, the first one is the base; all there are if none is named.
        db: one database or several.
        metric: those compared; the headlines of each experiment if not given.
        experiment: only these.
        by: a parameter, with two or more of its values or not: each algorithm at the first value is
            compared with itself at the others.
        each: a row for each point, not for each experiment.
        least: the smallest relative difference that matters, below 1.
        parameters: only these points, e.g. ``k=[1, 2]``.

    Raises:
        UsageError: names the argument that is wrong, or says what there is to compare.
    """
    files = asked.databases(db)
    words = ",".join(map(str, asked.several(experiment)))
    points = {
        name: [str(asked.word(each)) for each in asked.several(value)]
        for name, value in parameters.items()
    }
    found = chosen.choose(files, experiment=words, parameters=points)
    there = chosen.Algorithms.of(found)
    texts = [there.one(name, "names") for name in asked.algorithms(names)] or there.newest()
    if len(texts) < 2 and not by:
        raise UsageError("names", f"name at least two to compare; there is {', '.join(texts)}")
    return differences(
        by_parameter((cell for cell in found if cell.algorithm in texts), by, "by")
        if by
        else cells.by_algorithm(found, texts),
        asked.metrics(metric) or (lambda name: catalogue.answer(name).metrics),
        over="values" if by else "algorithms",
        each=each,
        least=asked.least(least),
    )


def _made(
    points: Iterable[Point], backend: str, jobs: int, db: str | Path | None, progress: bool
) -> Runs:
    """Make the runs that the database lacks; all of them, in the order of the points."""
    made_by = asked.backend(backend)
    count = asked.jobs(jobs)
    asked.file("db", db)
    wanted = list(points)
    for point in wanted:
        point.scenario.check()
        made_by.prepare(point.scenario)
    folder = Folder() if db is None else None
    path = folder.path / "runs.db" if folder else Path(str(db))
    with Store(path, "a") as store:
        report = campaign.run(
            wanted, store, made_by, jobs=count, progress=campaign.bar(show=progress)
        )
        _tell(report)
        stored = set(store.ids())
    keys = [
        (run_id, point.experiment, point.parameters)
        for run_id, point in zip(report.of_points, wanted, strict=True)
        if run_id in stored
    ]
    return Runs.at([path], keys, folder)


def _tell(report: CampaignReport) -> None:
    """Raise what ended a campaign, and warn of what failed in it."""
    if report.changed:
        raise report.changed
    if report.interrupted:
        raise KeyboardInterrupt
    alike = report.failures_by_kind()
    texts = [
        str(first) + (f" (and {len(others)} more like it)" if others else "")
        for first, *others in alike
    ]
    if texts and not (report.made or report.stored_before or report.made_elsewhere):
        raise RunError("; ".join(texts)) from alike[0][0].error
    for text in texts:
        warnings.warn(f"failed: {text}", RuntimeWarning, stacklevel=4)
    if report.unrepeatable:
        text = f"{report.unrepeatable.title}: made twice, it came out differently"
        warnings.warn(text, RuntimeWarning, stacklevel=4)
