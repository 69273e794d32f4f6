"""How a comparison is printed: tables, what gates say of it, and what it cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.cli.output import note, print_json, say

if TYPE_CHECKING:
    from typing import Any

    from ccperf.evidence.compare import Comparison, Lack
    from ccperf.evidence.gate import Judgement


def print_comparison(
    comparison: Comparison,
    format: str,
    judgement: Judgement | None,
    *,
    over_grids: bool = False,
) -> None:
    """Print a comparison, with gates only what they say of it."""
    from ccperf.cli.formats import render
    from ccperf.evidence import text
    from ccperf.evidence.rows import document

    if format == "json":
        print_json(
            {
                "base": comparison.base,
                "sides": list(comparison.sides),
                "rows": [document(row, over_grids=over_grids) for row in comparison.rows],
                "missing": {name: list(points) for name, points in comparison.missing.items()},
                "beyond": {name: list(points) for name, points in comparison.beyond.items()},
                "several": {name: list(points) for name, points in comparison.several.items()},
                "unpaired": [
                    {**vars(lack), "seeds": list(lack.seeds)} for lack in comparison.unpaired
                ],
                "lacking": [_lack(lack) for lack in comparison.lacking],
                "neither": [_lack(lack) for lack in comparison.neither],
                "less_finished": [_lack(lack) for lack in comparison.less_finished],
                "never": [_lack(lack) for lack in comparison.never],
                "pooled": {name: list(values) for name, values in comparison.pooled.items()},
                "cells": comparison.cells,
                "deterministic_cells": comparison.deterministic,
                "left_out": comparison.left_out,
                **(
                    {}
                    if judgement is None
                    else {
                        "failed": judgement.failed,
                        "why": judgement.text,
                        "broken": [
                            {"gate": gate.text, **document(row)} for gate, row in judgement.broken
                        ],
                    }
                ),
            }
        )
        return
    if format == "csv":
        say(_csv(comparison, over_grids))
    elif judgement is None:
        say(render(format, *text.cells(comparison, over_grids=over_grids)))
    else:
        _print_gates(comparison, format, judgement)
    for line in text.remarks(comparison, over_grids=over_grids):
        note(line)


def _lack(lack: Lack) -> dict[str, Any]:
    return {**vars(lack), "point": dict(lack.point)}


def _print_gates(comparison: Comparison, format: str, judgement: Judgement) -> None:
    from ccperf.cli.formats import render
    from ccperf.evidence import text

    if judgement.broken:
        rows = [
            [
                gate.text,
                text.where(row),
                *text.values(row),
                row.text,
            ]
            for gate, row in judgement.broken
        ]
        side = ", ".join(dict.fromkeys(row.side for _, row in judgement.broken))
        say(render(format, ["gate", "where", comparison.base, side, "change"], rows))
    say(judgement.text)


def _csv(comparison: Comparison, over_grids: bool) -> str:
    from ccperf.cli.formats import render
    from ccperf.evidence.rows import document
    from ccperf.evidence.shown import flat

    documents = [document(row, over_grids=over_grids) for row in comparison.rows]
    parameters = list(dict.fromkeys(name for one in documents for name in one["point"]))
    # Where only one side has values there is no row.
    fields = [name for name in (documents or [{}])[0] if name not in ("experiment", "point")]
    rows = [
        [
            one["experiment"],
            *(one["point"].get(name, "") for name in parameters),
            comparison.base,
            *("" if values[name] is None else str(values[name]) for name in fields),
        ]
        for one, values in ((one, flat(one)) for one in documents)
    ]
    return render("csv", ["experiment", *parameters, "base", *fields], rows)
