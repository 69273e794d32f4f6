"""``ccperf compare``: the metrics of several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ccperf.cli.options import Json, load_runs
from ccperf.cli.output import number, print_json, say, table

if TYPE_CHECKING:
    from ccperf.metrics import Metric


def command(
    *runs: Annotated[str, Parameter(help="Ids of runs, or their beginnings.")],
    db: Annotated[list[Path], Parameter(help="Database; may be repeated.")],
    json: Json = False,
) -> None:
    """Compare the metrics of two or more runs; the best value of a row has a star.

    Flow metrics are means over the run's flows, counts are sums.
    """
    from ccperf.errors import UsageError
    from ccperf.metrics import METRICS

    if len(runs) < 2:
        raise UsageError("runs", "name at least two; `ccperf runs --db FILE` lists them")
    results = load_runs(runs, db)
    rows: list[list[str]] = []
    document: dict[str, dict[str, float]] = {}
    for name, metric in METRICS.items():
        values = [_reduced(metric, result.metrics.of(metric.scope)) for result in results]
        present = [value for value in values if value is not None]
        if not present:
            continue
        best = {"higher": max, "lower": min}.get(metric.better or "", lambda _: None)(present)
        alike = len({number(name, value) for value in present}) == 1
        rows.append(
            [
                name,
                metric.unit,
                *(
                    ""
                    if value is None
                    else number(name, value) + (" *" if value == best and not alike else "")
                    for value in values
                ),
            ]
        )
        document[name] = {
            result.id: value
            for result, value in zip(results, values, strict=True)
            if value is not None
        }
    if json:
        print_json(document)
        return
    for position, result in enumerate(results, 1):
        say(f"{position}: {result.id}  {result.title}  seed {result.provenance.seed}")
    say()
    say(table(["metric", "unit", *(str(i + 1) for i in range(len(results)))], rows))


def _reduced(metric: Metric, columns: Mapping[str, Mapping[str, float]]) -> float | None:
    values = [column[metric.name] for column in columns.values() if metric.name in column]
    return metric.reduce(values) if values else None
