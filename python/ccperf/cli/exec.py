"""``ccperf exec -- COMMAND LINE``: a published one, or one of a program for ns-3, verbatim."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ccperf.base import outputs
from ccperf.cli.options import DEFAULT_DB, Json, Running, packets_file, writable_file
from ccperf.cli.output import metric_tables, note, note_findings, print_json, say, summary, warn
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError

if TYPE_CHECKING:
    from ccperf.experiments.programs import DumbbellRun, ProgramRun
    from ccperf.experiments.programs.program import File


def command(
    *words: Annotated[
        str, Parameter(allow_leading_hyphen=True, help="The command line, after --.")
    ],
    running: Running | None = None,
    db: Annotated[
        Path | None, Parameter(help="Database instead of the line's --db-path, or ccperf.db.")
    ] = None,
    packets: Annotated[
        Path | None, Parameter(help="Write packet events to this CSV, or pcapng.")
    ] = None,
    json: Json = False,
    full: Annotated[bool, Parameter(help="Print all metrics, no summary.")] = False,
    dry_run: Annotated[
        bool, Parameter(name=["--dry-run", "-n"], help="Print the scenario as JSON; run nothing.")
    ] = False,
) -> None:
    """Run a published ccperf command line, or one of a program written for ns-3.

    TcpPrrRecovery in a published line means the recovery of the published tables, PrrRfc6937. Of
    ns-3's examples tcp-variants-comparison, tcp-validation and queue-discs-benchmark run; of
    ns3-ecn-sharp large-scale, large-scale-pias, queue-track, mq and fct_parser.py, and of
    ns3-load-balance conga-simulation-large and fattree-simulation, which print and write what the
    originals do.
    """
    from ccperf.experiments import programs
    from ccperf.experiments.programs.ecn_sharp import fct_parser

    patterns = fct_parser.asked_for(words)
    if patterns is not None:
        say("\n".join(fct_parser.parse(patterns)))
        note("what the end of a run cut off cannot be told from the rest in such a file")
        return
    running = running or Running()
    running.declare_sources()
    try:
        line = programs.parse(words)
    except programs.HelpRequested as asked:
        say(asked.message)
        return
    if running.profile:
        message = "a published line is of the release that it was made with; `ccperf run` takes one"
        raise UsageError("--profile", message)
    recovery = running.recovery_name()
    if recovery:
        line = line.with_recovery(recovery)
    scenario, warnings = programs.scenario(line)
    scenario.lowered()  # every mistake is found before a file is touched
    for warning in warnings:
        warn(warning)
    if dry_run:
        print_json(scenario.canonical())
        return
    try:
        outputs.experiment_name(line.experiment)
    except ValueError as error:
        raise UsageError("--experiment-name", str(error)) from None
    files = own_files(line)
    target = db or Path(line.db_path or DEFAULT_DB)
    writable_file(target, "--db" if db or not line.db_path else "--db-path")
    if packets:
        packets_file(packets, running.backend, [target])
    backend = running.open_backend()
    backend.prepare(scenario)

    from ccperf.campaign import Point
    from ccperf.cli.jobs import simulate_one
    from ccperf.store import Store

    with Store(target, "a") as store:
        made = simulate_one(Point(scenario, *labels(line)), backend, packets)
        store.add(made)
        # As it is stored, user code has its label: what a line says of folders is of this machine.
        result = store.load(made.id, made.experiment, made.parameters)
    for path, file in files.items():
        with outputs.whole(path) as draft:
            file.write(result, draft)
        note(f"wrote {path}")
    lines = line.lines(result) if isinstance(line, programs.ProgramRun) else None
    again = line.reproduce(
        backend.name, options=[*(["--db", str(db)] if db else []), *running.again()]
    )
    if json:
        print_json({**result.json(), "command": again})
    else:
        tables = metric_tables if full else summary
        say(tables(result) if lines is None else "\n".join(lines))
        note_findings(result)
        note(f"run {result.id} in {target}")
        note(f"again: {again}")


def own_files(line: DumbbellRun | ProgramRun) -> dict[Path, File]:
    """The files that a program leaves in the current folder, none of them over another's."""
    files = {Path(file.name): file for file in getattr(line, "files", list)()}
    for path, file in files.items():
        if path.name != file.name:
            raise UsageError("--id", f"`{path}` is no name of a file")
        outputs.may_write(path, file.kind, "--id")
    return files


def labels(line: DumbbellRun | ProgramRun) -> tuple[str | None, dict[str, str]]:
    """Experiment and parameters as the catalogue spells them, if it is a point of the catalogue."""
    from ccperf.algorithms import roles
    from ccperf.experiments.catalogue import NAMED

    parameters = dict(line.parameters)
    experiment = NAMED.get(line.experiment)
    if experiment is not None:
        varied = roles.parameters(parameters)
        with suppress(UsageError):  # labels are free text
            parameters |= {name: str(value) for name, value in experiment.point(varied).items()}
    return line.experiment or None, parameters
