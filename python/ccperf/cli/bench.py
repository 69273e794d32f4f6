"""``ccperf bench``: the whole catalogue for algorithms under test, then the site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ccperf import interruption
from ccperf.cli.options import Running, algorithms, writable_file, writable_folder
from ccperf.cli.output import command_line, note, print_json, say
from ccperf.cli.run import run_campaign, status
from ccperf.grid import seeds


def command(
    cc: Annotated[str, Parameter(help="Algorithms under test, e.g. TcpNewReno,cubic.")],
    /,
    *,
    experiments: Annotated[str, Parameter(help="Only these experiments, e.g. ecn,aqm.")] = "",
    seed: Annotated[str, Parameter(help="Seeds: 42, 1,3 or 1..10.")] = "",
    stop_time: Annotated[str, Parameter(help="Length of each run instead of 15s.")] = "",
    running: Running | None = None,
    db: Annotated[
        Path | None, Parameter(help="One database for all instead of benchmark_ALGORITHM.db each.")
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

    What the database already has is not run again.
    """
    from ccperf import catalogue
    from ccperf.plan import Plan
    from ccperf.user_code.names import label, short

    running = running or Running()
    running.declare_sources()
    names = algorithms(cc)
    chosen = [catalogue.get(name.strip()) for name in experiments.split(",") if name.strip()] or [
        *catalogue.REGISTRY.values()
    ]
    numbers = seeds(seed, "--seed") if seed else None
    jobs = {
        name: [
            Plan(
                experiment.name,
                [name],
                seeds=numbers,
                recovery=running.recovery_name(),
                stop_time=stop_time or None,
            )
            for experiment in chosen
        ]
        for name in names
    }
    points = {name: [p for plan in plans for p in plan.points()] for name, plans in jobs.items()}
    for point in (p for group in points.values() for p in group):
        point.scenario.lowered()
    if dry_run:
        for plans in jobs.values():
            for plan in plans:
                say("\n".join(plan.commands(running.backend)))
        return 0
    targets = {name: db or Path(f"benchmark_{short(name)}.db") for name in names}
    for target in targets.values():
        writable_file(target, "--db")
    if not no_site:
        writable_folder(output)
    backend = running.open_backend()
    for point in (p for group in points.values() for p in group):
        backend.prepare(point.scenario)

    from ccperf.store import Store

    exit_status = 0
    done: dict[str, Path] = {}
    for name in names:
        with Store(targets[name]) as store:
            report = run_campaign(points[name], store, backend, running, title=label(name))
            if store.ids():
                done[name] = targets[name]
        exit_status = max(exit_status, status(report))
        if report.interrupted or report.changed:
            break
    ok = exit_status == 0
    index = None
    if done and not no_site and exit_status != interruption.STATUS:
        from ccperf.cli.site import build_site

        index = build_site(list(dict.fromkeys(done.values())), output)
    if json:
        print_json(
            {
                "ok": ok,
                "databases": [str(path) for path in dict.fromkeys(done.values())],
                "runs": sum(map(len, points.values())),
                "site": str(index) if index else None,
            }
        )
    else:
        for name in names:
            say(f"{label(name)}: {done.get(name, 'no run finished, nothing stored')}")
        if index:
            say(f"site: {index}")
    note(f"again: {command_line()}")
    return exit_status
