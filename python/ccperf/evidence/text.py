"""A comparison in words: its rows as texts, and what they cannot say."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ccperf.base.columns import table
from ccperf.base.wording import alike, all_at, counted
from ccperf.evidence.verdict import effect_text
from ccperf.runs.metrics import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ccperf.evidence.compare import Comparison, Lack
    from ccperf.evidence.rows import Row, Where
    from ccperf.evidence.summary import Summary
    from ccperf.evidence.verdict import Extreme


#: Where the reader is, who is told what to write.
Place: TypeAlias = Literal["shell", "python"]
_EACH: dict[Place, str] = {"shell": "--each", "python": "each=True"}
_SEEDS: dict[Place, str] = {"shell": "--seed 1..10", "python": "seed=range(1, 11)"}


def text(comparison: Comparison) -> str:
    """Return all of it, as Python prints it."""
    lines = [table(*cells(comparison))] if comparison.rows else ["nothing to compare"]
    return "\n".join([*lines, *remarks(comparison, place="python")])


def cells(comparison: Comparison, *, over_grids: bool = False) -> tuple[list[str], list[list[str]]]:
    """One line for each row of a comparison, the sides of a metric below each other."""
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
    said_once = common(comparison)
    rows = []
    for row in (row for sides in lines.values() for row in sides):
        base, value = values(row)
        definition = named(row.metric)
        extremes = [_extreme(row, each) for each in (row.size.least, row.size.largest)]
        rows.append(
            [
                where(row, said_once.get(row.experiment, {})),
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


def remarks(
    comparison: Comparison, *, over_grids: bool = False, place: Place = "shell"
) -> list[str]:
    """What holds for the table as a whole, and what is not in it."""
    rows = comparison.rows
    remarks = [all_at(*said) for said in common(comparison).items()]
    if any(row.points > 1 for row in rows):
        remarks.append(
            "over several points: the mean difference (of factors the geometric one), the least and"
            " the largest; shown: at how many points it is exact, or more than chance (5 % for each"
            f" metric and side, Holm's correction); {_EACH[place]} shows every point"
        )
    if any(map(_looks_shown, rows)):
        remarks.append(
            "stars are corrected for the number of points (Holm), intervals are not: one without a"
            " star may leave out equality by chance"
        )
    if comparison.pooled:
        settings = comparison.pooled.items()
        some = ", ".join(f"{name} ({_first(values, ', ')})" for name, values in settings)
        name, (value, *_) = next(iter(settings))
        remarks.append(
            f"one row has points of runs with different settings: {some};"
            f" {_one(place, name, value)} compares some of them"
        )
    if any(row.size.zeros for row in rows):
        remarks.append("where one side is 0 there is no factor: such points are not in the mean")
    remarks += lacks(comparison)
    if over_grids:
        remarks.append(
            "over grids: 95 % interval of the mean if the points were drawn at random from all that"
            " could be; it decides nothing else"
        )
    if "one seed" in (bases := {found.basis for row in rows for found in row.differences}):
        some = "" if bases <= {"one seed", "exact"} else " has values at some points"
        there = " there" if some else ""
        remarks.append(
            f"one seed{some}: no intervals{there}, and no word on chance;"
            f" {_SEEDS[place]} gives both"
        )
    if comparison.deterministic:
        remarks.append(
            f"a seed changes nothing in {comparison.deterministic} of"
            f" {counted(comparison.cells, 'cell')} (one algorithm at one point): what they say is"
            " exact, for these settings only"
        )
    remarks += comparison.left_out
    for side in comparison.sides:
        for who, points, whose in (
            (side, comparison.missing[side], comparison.base),
            (comparison.base, comparison.beyond[side], side),
        ):
            if points:
                some = _first(points)
                remarks.append(f"{who} has not {counted(len(points), 'point')} of {whose}: {some}")
    for side, points in comparison.several.items():
        if points:
            remarks.append(
                f"{side} has results of several engines or settings at"
                f" {counted(len(points), 'point')}, and the newest are compared: {_first(points)}"
            )
    remarks += _unpaired(comparison)
    return remarks


def _looks_shown(row: Row) -> bool:
    """Whether a row's interval leaves out equality, which its star does not."""
    (first, *others) = row.differences
    if others or first.is_shown or first.interval is None:
        return False
    low, high = first.interval
    return not low <= 0 <= high


def _unpaired(comparison: Comparison) -> list[str]:
    """Who has no run with some seeds of whom."""
    found: dict[tuple[str, str], list[str]] = {}
    for lack in comparison.unpaired:
        whose = comparison.base if lack.who == lack.side else lack.side
        seeds = ", ".join(map(str, lack.seeds))
        found.setdefault((lack.who, whose), []).append(f"{lack.point}: {seeds}")
    return [
        f"{who} has no run with some seeds of {whose} at {counted(len(ats), 'point')}"
        f" ({_first(ats)}): only seeds that both have are compared"
        for (who, whose), ats in found.items()
    ]


def _one(place: Place, name: str, value: str) -> str:
    return f"--at {name}={value}" if place == "shell" else f'{name}="{value}"'


def _first(texts: Sequence[str], between: str = "; ") -> str:
    return between.join(texts[:3]) + (f"{between}..." if len(texts) > 3 else "")


def lacks(comparison: Comparison) -> list[str]:
    """Who has no value where others have, and what never came, by experiment and metric."""
    said_once = common(comparison)
    texts = []
    for with_some, where, what in (
        ("", "where the other has one", "not in the mean"),
        (" with some seed", "where the other has one then", "the mean is of the other seeds"),
    ):
        of = [lack for lack in comparison.lacking if lack.is_of_some == bool(with_some)]
        for (who, experiment, metric), ats in _by_metric(of, said_once).items():
            definition = named(metric)
            if not (definition and definition.asked_with):
                texts.append(
                    f"{who} has no {metric}{with_some} at {counted(len(ats), 'point')} of"
                    f" {experiment} {where}{_some(ats)}: {what}"
                )
    of_sides = [replace(lack, who=lack.side) for lack in comparison.neither]
    for (side, experiment, metric), ats in _by_metric(of_sides, said_once).items():
        texts.append(
            f"neither {comparison.base} nor {side} has {metric} with some seed at"
            f" {counted(len(ats), 'point')} of {experiment}{_some(ats)}: the mean is of the other"
            " seeds"
        )
    for (who, experiment, metric), ats in _by_metric(comparison.never, said_once).items():
        texts.append(
            f"never: {metric} of {who} did not come within the run, for some seed, at"
            f" {counted(len(ats), 'point')} of {experiment}{_some(ats)}: such runs are not in the"
            " mean"
        )
    unfinished = _by_metric(comparison.less_finished, said_once)
    for (who, experiment, metric), ats in unfinished.items():
        texts.append(
            f"{who} left more unfinished than the other, for some seed, at"
            f" {counted(len(ats), 'point')} of {experiment}{_some(ats)}: its {metric} is of those"
            " that ended"
        )
    return texts


def common(comparison: Comparison) -> dict[str, dict[str, str]]:
    """Return by experiment what all its points have alike, where that is said once."""
    unpaired = comparison.lacking, comparison.neither, comparison.never, comparison.less_finished
    places = chain(
        ((row.experiment, found.point) for row in comparison.rows for found in row.differences),
        ((lack.experiment, lack.point) for lack in chain(*unpaired)),
    )
    return alike((experiment, dict(point)) for experiment, point in dict.fromkeys(places))


def _by_metric(
    lacks: Iterable[Lack], said_once: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str, str], list[str]]:
    """Points as texts, each once, by who lacks it, experiment and metric."""
    points: dict[tuple[str, str, str], dict[str, None]] = {}
    for lack in lacks:
        at = _without(lack.point, said_once.get(lack.experiment, {}))
        points.setdefault((lack.who, lack.experiment, lack.metric), {})[at] = None
    return {key: list(ats) for key, ats in points.items()}


def _some(ats: Sequence[str]) -> str:
    some = _first([at for at in ats if at])
    return f" ({some})" if some else ""


def _without(point: Where, said_once: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in point if name not in said_once)


def where(row: Row, said_once: Mapping[str, str] | None = None) -> str:
    """Name the experiment, and the point or how many there are."""
    if row.points > 1:
        return f"{f'{row.experiment} {row.algorithm}'.rstrip()}, {row.points} points"
    return f"{row.experiment} {_without(row.point, said_once or {})}".rstrip()


def values(row: Row) -> tuple[str, str]:
    """The means of both sides, with their intervals over seeds at a point."""
    if row.points > 1:
        base, side = row.means
        return digits(base), digits(side)
    (found,) = row.differences
    return _value(found.base), _value(found.other)


def _extreme(row: Row, extreme: Extreme) -> str:
    """The least or largest difference with those parameters of its point that vary."""
    if row.points == 1:
        return ""
    others = [set(found.point) for found in row.differences]
    varying = [pair for pair in extreme.point if not all(pair in other for other in others)]
    text = effect_text(row.size.effect, extreme.value)
    if row.size.least.value == row.size.largest.value:
        return text  # the same at all points
    return f"{text} ({' '.join(f'{name}={value}' for name, value in varying)})" if varying else text


def _over_grids(row: Row) -> str:
    found = row.over_grids
    return " to ".join(effect_text(row.size.effect, end) for end in found) if found else ""


def _shown(row: Row) -> str:
    said = row.verdict
    if row.points > 1:
        return f"{said.shown} of {said.points}"
    return " ".join(["*"] * said.shown + ["exact"] * said.exact)


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
