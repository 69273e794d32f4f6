"""How a comparison is printed: tables, what gates say of it, and what it cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ccperf.base.wording import counted
from ccperf.cli.output import note, print_json, say

if TYPE_CHECKING:
    from ccperf.evidence.compare import Comparison, Row
    from ccperf.evidence.gate import Gate
    from ccperf.evidence.summary import Summary
    from ccperf.evidence.verdict import Extreme


def print_comparison(
    comparison: Comparison,
    format: str,
    broken: Sequence[tuple[Gate, Row]] | None,
    failed: bool,
    *,
    over_grids: bool = False,
) -> None:
    """Print a comparison, with gates (`broken` is not None) only what they say of it."""
    from ccperf.cli.formats import render
    from ccperf.evidence.compare import document

    if format == "json":
        print_json(
            {
                "base": comparison.base,
                "sides": list(comparison.sides),
                "rows": [document(row, over_grids=over_grids) for row in comparison.rows],
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
        say(_csv(comparison, over_grids))
    elif broken is None:
        say(render(format, *_table(comparison, over_grids)))
    else:
        _print_gates(comparison, format, broken, failed)
    for line in _remarks(comparison, over_grids):
        note(line)


def _table(comparison: Comparison, over_grids: bool) -> tuple[list[str], list[list[str]]]:
    """One line for each row of a comparison, the sides of a metric below each other."""
    from ccperf.runs.metrics import named

    lines: dict[tuple[Any, ...], list[Row]] = {}
    for row in comparison.rows:
        lines.setdefault((row.experiment, row.point, row.metric), []).append(row)
    is_pooled = any(row.points > 1 for row in comparison.rows)
    over_grids = over_grids and is_pooled
    one, *others = comparison.sides
    columns = ["where", "metric", "unit", comparison.base]
    columns += ["side", "its value"] if others else [one]
    columns += ["difference", *(["least", "largest"] if is_pooled else [])]
    columns += [*(["over grids"] if over_grids else []), "shown", "verdict"]
    rows = []
    for row in (row for sides in lines.values() for row in sides):
        base, value = _values(row)
        definition = named(row.metric)
        extremes = [_extreme(row, each) for each in (row.size.least, row.size.largest)]
        rows.append(
            [
                _where(row),
                row.metric,
                definition.unit if definition else "",
                base,
                *([row.side] if others else []),
                value,
                row.text,
                *(extremes if is_pooled else []),
                *([_over_grids(row)] if over_grids else []),
                _shown(row),
                str(row.verdict),
            ]
        )
    return columns, rows


def _where(row: Row) -> str:
    if row.points > 1:
        return f"{row.experiment}, {row.points} points"
    return " ".join([row.experiment, *(f"{name}={value}" for name, value in row.point)])


def _values(row: Row) -> tuple[str, str]:
    """The means of both sides, with their intervals over seeds at a point."""
    if row.points > 1:
        base, side = row.means
        return digits(base), digits(side)
    (found,) = row.differences
    return _value(found.base), _value(found.other)


def _extreme(row: Row, extreme: Extreme) -> str:
    """The least or largest difference with those parameters of its point that vary."""
    from ccperf.evidence.verdict import effect_text

    if row.points == 1:
        return ""
    others = [set(found.point) for found in row.differences]
    varying = [pair for pair in extreme.point if not all(pair in other for other in others)]
    text = effect_text(row.size.effect, extreme.value)
    return f"{text} ({' '.join(f'{name}={value}' for name, value in varying)})" if varying else text


def _over_grids(row: Row) -> str:
    from ccperf.evidence.verdict import effect_text

    found = row.over_grids
    return " to ".join(effect_text(row.size.effect, end) for end in found) if found else ""


def _shown(row: Row) -> str:
    said = row.verdict
    if row.points > 1:
        return f"{said.shown} of {said.points}"
    return " ".join(["*"] * said.shown + ["exact"] * said.exact)


def _print_gates(
    comparison: Comparison, format: str, broken: Sequence[tuple[Gate, Row]], failed: bool
) -> None:
    from ccperf.cli.formats import render

    if broken:
        rows = [
            [
                gate.text,
                _where(row),
                *_values(row),
                row.text,
            ]
            for gate, row in broken
        ]
        side = ", ".join(dict.fromkeys(row.side for _, row in broken))
        say(render(format, ["gate", "where", comparison.base, side, "change"], rows))
    verdict = "failed" if failed else "passed"
    say(f"{verdict}: {len(broken)} of {counted(len(comparison.rows), 'comparison')} beyond a limit")


def _csv(comparison: Comparison, over_grids: bool) -> str:
    from ccperf.cli.formats import render
    from ccperf.evidence.compare import document
    from ccperf.evidence.shown import flat

    documents = [document(row, over_grids=over_grids) for row in comparison.rows]
    parameters = list(dict.fromkeys(name for one in documents for name in one["point"]))
    fields = [name for name in documents[0] if name not in ("experiment", "point")]
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


def _remarks(comparison: Comparison, over_grids: bool) -> list[str]:
    rows = comparison.rows
    remarks = []
    if any(row.points > 1 for row in rows):
        remarks.append(
            "over several points: the mean difference (of factors the geometric one), the least and"
            " the largest; shown: at how many points it is exact, or more than chance (5 % for each"
            " metric and side, Holm's correction); --each shows every point"
        )
    if any(row.size.zeros for row in rows):
        remarks.append("where one side is 0 there is no factor: such points are not in the mean")
    if over_grids:
        remarks.append(
            "over grids: 95 % interval of the mean if the points were drawn at random from all that"
            " could be; it decides nothing else"
        )
    if any(row.verdict.unknown and row.seeds == 1 for row in rows):
        remarks.append("one seed: no intervals, and no word on chance; --seed 1..10 gives both")
    if comparison.deterministic:
        remarks.append(
            f"a seed changes nothing in {comparison.deterministic} of"
            f" {counted(comparison.cells, 'cell')} (one algorithm at one point): what they say is"
            " exact, for these settings only"
        )
    for side, points in comparison.missing.items():
        if points:
            some = "; ".join(points[:3]) + ("; ..." if len(points) > 3 else "")
            remarks.append(
                f"{side} has not {counted(len(points), 'point')} of {comparison.base}: {some}"
            )
    return remarks


def _value(summary: Summary) -> str:
    """A mean with its interval over seeds."""
    if not summary.half_width:
        return digits(summary.mean)
    return f"{digits(summary.mean)} ± {digits(summary.half_width, 2)}"


def digits(value: float, significant: int = 4) -> str:
    """A number for people: significant digits, but all digits before the point."""
    if abs(value) >= 10 ** (significant - 1):
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.{significant}g}".replace("-", "−")
