"""``ccperf score``: one number for an algorithm against another, and its parts."""

from __future__ import annotations

from typing import Annotated

from ccperf.cli.options import DEFAULT_DB, Database, Json, Sandbox, StopTime, confine, writable_file
from ccperf.cli.output import note, print_json, say, terminal_width
from ccperf.cli.parameter import Parameter
from ccperf.runs import backends


def command(
    name: Annotated[str, Parameter(help="A congestion control: ./mine.py:Mine, bbr, ...")],
    /,
    *,
    against: Annotated[str, Parameter(help="What it is compared with.")] = "cubic",
    named_set: Annotated[
        str, Parameter(name="--set", help="The points of a set: rfc9743, ... (docs/sets.md).")
    ] = "",
    experiments: Annotated[
        str, Parameter(help="These experiments instead of seven short points, e.g. aqm,ecn.")
    ] = "",
    seed: Annotated[str, Parameter(help="Seeds: 42, 1,3 or 1..10.")] = "",
    budget: Annotated[
        float | None,
        Parameter(help="Seconds for all its runs; runs that are late fail."),
    ] = None,
    stop_time: StopTime = "",
    backend: Annotated[str, Parameter(help="What simulates: native, ns3 or linux.")] = (
        backends.DEFAULT
    ),
    jobs: Annotated[
        int, Parameter(name=["--jobs", "-j"], help="Parallel runs; 0: one per core.")
    ] = 0,
    sandbox: Sandbox = False,
    db: Database = DEFAULT_DB,
    json: Json = False,
) -> int:
    """Say in one number how an algorithm does against another: 1 is as good, 2 twice as good.

    It is the reward of a search: geometric means of what the headlines of the experiments gain over
    the same points and seeds (docs/score.md). `ccperf.score` says it in Python, in a fraction of
    a second once it is warm. Exits with 1 if the algorithm failed somewhere, which costs.
    """
    from ccperf.api.score import score
    from ccperf.errors import UsageError

    writable_file(db, "--db")
    if sandbox:
        confine(backend)
    try:
        found = score(
            name,
            against=against,
            set=named_set,
            experiments=[word.strip() for word in experiments.split(",") if word.strip()],
            seed=seed or None,
            budget=budget,
            stop_time=stop_time or None,
            backend=backend,
            jobs=jobs,
            db=db,
        )
    except UsageError as error:
        raise UsageError(_OPTIONS.get(error.field, error.field), error.message) from None
    if json:
        print_json(found.json())
    else:
        say(found.text(terminal_width()))
    for words in found.complaints:
        note(words)
    return 1 if found.failures else 0


#: What arguments of Python are called here.
_OPTIONS = {
    "cc": "name",
    "experiment": "--experiments",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "against",
            "set",
            "experiments",
            "seed",
            "budget",
            "stop_time",
            "backend",
            "jobs",
        )
    },
}
