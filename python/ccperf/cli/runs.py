"""``ccperf runs``: what is in a database."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ccperf.cli.choice import Choice, Parameters
from ccperf.cli.options import Json
from ccperf.cli.output import parameters_text, print_json, say, table

if TYPE_CHECKING:
    from ccperf.store import RunRow


def command(
    *,
    db: Annotated[
        list[Path] | None,
        Parameter(help="Database; may be repeated. Default: those here."),
    ] = None,
    experiment: Annotated[str, Parameter(help="Only runs of this experiment.")] = "",
    cc: Annotated[str, Parameter(help="Only runs with a flow of this algorithm.")] = "",
    at: Annotated[str, Parameter(help="Only at these points, e.g. k=5,qdisc=codel.")] = "",
    seed: Annotated[str, Parameter(help="Only with these seeds.")] = "",
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """List the runs in a database; where several look alike, what differs in their scenarios."""
    from ccperf.cli.alike import settings
    from ccperf.cli.options import databases, resolve
    from ccperf.store import Store
    from ccperf.user_code.names import label

    rows: list[RunRow] = []
    files = databases(db)
    points = Choice(at=at, seed=seed)
    chosen = set(points.ids(files, parameters)) if points.is_made(parameters) else None
    with ExitStack() as stack:
        homes: dict[str, Store] = {}
        for path in files:
            store = stack.enter_context(Store(path, "r"))
            found = store.runs(
                experiment=experiment or None,
                cc=label(resolve("cc", "--cc", cc)) if cc else None,
            )
            found = [row for row in found if chosen is None or row.id in chosen]
            rows += found
            homes.update(dict.fromkeys((row.id for row in found), store))
        differ = settings(rows, lambda row: homes[row.id].scenario(row.id))
    if json:
        print_json([row_json(row) for row in rows])
        return
    head = ["differs in"] if any(differ) else []
    say(
        table(
            ["run", "experiment", "parameters", *head, "seed", "backend", "finished"],
            [
                [
                    row.id,
                    row.experiment or row.label or "",
                    parameters_text(row.parameters),
                    *([text] if head else []),
                    str(row.seed),
                    row.backend,
                    row.finished_at,
                ]
                for row, text in zip(rows, differ, strict=True)
            ],
        )
    )


def row_json(row: RunRow) -> dict[str, Any]:
    """One run as an object."""
    fields = asdict(row)
    return {"run": fields.pop("id"), **fields, "cc": list(row.cc)}
