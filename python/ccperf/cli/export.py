"""``ccperf export``: a database, or runs, in formats that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from ccperf.base.wording import counted
from ccperf.cli.choice import Choice, Parameters, named
from ccperf.cli.options import Databases, Folder, Json, databases, find_runs, writable_folder
from ccperf.cli.output import print_json, say, warn
from ccperf.cli.parameter import Parameter
from ccperf.cli.trust import ask

#: Formats that have no room for transfers without an end, and how many of these a run has.
_OF_THOSE_ENDED = ("hpcc", "htsim")
_UNFINISHED = "total_unfinished_l4"


def command(
    *runs: Annotated[str, Parameter(help="Ids of runs, or their beginnings. Default: all.")],
    db: Databases = None,
    choice: Choice | None = None,
    output: Folder = Path("export"),
    format: Annotated[
        Literal[
            "parquet",
            "csv",
            "json",
            "tidy",
            "pcapng",
            "flent",
            "qlog",
            "iperf3",
            "flowmonitor",
            "hpcc",
            "htsim",
        ],
        Parameter(help="Format."),
    ] = "parquet",
    series: Annotated[
        bool, Parameter(help="The recorded series, too (parquet, csv, json).")
    ] = False,
    trust: Annotated[
        bool, Parameter(help="Run the code that a run names, if it is simulated again.")
    ] = False,
    json: Json = False,
    **parameters: Parameters,
) -> int:
    """Export runs, metrics and, on demand, series.

    `parquet`, `csv` and `json` write a table of runs and one of metrics; `tidy` writes one CSV with
    a row for each value and a column for each parameter. The others write a file for each run:
    `pcapng` for Wireshark (packets are simulated again), `flent`, `qlog` for qvis, iperf3's JSON,
    `flowmonitor` for what reads ns-3's XML. A run that cannot be read is left out of the tables and
    named; exit status 1 then.
    """
    from contextlib import ExitStack

    from ccperf.errors import UsageError
    from ccperf.evidence.versions import versioned
    from ccperf.store import DamagedRun, Several, Store
    from ccperf.store import export as tables

    if series and format not in ("parquet", "csv", "json"):
        raise UsageError("--series", f"is of parquet, csv and json; `{format}` has none")
    files = databases(db, runs)
    writable_folder(output)
    chosen = named(runs, choice, parameters, files)
    left_out: list[DamagedRun] = []
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(path, "r")) for path in files]
        store = Several(stores)
        rows = store.runs()
        found = find_runs(chosen or list(dict.fromkeys(row.id for row in rows)), stores)
        if format in ("parquet", "csv", "json", "tidy"):
            ids = {run for _, run in found}
            # By one name two versions would be one algorithm to whatever reads the table.
            both = list(zip(rows, versioned(rows), strict=True))
            rows = [row for row, _ in both if row.id in ids]
            called = [name for row, name in both if row.id in ids]
            if format == "tidy":
                from ccperf.present.exporters import tidy

                path = output / "tidy.csv"
                paths = [tidy(store, rows, path, called=called, leave_out=left_out.append)]
            else:
                paths = tables.export(
                    store,
                    output,
                    format,
                    runs=rows,
                    called=called,
                    series=series,
                    leave_out=left_out.append,
                )
        else:
            from ccperf.present.exporters import EXPORTERS, export

            each = list(dict.fromkeys(found))
            if not EXPORTERS[format].of_stored:
                for of, number in each:
                    ask(of.path, of.load(number).scenario.user_code, trust)
            paths = export(format, (of.load(run) for of, run in each), output)
            if format in _OF_THOSE_ENDED:
                left = [of.reduced_metrics(run)[run].get(_UNFINISHED, 0) for of, run in each]
                for path, count in zip(paths, left, strict=True):
                    if count and path.stat().st_size:
                        lacks = f"lacks {counted(int(count), 'unfinished transfer')}"
                        warn(f"{path} {lacks}: `{format}` has those that have ended")
    for path in paths:
        if not path.stat().st_size:
            warn(f"{path} is empty: `{format}` has transfers that have ended, and its run has none")
    for run in left_out:
        warn(f"left out: {run}")
    if json:
        print_json([str(path) for path in paths])
    else:
        say("\n".join(map(str, paths)))
    return 1 if left_out else 0
