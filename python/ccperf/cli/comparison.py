"""How a comparison is printed: tables, what gates say of it, and what it cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ccperf.cli.output import note, print_json, say
from ccperf.wording import counted

if TYPE_CHECKING:
    from ccperf.evidence.compare import Comparison, Row
    from ccperf.evidence.gate import Gate
    from ccperf.evidence.summary import Summary


def print_comparison(
    comparison: Comparison,
    format: str,
    broken: Sequence[tuple[Gate, Row]] | None,
    failed: bool,
) -> None:
    """Print a comparison, with gates (`broken` is not None) only what they say of it."""
    from ccperf.cli.formats import render
    from ccperf.evidence.compare import document

    if format == "json":
        print_json(
            {
                "base": comparison.base,
                "sides": list(comparison.sides),
                "rows": [document(row) for row in comparison.rows],
                "missing": {name: list(points) for name, points in comparison.missing.items()},
                "cells": comparison.cells,
                "deterministic_cells": comparison.deterministic,
                **(
                    {}
                    if broken is None
                    else {
                        "failed": failed,
                        "broken": [{"gate": g.text, **document(row)} for g, row in broken],
                    }
                ),
            }
        )
        return
    if format == "csv":
        say(_csv(comparison))
    elif broken is None:
        head, rows = _table(comparison)
        say(render(format, head, rows))
    else:
        _print_gates(comparison, format, broken, failed)
    for line in _remarks(comparison):
        note(line)


def _table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """One line a point (or experiment) and metric, one column an algorithm."""
    from ccperf.metrics import named

    lines: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in comparison.rows:
        lines.setdefault((row.experiment, row.point, row.metric), {})[row.side] = row
    rows = []
    for (experiment, point, metric), sides in lines.items():
        first = next(iter(sides.values()))
        what = f"{experiment}, {first.points} points" if first.points > 1 else experiment
        if first.points == 1:
            what = " ".join([experiment, *(f"{name}={value}" for name, value in point)])
        cells = [_value(first.base, first.points)]
        cells += [_change(sides[name]) if name in sides else "" for name in comparison.sides]
        definition = named(metric)
        rows.append([what, metric, definition.unit if definition else "", *cells])
    return ["where", "metric", "unit", comparison.base, *comparison.sides], rows


def _print_gates(
    comparison: Comparison, format: str, broken: Sequence[tuple[Gate, Row]], failed: bool
) -> None:
    from ccperf.cli.formats import render

    if broken:
        rows = [
            [
                gate.text,
                " ".join([row.experiment, *(f"{name}={value}" for name, value in row.point)]),
                _value(row.base),
                _value(row.other),
                _relative(row),
            ]
            for gate, row in broken
        ]
        side = ", ".join(dict.fromkeys(row.side for _, row in broken))
        say(render(format, ["gate", "where", comparison.base, side, "change"], rows))
    verdict = "failed" if failed else "passed"
    say(f"{verdict}: {len(broken)} of {counted(len(comparison.rows), 'comparison')} beyond a limit")


def _csv(comparison: Comparison) -> str:
    from ccperf.cli.formats import render
    from ccperf.evidence.compare import document

    documents = [document(row) for row in comparison.rows]
    parameters = list(dict.fromkeys(name for one in documents for name in one["point"]))
    fields = [name for name in documents[0] if name not in ("experiment", "point")]
    return render(
        "csv",
        ["experiment", *parameters, "base", *fields],
        [
            [
                one["experiment"],
                *(one["point"].get(name, "") for name in parameters),
                comparison.base,
                *("" if one[name] is None else str(one[name]) for name in fields),
            ]
            for one in documents
        ],
    )


def _remarks(comparison: Comparison) -> list[str]:
    rows = comparison.rows
    remarks = []
    if any(row.points > 1 for row in rows):
        remarks.append(
            "over several points: the mean of their relative differences, interval over points;"
            " --each shows every point"
        )
    if any(row.verdict == "one seed" for row in rows):
        remarks.append(
            "one seed: no intervals, and no word on significance; --seed 1..10 gives both"
        )
    if comparison.deterministic:
        remarks.append(
            f"a seed changes nothing in {comparison.deterministic} of"
            f" {counted(comparison.cells, 'cell')} (one algorithm at one point): what they say is"
            " exact, for these settings only"
        )
    unclear = sum(row.verdict == "not significant" for row in rows)
    if unclear:
        remarks.append(
            f"{unclear} of {counted(len(rows), 'difference')} not significant"
            " (5 %, Holm's correction)"
        )
    for side, points in comparison.missing.items():
        if points:
            some = "; ".join(points[:3]) + ("; ..." if len(points) > 3 else "")
            remarks.append(
                f"{side} has not {counted(len(points), 'point')} of {comparison.base}: {some}"
            )
    return remarks


def _value(summary: Summary, points: int = 1) -> str:
    """A mean with its interval over seeds; over points there is none that means something."""
    if not summary.half_width or points > 1:
        return digits(summary.mean)
    return f"{digits(summary.mean)} ± {digits(summary.half_width, 2)}"


def _change(row: Row) -> str:
    value = _value(row.other, row.points)
    if row.verdict == "same" or (row.points == 1 and digits(row.base.mean) == value):
        return value
    return f"{value} ({_relative(row)})" + (" *" if row.is_shown else "")


def _relative(row: Row) -> str:
    if row.relative is None:
        return f"{row.difference.mean:+.4g}".replace("-", "−")
    text = f"{100 * row.relative.value:+.1f}"
    if row.relative.half_width:
        text += f" ± {100 * row.relative.half_width:.1f}"
    return f"{text} %".replace("-", "−")


def digits(value: float, significant: int = 4) -> str:
    """A number for people: significant digits, but all digits before the point."""
    if abs(value) >= 10 ** (significant - 1):
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.{significant}g}".replace("-", "−")
