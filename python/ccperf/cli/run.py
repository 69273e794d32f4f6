"""``ccperf run``: an experiment or a grid of its parameters, a plan, or a scenario of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ccperf.algorithms.user_code.names import checked, entries, is_declared, is_user_code
from ccperf.base import expression, interruption
from ccperf.base.wording import counted
from ccperf.cli.jobs import (
    AskedFor,
    Job,
    Made,
    Outcome,
    check,
    note_estimate,
    note_left_out,
    plan_jobs,
)
from ccperf.cli.options import (
    DEFAULT_DB,
    Json,
    Running,
    StopTime,
    Sysctl,
    option_of,
    packets_file,
    under_test,
)
from ccperf.cli.output import (
    common,
    metric_tables,
    note,
    note_common,
    note_findings,
    overview,
    print_json,
    print_json_items,
    say,
    summary,
)
from ccperf.cli.parameter import Parameter
from ccperf.cli.trust import ask
from ccperf.errors import RunError, UsageError
from ccperf.experiments.grid import axes, seeds
from ccperf.runs import backends

#: So many runs are listed at the end; of more it is said how many.
_LISTED = 200

if TYPE_CHECKING:
    from ccperf.experiments.catalogue import Experiment
    from ccperf.runs.backends import Backend
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario


def command(
    what: Annotated[
        str,
        Parameter(
            help="An experiment; `dumbbell`, with --rate, --rtt, --buffer, --flows and --qdisc of "
            "yours; or a TOML or JSON file: a plan or a scenario."
        ),
    ],
    /,
    *,
    cc: Annotated[
        str,
        Parameter(
            help="Algorithms under test, e.g. cubic,bbr; if not given the experiment's own (most: "
            "TcpNewReno). Experiments on queue disciplines have --qdisc instead, those on load "
            "balancers --routing."
        ),
    ] = "",
    seed: Annotated[str, Parameter(help="Seeds: 42, 1,3 or 1..10.")] = "",
    stop_time: StopTime = "",
    jitter: Annotated[
        str, Parameter(help="Time within which flows start, drawn from the seed, e.g. 10ms.")
    ] = "",
    sysctl: Sysctl = "",
    what_if: Annotated[
        str,
        Parameter(
            help="Change these settings only: cc, flows, rate, rtt, buffer, qdisc, seed, "
            "stop_time; e.g. rtt=100ms,cc=cubic+bbr."
        ),
    ] = "",
    running: Running | None = None,
    db: Annotated[
        Path | None,
        Parameter(help="Database; if not given benchmark_ALGORITHM.db, for a scenario ccperf.db."),
    ] = None,
    packets: Annotated[
        Path | None,
        Parameter(help="Packet events as CSV, or a capture: FILE.pcapng (one run only)."),
    ] = None,
    json: Json = False,
    full: Annotated[bool, Parameter(help="Print all metrics of a single run, no summary.")] = False,
    dry_run: Annotated[
        bool, Parameter(name=["--dry-run", "-n"], help="Print what would run; run nothing.")
    ] = False,
    trust: Annotated[bool, Parameter(help="Run the code that FILE.toml names, if any.")] = False,
    **parameters: Annotated[
        str, Parameter(help="A parameter of the experiment: one value, 1,5 or 1..4.")
    ],
) -> int:
    """Run an experiment, a grid of its parameters, a plan or a scenario.

    A parameter that is not given takes the whole grid of the catalogue. What the database already
    has is not run again.
    """
    running = running or Running()
    running.declare_sources()
    file = Path(what)
    if file.is_dir() and what != file.name:
        raise UsageError("what", f"`{what}` is a folder; name a file in it, or an experiment")
    is_file = file.suffix in (".toml", ".json") or file.is_file()
    given = {"cc": cc, "stop-time": stop_time, "jitter": jitter, **parameters}
    if is_file:
        jobs = _from_file(file, running, seed, sysctl, given)
    else:
        jobs = _from_catalogue(what, running, cc, seed, stop_time, jitter, sysctl, parameters)
    if what_if:
        jobs = [job.what_if(what_if, running.backend) for job in jobs]
    note_left_out(sum(job.left_out for job in jobs))
    if dry_run:
        _print_plan(jobs, json)
        note_estimate((kind for job in jobs for kind in job.kinds), running)
        return 0
    if packets:
        _check_packets(packets, jobs, db, file, running.backend)
    if is_file:
        code = (name for job in jobs for scenario, _ in job.kinds for name in scenario.user_code)
        words = map(expression.bare, entries(",".join(given.values())))
        typed = set(_code_in(words))
        ask(file, (name for name in code if not is_declared(name) and name not in typed), trust)
    backend = running.open_backend()
    _prepare(backend, jobs)
    outcomes: list[Outcome] = []
    status = 0
    options = _common_options(running, db, trust)
    with running.made_by(backend) as made_by:
        while jobs:
            # Scenarios of many links are large, and will be loaded: those of what is made go.
            outcomes.append(outcome := jobs.pop(0).run(backend, running, db, packets, made_by))
            status = max(status, outcome.status)
            if outcome.ends_all:
                break
    if status != interruption.STATUS:
        # Of many runs a table takes longer than anybody waits who wants an end.
        _print_made([outcome.made for outcome in outcomes], options, json, full)
    return status


def _code_in(words: Iterable[str]) -> Iterator[str]:
    """The users' algorithms among them whose files are here. Who runs one says if it is not."""
    for word in words:
        if is_user_code(word):
            with suppress(ValueError):
                yield checked(word)


def _prepare(backend: Backend, jobs: Iterable[Job]) -> None:
    for job in jobs:
        for scenario, _ in job.kinds:
            backend.prepare(scenario)


def _common_options(running: Running, db: Path | None, trust: bool) -> str:
    """What a command that makes one point again needs besides the point."""
    words = ["--db", str(db)] if db else []
    words += running.again()
    words += ["--trust"] if trust else []
    return "".join(f" {word}" for word in map(shlex.quote, words))


def _print_made(parts: Sequence[Collection[Made]], options: str, json: bool, full: bool) -> None:
    """What came out: of one run its metrics, of several a line each; and how to make them again."""
    count, made = sum(map(len, parts)), chain.from_iterable(parts)
    if json:
        found = ({**run.json(), "command": one.point.again + options} for one, run in _loaded(made))
        print_json_items(found)
    elif count == 1:
        [(one, result)] = _loaded(made)
        say(f"{metric_tables(result) if full else summary(result)}\n\nrun {result.id}")
        note_findings(result)
        note(f"again: {one.point.again}{options}")
    elif count:
        _print_several(list(islice(made, _LISTED)), count)


def _print_several(listed: Sequence[Made], count: int) -> None:
    """The first of so many points, a line each."""
    from ccperf.present.reproduce import reproduce

    # A change may leave nothing of what told two points apart.
    alike = {(o.path, o.id, o.point.experiment, repr(o.point.parameters)): o for o in listed}
    _print_overview([*alike.values()])
    if len(alike) < len(listed):
        note(f"{len(listed)} points are {counted(len(alike), 'run')}: what differs is changed")
    if more := count - len(listed):
        note(f"and {counted(more, 'run')} more: `ccperf runs --db FILE` lists all")
    kinds = {one.point.experiment: one for one in listed}.values()
    # What is in a file, or was changed, has no command of its own.
    is_shown = all(reproduce(run) for _, run in _loaded(kinds))
    line = "`ccperf show RUN --db FILE` prints its command"
    note(f"each run again: {line if is_shown else 'the same line with -n prints its command'}")


def _print_overview(made: Sequence[Made]) -> None:
    """A line for each. Of all of them only lines are held: scenarios and samples are large."""
    from ccperf.cli.alike import settings
    from ccperf.store import Store

    with ExitStack() as stack:
        stores = {path: stack.enter_context(Store(path, "r")) for path in {m.path for m in made}}
        homes = {one.id: stores[one.path] for one in made}
        rows = [
            stores[one.path].row(one.id, one.point.experiment, one.point.parameters) for one in made
        ]
        differ = settings(rows, lambda row: homes[row.id].scenario(row.id))
        said_once = common(rows)
        say(overview(rows, lambda row: homes[row.id].metrics(row.id), differ, said_once))
    note_common(said_once)


def _loaded(made: Iterable[Made]) -> Iterator[tuple[Made, Result]]:
    """Each with its run, one at a time."""
    from ccperf.store import Store

    for path, those in groupby(made, key=attrgetter("path")):
        with Store(path, "r") as store:
            for one in those:
                point = one.point
                yield one, store.load(one.id, point.experiment, point.parameters)


def _from_catalogue(
    name: str | Experiment,
    running: Running,
    cc: str,
    seed: str,
    stop_time: str,
    jitter: str,
    sysctl: str,
    parameters: dict[str, str],
) -> list[Job]:
    from ccperf.campaign.plan import Plan
    from ccperf.experiments import catalogue

    experiment = catalogue.get(name)
    name = experiment.name
    if any(each.name == "on" for each in experiment.parameters) and not running.is_place():
        # `--on 200ms` is what the experiment calls so; `--on dask` is where it runs.
        parameters = {"on": running.on, **parameters}
        running.on = "here"
    option, given = f"--{experiment.kind}", cc
    if experiment.kind != "cc":
        if cc:
            raise UsageError("--cc", f"{name} tests what {option} names; see `ccperf show {name}`")
        given = parameters.pop(experiment.kind, "")
    plan = Plan(
        experiment=experiment,
        cc=under_test([experiment], given, option) if given else (),
        parameters=axes(parameters),
        seeds=seeds(seed, "--seed") if seed else None,
        recovery=running.recovery_name(),
        stop_time=stop_time or None,
        jitter=jitter or None,
        profile=running.profile_name(),
        sysctl=sysctl or None,
    )
    try:
        return plan_jobs([plan], running.backend)
    except UsageError as error:
        as_it_is = error.field.startswith("--") or error.field == name
        field = error.field if as_it_is else option_of(error.field)
        raise UsageError(field, error.message) from None


def _from_file(
    path: Path, running: Running, seed: str, sysctl: str, given: Mapping[str, str]
) -> list[Job]:
    from dataclasses import replace

    from ccperf.campaign import plan as plans
    from ccperf.experiments.catalogue import own
    from ccperf.experiments.topologies import written
    from ccperf.scenario.toml import Document

    try:
        document = Document.read(path)
    except OSError as error:
        raise UsageError(str(path), f"cannot be read: {error.strerror}") from None
    if own.is_one(document.data):
        options = dict(given)
        settings = (options.pop(name) for name in ("cc", "stop-time", "jitter"))
        cc, stop_time, jitter = settings
        seed = seed or str(document.data.get("seed", ""))
        return _from_catalogue(
            own.read(path), running, cc, seed, stop_time, jitter, sysctl, options
        )
    _no_options(f"belongs into {path}, not here", given)
    if plans.is_plan(document.data):
        given_here: dict[str, Any] = {"seeds": seeds(seed, "--seed")} if seed else {}
        if running.recovery:
            given_here["recovery"] = running.recovery_name()
        if running.profile:
            given_here["profile"] = running.profile_name()
        if sysctl:
            given_here["sysctl"] = sysctl
        found = plans.from_document(document)
        return plan_jobs([replace(plan, **given_here) for plan in found], running.backend)
    scenario = written.from_document(document)
    if not scenario.label:
        scenario = scenario.model_copy(update={"label": path.stem})
    return [_scenario_job(str(path), scenario, running, seed, sysctl)]


def _no_options(message: str, given: Mapping[str, str]) -> None:
    for option, value in given.items():
        if value:
            raise UsageError(f"--{option.replace('_', '-')}", message)


def _scenario_job(name: str, scenario: Scenario, running: Running, seed: str, sysctl: str) -> Job:
    from ccperf.campaign import Point
    from ccperf.scenario import profiles
    from ccperf.scenario.sysctl import one_spelling

    if recovery := running.recovery_name():
        flows = tuple(f.model_copy(update={"recovery": recovery}) for f in scenario.flows)
        scenario = scenario.model_copy(update={"flows": flows})
    if profile := running.profile_name():
        scenario = profiles.with_tcp(scenario, profile, recovery)
    if sysctl:
        backends.needs_sysctls(running.backend, "--sysctl")
        scenario = scenario.with_sysctls(one_spelling(sysctl, "--sysctl"))
    numbers = seeds(seed, "--seed") if seed else [scenario.seed]
    scenarios = [scenario.model_copy(update={"seed": number}) for number in numbers]
    options = f" --backend {running.backend}" if running.backend != backends.DEFAULT else ""
    options += f" --recovery {running.recovery}" if running.recovery else ""
    options += f" --profile {running.profile}" if running.profile else ""
    options += f" --sysctl {shlex.quote(sysctl)}" if sysctl else ""
    points = [Point(one) for one in scenarios]
    check(points)
    line = f"ccperf run {shlex.quote(name)}"
    return Job(
        points,
        DEFAULT_DB,
        [AskedFor(line + (f" --seed {n}" if seed else "") + options) for n in numbers],
        [(one, 1) for one in scenarios],
    )


def _check_packets(
    packets: Path, jobs: Sequence[Job], db: Path | None, file: Path, backend: str
) -> None:
    count = sum(len(job.points) for job in jobs)
    if count != 1:
        raise UsageError("--packets", f"takes one run, but these are {count}; choose one point")
    databases = [db] if db else [job.default_db for job in jobs]
    packets_file(packets, backend, [*databases, file])


def _print_plan(jobs: Sequence[Job], json: bool) -> None:
    if not any(job.points for job in jobs):
        raise RunError("nothing to run")
    if not json:
        for job in jobs:
            say("\n".join(one.again for one in job.asked))
        return
    print_json(
        [
            {
                "experiment": point.experiment,
                "parameters": dict(point.parameters),
                "seed": point.scenario.seed,
                "scenario": point.scenario.hash,
                "command": asked.again,
            }
            for job in jobs
            for point, asked in zip(job.points, job.asked, strict=True)
        ]
    )
