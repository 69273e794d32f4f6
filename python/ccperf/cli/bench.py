"""``ccperf bench``: the whole catalogue for algorithms under test, then the site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from ccperf.algorithms.roles import AGAINST, LABELS
from ccperf.base import interruption
from ccperf.cli.jobs import note_estimate, note_left_out, once, planned, run_campaign, status
from ccperf.cli.options import (
    Running,
    StopTime,
    Sysctl,
    option_of,
    under_test,
    writable_file,
    writable_folder,
)
from ccperf.cli.output import command_line, note, print_json, say
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError
from ccperf.experiments.grid import expand, seeds

if TYPE_CHECKING:
    from ccperf.campaign import Repeated
    from ccperf.campaign.plan import Plan
    from ccperf.experiments.catalogue import Experiment

    #: An experiment, with values of its parameters instead of the catalogue's.
    _Part: TypeAlias = tuple[Experiment, Mapping[str, Sequence[object]]]

#: What `--datacentre` and `--loadbalance` compare the schemes in.
COMPARED = (
    "mean_fct_l4",
    "small.mean_fct_l4",
    "small.p99_fct_l4",
    "large.mean_fct_l4",
    "query.mean_qct_l4",
    "total_unfinished_l4",
    "mean_sojourn_l2",
    "mean_utilization_l1",
    "total_qdisc_drops_l2",
    "total_qdisc_marks_l2",
)
#: And load balancers besides.
BALANCED = (
    *COMPARED,
    "reordering_rate_l3",
    "mean_reordering_extent_l3",
    "mean_path_switches_l3",
    "mean_imbalance_l1",
    "probing_overhead_l1",
)


def command(
    names: Annotated[
        str, Parameter(help="Algorithms under test, e.g. TcpNewReno,cubic; your own included.")
    ],
    /,
    *,
    datacentre: Annotated[
        bool,
        Parameter(
            name=["--datacentre", "--datacenter"],
            help="NAMES are queue disciplines; run the data-centre experiments.",
        ),
    ] = False,
    loadbalance: Annotated[
        bool,
        Parameter(
            name=["--loadbalance", "--load-balancing"],
            help="NAMES are load balancers; run the load-balancing experiments.",
        ),
    ] = False,
    experiments: Annotated[str, Parameter(help="Only these experiments, e.g. ecn,aqm.")] = "",
    named_set: Annotated[
        str,
        Parameter(
            name="--set",
            help="Only what a document asks for, e.g. rfc9743, l4s or bbr-draft (docs/sets.md).",
        ),
    ] = "",
    against: Annotated[
        str, Parameter(help="Opponents, e.g. cubic,bbr, in the experiments that have one.")
    ] = "",
    seed: Annotated[str, Parameter(help="Seeds: 42, 1,3 or 1..10.")] = "",
    stop_time: StopTime = "",
    jitter: Annotated[
        str, Parameter(help="Time within which flows start, drawn from the seed, e.g. 10ms.")
    ] = "",
    sysctl: Sysctl = "",
    running: Running | None = None,
    db: Annotated[
        Path | None,
        Parameter(
            help="One database for all instead of benchmark_ALGORITHM.db each (datacentre.db, "
            "loadbalance.db)."
        ),
    ] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="Folder of the site.")] = Path(
        "site"
    ),
    no_site: Annotated[bool, Parameter(help="Do not build the site.")] = False,
    json: Annotated[bool, Parameter(help="Print what was done as JSON to stdout.")] = False,
    dry_run: Annotated[
        bool, Parameter(name=["--dry-run", "-n"], help="Print what would run; run nothing.")
    ] = False,
) -> int:
    """Run every experiment of the catalogue for the algorithms, then build the site.

    What the database already has is not run again. With --datacentre the algorithms are queue
    disciplines, or RED-tail, RED-average and TCN-average, and are compared with the first; with
    --loadbalance they are load balancers.

    Examples: `ccperf bench TcpNewReno,cubic`, `ccperf bench ./mycca.py:MyCca --experiments ecn`,
    `ccperf bench --set rfc9743 cubic`,
    `ccperf bench --datacentre ECNSharp,TCN,RedQueueDisc --seed 1..10`,
    `ccperf bench --datacentre RED-tail,./myqueue.py:Mine --experiments testbed`,
    `ccperf bench --loadbalance ecmp,Conga,LetFlow,Hermes --experiments load_balancing`.
    """
    from ccperf.algorithms.user_code.names import label, short
    from ccperf.campaign.plan import Plan
    from ccperf.experiments.catalogue import sets

    running = running or Running()
    running.declare_sources()
    running.job_count()  # before the checking of points, which may take a while
    kind = _kind(datacentre, loadbalance)
    parts = _parts(kind, experiments, named_set, against)
    algorithms = _under_test([experiment for experiment, _ in parts], names)
    numbers = seeds(seed, "--seed") if seed else None
    jobs = {
        name: [
            Plan(
                experiment.name,
                [name],
                parameters=parameters,
                seeds=numbers,
                recovery=running.recovery_name(),
                stop_time=stop_time or None,
                jitter=jitter or None,
                profile=running.profile_name(),
                sysctl=sysctl or None,
            )
            for experiment, parameters in parts
            if experiment.takes(name)
        ]
        for name in algorithms
    }
    together = db or (Path(kind.database) if kind.database else None)
    targets = {name: together or Path(f"benchmark_{short(name)}.db") for name in algorithms}
    if not dry_run:  # before the checking of points, which may take a while
        for target in targets.values():
            writable_file(target, "--db")
        if not no_site:
            writable_folder(output)
    wanted = _planned(jobs, running.backend)
    count = sum(len(repeated.seeds) for repeats in wanted.values() for repeated in repeats)
    note_left_out(sum(plan.asked for plans in jobs.values() for plan in plans) - count)
    if dry_run:
        _print_plan([each for repeats in wanted.values() for each in repeats], running, json)
        return 0
    done, exit_status = _run(wanted, targets, running)
    index = None
    if done and not no_site and exit_status != interruption.STATUS:
        from ccperf.cli.site import build_site

        index = build_site(list(dict.fromkeys(done.values())), output).index
    if json:
        print_json(
            {
                "ok": exit_status == 0,
                "databases": [str(path) for path in dict.fromkeys(done.values())],
                "runs": count,
                "site": str(index) if index else None,
            }
        )
    else:
        for name in algorithms:
            say(f"{label(name)}: {done.get(name, 'no run finished, nothing stored')}")
            if named_set and sets.get(named_set).is_judged and name in done:
                _say_verdicts(named_set, name, done[name])
        if index:
            say(f"site: {index}")
        if kind.database and len(done) > 1:
            _compare(algorithms, done, kind.compared)
    note(f"again: {command_line()}")
    return exit_status


@dataclass(frozen=True)
class _Kind:
    """What is under test."""

    option: str
    what: str
    experiments: Mapping[str, Experiment]
    #: Where all runs go; one for each algorithm, if empty.
    database: str
    #: The metrics that they are compared in, after all is run.
    compared: Sequence[str] = ()


def _kind(datacentre: bool, loadbalance: bool) -> _Kind:
    if datacentre and loadbalance:
        raise UsageError("--loadbalance", "cannot be combined with --datacentre; give one")
    return _KINDS["routing" if loadbalance else "qdisc" if datacentre else "cc"]()


def _parts(kind: _Kind, experiments: str, named_set: str, against: str) -> list[_Part]:
    """The experiments asked for; all of the kind if nothing is said. Raises `UsageError`."""
    from ccperf.experiments import catalogue
    from ccperf.experiments.catalogue import sets

    chosen = [catalogue.get(name.strip()) for name in experiments.split(",") if name.strip()]
    for experiment in chosen:
        if experiment.name not in kind.experiments:
            raise UsageError("--experiments", _no_benchmark(experiment))
    if named_set and (chosen or kind.database):
        raise UsageError("--set", "has experiments of its own; leave the other option out")
    parts: list[_Part] = [
        (catalogue.get(entry.experiment), entry.parameters)
        for entry in (sets.get(named_set).entries if named_set else ())
    ] or [(experiment, {}) for experiment in chosen or kind.experiments.values()]
    return _met(parts, against) if against else parts


def _met(wanted: Sequence[_Part], against: str) -> list[_Part]:
    """The same with these opponents, where there is one."""
    opponents = {LABELS[AGAINST]: expand("--against", against)}
    if not any(AGAINST in experiment.roles for experiment, _ in wanted):
        raise UsageError("--against", "none of the experiments has an opponent")
    return [
        (experiment, {**parameters, **opponents} if AGAINST in experiment.roles else parameters)
        for experiment, parameters in wanted
    ]


def _under_test(experiments: Sequence[Experiment], names: str) -> list[str]:
    """The algorithms named. Raises `UsageError`; of another kind it says which option tests it."""
    try:
        return under_test(experiments, names, "names")
    except UsageError as error:
        # What takes it elsewhere are options that this command does not have.
        hint = _elsewhere(names)
        message = error.message.partition("; ")[0] + hint if hint else error.message
        raise UsageError(error.field, message) from None


def _planned(jobs: Mapping[str, Sequence[Plan]], backend: str) -> dict[str, list[Repeated]]:
    """What is to run of each algorithm. Raises `UsageError`.

    Built, and with that checked, for one seed; those of the others take room when it is time.
    """
    from ccperf.campaign.plan import SETTINGS

    try:
        return planned(jobs, backend)
    except UsageError as error:
        # Parameters have the values of the catalogue; what is wrong is a setting of all, or who it
        # meets.
        is_setting = error.field in (*SETTINGS, AGAINST)
        raise UsageError(
            option_of(error.field) if is_setting else error.field, error.message
        ) from None


def _print_plan(repeats: Sequence[Repeated], running: Running, json: bool) -> None:
    """The command of each point, and how long all of them take."""
    from ccperf.base.wording import counted

    # Who makes the runs is told how many they were, without waiting for it here.
    distinct = once(repeats)
    count, runs = (sum(len(each.seeds) for each in many) for many in (repeats, distinct))
    if runs < count:
        message = f"{count} points are {counted(runs, 'run')}"
        note(f"{message}: some experiments have points in common")
    lines = [line for repeated in repeats for line in repeated.commands(running.backend)]
    if json:
        print_json([{"command": line} for line in lines])
    else:
        say("\n".join(lines))
    note_estimate(((each.scenario, len(each.seeds)) for each in distinct), running)


def _run(
    wanted: dict[str, list[Repeated]], targets: Mapping[str, Path], running: Running
) -> tuple[dict[str, Path], int]:
    """Make the runs of each algorithm, and let go of what they were made from.

    Return the databases of those that have runs, and the exit status.
    """
    from ccperf.algorithms.user_code.names import label
    from ccperf.campaign.estimate import hops
    from ccperf.store import Store

    backend = running.open_backend()
    for repeats in wanted.values():
        for repeated in repeats:
            backend.prepare(repeated.scenario)
    exit_status = 0
    done: dict[str, Path] = {}
    with running.made_by(backend) as made_by:
        for name in list(wanted):
            with Store(targets[name], "a") as store:
                # The longest first, so that no core waits at the end for one that began last.
                longest = sorted(wanted.pop(name), key=lambda each: -hops(each.scenario))
                report = run_campaign(
                    (point for repeated in longest for point in repeated.points()),
                    store,
                    backend,
                    running,
                    title=label(name),
                    made_by=made_by,
                    count=sum(len(repeated.seeds) for repeated in longest),
                )
                if store.ids():
                    done[name] = targets[name]
            exit_status = max(exit_status, status(report))
            if report.interrupted or report.changed:
                break
    return done, exit_status


def _say_verdicts(named_set: str, algorithm: str, database: Path) -> None:
    """What each case of a set says of an algorithm's runs in a database."""
    from ccperf.algorithms import roles
    from ccperf.evidence import bbr_draft
    from ccperf.experiments.catalogue import sets
    from ccperf.store import Store

    sections = sets.get(named_set).sections
    with Store(database) as store:
        runs = [
            (int(run.parameters["case"]), run.seed, run.id)
            for run in store.runs()
            if run.experiment == "bbr_draft" and run.algorithms[roles.UNDER_TEST] == algorithm
        ]
        for case, seed, run in sorted(runs):
            verdict = bbr_draft.judge(str(case), store.recording(run))
            word = "passed" if verdict.passed else "FAILED"
            say(f"{word} A.{case} {sections[f'A.{case}']}, seed {seed}: {verdict.figure}")


def _no_benchmark(experiment: Experiment) -> str:
    """Why an experiment is not of those asked for, and what runs it."""
    other = _KINDS[experiment.kind]()
    if experiment.name in other.experiments:
        return f"{experiment.name} is one on {other.what}"
    return f"{experiment.name} is in no benchmark; `ccperf run {experiment.name}` runs it"


def _congestion_controls() -> _Kind:
    from ccperf.experiments.catalogue import REGISTRY

    return _Kind("cc", "congestion control", REGISTRY, "")


def _disciplines() -> _Kind:
    from ccperf.experiments.catalogue import DATACENTRE

    return _Kind("qdisc", "queue disciplines: --datacentre", DATACENTRE, "datacentre.db", COMPARED)


def _balancers() -> _Kind:
    from ccperf.experiments.catalogue import BALANCING

    return _Kind("routing", "load balancers: --loadbalance", BALANCING, "loadbalance.db", BALANCED)


_KINDS: Mapping[str, Callable[[], _Kind]] = {
    "cc": _congestion_controls,
    "qdisc": _disciplines,
    "routing": _balancers,
}


def _elsewhere(names: str) -> str:
    """Which option tests algorithms of another kind, if one of these is."""
    from ccperf.algorithms import registry
    from ccperf.base import expression
    from ccperf.experiments.catalogue.datacentre.schemes import NAMED

    options = {
        "qdisc": "with --datacentre",
        "routing": "with --loadbalance",
        "cc": "without option",
    }
    for word in expression.split(names):
        name = expression.bare(word)
        other = "qdisc" if name in NAMED else registry.kind_of(name)
        if other in options:
            return f"; `ccperf bench` tests {name} {options[other]}"
    return ""


def _compare(schemes: Sequence[str], databases: Mapping[str, Path], metrics: Sequence[str]) -> None:
    """Metrics of schemes over those of the first, over all points."""
    from ccperf.cli.comparison import print_comparison
    from ccperf.evidence import cells
    from ccperf.evidence.chosen import Algorithms
    from ccperf.evidence.compare import compare

    found = cells.read(dict.fromkeys(databases.values()))
    rows = [record.row for cell in found for record in cell.records.values()]
    there = Algorithms(rows, dict.fromkeys(databases.values()))
    sides = cells.by_algorithm(found, [there.one(name, "names") for name in schemes])
    print_comparison(compare(sides, metrics), "text", None)
