"""``ccperf runs``: what is in a database."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from ccperf.cli.choice import Choice, Parameters
from ccperf.cli.options import Databases, Json
from ccperf.cli.output import common, note_common, own_parameters, print_json_items, say, table
from ccperf.cli.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.store import RunRow


def command(
    *,
    db: Databases = None,
    experiment: Annotated[str, Parameter(help="Only runs of this experiment.")] = "",
    cc: Annotated[
        str, Parameter(help="Only runs with these algorithms, as MyCca or MyCca@2503.")
    ] = "",
    at: Annotated[str, Parameter(help="Only at these points, e.g. k=5,qdisc=codel.")] = "",
    seed: Annotated[str, Parameter(help="Only with these seeds.")] = "",
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """List the runs in a database; where several look alike, what differs in their scenarios."""
    from ccperf.cli.alike import settings
    from ccperf.cli.options import databases
    from ccperf.store import Store

    files = databases(db)
    found = Choice(experiment, cc, at, seed).rows(files, parameters)
    rows = [row for _, row in found]
    with ExitStack() as stack:
        stores = {path: stack.enter_context(Store(path, "r")) for path in files}
        homes = {row.id: stores[path] for path, row in found}
        differ = settings(rows, lambda row: homes[row.id].scenario(row.id))
    if json:
        print_json_items(map(row_json, rows))
        return
    said_once = common(rows)
    head = ["differs in"] if any(differ) else []
    say(
        table(
            ["run", "experiment", "parameters", *head, "seed", "backend", "finished"],
            [
                [
                    row.id,
                    row.experiment or row.label or "",
                    own_parameters(row, said_once),
                    *([text] if head else []),
                    str(row.seed),
                    row.backend,
                    row.finished_at,
                ]
                for row, text in zip(rows, differ, strict=True)
            ],
        )
    )
    note_common(said_once)


def row_json(row: RunRow) -> dict[str, Any]:
    """One run as an object."""
    fields = asdict(row)
    return {"run": fields.pop("id"), **fields, "cc": list(row.cc)}
