"""Metrics against a parameter, of all that was run: figures of sweeps."""

from __future__ import annotations

import math
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from ccperf.algorithms.registry import usual_first
from ccperf.base import expression
from ccperf.base.outputs import file_name, several
from ccperf.errors import UsageError, unknown
from ccperf.evidence.cells import says_who_sends, told_by_maker, whoever_sends
from ccperf.evidence.chosen import Algorithms
from ccperf.evidence.compare import pairs
from ccperf.evidence.paired import difference
from ccperf.evidence.values import are_words, in_order, quantity
from ccperf.experiments.catalogue import NAMED, answer
from ccperf.present import figures
from ccperf.present.figures import Axis
from ccperf.present.figures.sweep import is_drawn
from ccperf.runs.metrics import metric_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.present.figures import Figure

#: At the value of the x axis: the mean over seeds, and the half width of its interval. NaN where
#: runs have no value.
_Spot: TypeAlias = tuple[float, float, float | None]


def sweeps(
    chosen: Sequence[Cell],
    parameter: str = "",
    metrics: Sequence[str] = (),
    base: str = "",
    *,
    narrowed: Collection[str] = (),
    seeds: Sequence[int] = (),
) -> tuple[dict[str, Figure], list[str]]:
    """Return one figure for each metric and each combination of the other parameters, by file name;
    and which of them have nothing to draw, in words.

    By default the first headline of each experiment over its x axis. With `base` the metrics are
    factors over those of this algorithm, paired by seed. Where these cells are a choice among more,
    their files are named so, too: `narrowed` has the parameters of which they have some values
    only, and `seeds` the seeds, if not all. Raises `UsageError`.
    """
    base = _base(chosen, base)
    there = _parameters(chosen)
    chosen = _of_all_senders(chosen, parameter)
    follow = _following(chosen)
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in chosen:
        point = dict(cell.point.parameters)
        over = parameter or answer(cell.point.experiment).over
        if over in point:
            known = NAMED.get(cell.point.experiment)
            others = [
                f"{name}-{value}"
                for name, value in (known.chosen(point) if known else point).items()
                if name != over and name not in follow[cell.point.experiment]
            ]
            groups.setdefault((cell.point.experiment, over, *others), []).append(cell)
    if not groups:
        message = unknown("parameter", parameter, there) if parameter else "name a parameter"
        raise UsageError("--sweep", message)
    drawn: dict[str, Figure] = {}
    left_out = []
    for (experiment, over, *others), members in groups.items():
        for name in metrics or answer(experiment).metrics[:1]:
            lines = _lines(lambda cell: cell.algorithm, members, over)
            found = _values(lines, members, over, name, base)
            axis, _ = _axis(over, members)
            if is_drawn(found, axis.is_category):
                figure = _figure(name, over, members, lines, found, base)
                words = [experiment, *others, *several(sorted(lines)), figure.name]
                if over in narrowed:
                    xs = dict.fromkeys(dict(cell.point.parameters)[over] for cell in members)
                    words.append("-".join([over, *several(sorted(xs))]))
                drawn[file_name([*words, *seed_words(seeds)])] = figure
            else:
                at = " ".join([experiment, *(other.replace("-", "=", 1) for other in others)])
                what = f"a factor over {base}" if base else "it"
                left_out.append(f"{name} of {at}: fewer than two values of `{over}` have {what}")
    if not drawn:
        raise UsageError("--sweep" if parameter else "runs", "; ".join(left_out))
    return drawn, left_out


def seed_words(seeds: Sequence[int]) -> list[str]:
    """What a file's name says of the seeds that were chosen."""
    return ["-".join(["seed", *several([str(seed) for seed in sorted(seeds)])])] if seeds else []


def sweep(chosen: Sequence[Cell], parameter: str, metric: str, base: str = "") -> Figure:
    """Return one figure of a metric: a line for each algorithm and each value of what else varies.

    Raises `UsageError`.
    """
    base = _base(chosen, base)
    there = _parameters(chosen)
    if parameter not in there:
        raise UsageError("x", unknown("parameter", parameter, there))
    chosen = _of_all_senders(chosen, parameter)
    experiments = list(dict.fromkeys(cell.point.experiment for cell in chosen))
    follow = set.intersection(*_following(chosen).values()) | {parameter}
    members = [cell for cell in chosen if parameter in dict(cell.point.parameters)]
    varying = [
        name
        for name in there
        if name not in follow and len({dict(c.point.parameters).get(name) for c in members}) > 1
    ]

    def label(cell: Cell) -> str:
        point = dict(cell.point.parameters)
        words = [cell.algorithm, *(f"{name}={point[name]}" for name in varying if name in point)]
        return " ".join([*([cell.point.experiment] if experiments[1:] else []), *words])

    lines = _lines(label, members, parameter)
    found = _values(lines, members, parameter, metric, base)
    if not found:
        there = sorted({name for c in members for of in c.metrics.values() for name in of})
        near = get_close_matches(metric, there, n=5)
        hint = f"; the nearest that have are {', '.join(near)}" if near else ""
        raise UsageError("y", f"no run has a value of `{metric}`{hint}")
    return _figure(metric, parameter, members, lines, found, base)


def _told(chosen: Iterable[Cell]) -> list[Cell]:
    return told_by_maker(chosen, lambda cell: cell.point.experiment)


def _parameters(chosen: Sequence[Cell]) -> list[str]:
    names = (name for cell in _told(chosen) for name, _ in cell.point.parameters)
    return list(dict.fromkeys(names))


def _of_all_senders(chosen: Sequence[Cell], parameter: str) -> list[Cell]:
    """Return cells of whoever sends at one point, if not over who sends; points of an experiment
    that several backends or engines ran say by which."""

    def over(cell: Cell) -> str:
        return parameter or answer(cell.point.experiment).over

    return _told(
        cell if says_who_sends(cell.point.experiment) == over(cell) else whoever_sends(cell)
        for cell in chosen
    )


def _lines(
    label: Callable[[Cell], str], members: Sequence[Cell], over: str
) -> dict[str, list[Cell]]:
    """The points of each line, the usual algorithms first."""
    lines: dict[str, list[Cell]] = {}
    for cell in sorted(members, key=lambda cell: usual_first(cell.algorithm)):
        if over in dict(cell.point.parameters):
            lines.setdefault(label(cell), []).append(cell)
    return lines


def _values(
    lines: Mapping[str, Sequence[Cell]],
    members: Sequence[Cell],
    over: str,
    metric: str,
    base: str,
) -> dict[str, list[_Spot]]:
    """What each line is drawn of; lines without a value are left out."""
    _, at = _axis(over, members)
    found: dict[str, list[_Spot]] = {}
    for label, cells in lines.items():
        for cell in cells:
            value = _against(cell, members, metric, base) if base else _mean(cell, metric)
            if value:
                x = at[dict(cell.point.parameters)[over]]
                found.setdefault(label, []).append((x, *value))
    return {
        label: spots
        for label, spots in found.items()
        if not all(math.isnan(mean) for _, mean, _ in spots)
    }


def _lacks(
    lines: Mapping[str, Sequence[Cell]], members: Sequence[Cell], over: str, name: str, base: str
) -> list[str]:
    """Where runs have no value of a metric, with all seeds or with some: `Never within the run:
    TcpCubic at [40ms,80ms]; TcpBbr at [40ms,40ms] with 1 of 2 seeds.` And where there is no factor
    over the base, or some transfers are not in the mean."""
    metric = metric_named(name)
    who: dict[tuple[str, str, str], list[str]] = {}
    for label, cells in lines.items():
        for cell in cells:
            place = dict(cell.point.parameters)[over]
            if base and _is_from_or_to_zero(cell, members, name, base):
                key = ("No factor, since not both values are above 0", "", place)
                who.setdefault(key, []).append(label)
            of = len(cell.metrics)
            lacking = [found for found in cell.metrics.values() if name not in found]
            is_never = any(map(metric.is_never, lacking))
            left = [
                found for found in cell.metrics.values() if name in found and metric.left(found)
            ]
            for what, runs in (
                ("Never within the run" if is_never else "No value", lacking),
                ("Only of those that ended", left),
            ):
                if runs:
                    some = f" with {len(runs)} of {of} seeds" if len(runs) < of else ""
                    who.setdefault((what, some, place), []).append(label)
    places: dict[tuple[str, str, str], list[str]] = {}
    for (what, some, place), labels in who.items():
        places.setdefault((what, some, ", ".join(labels)), []).append(place)
    sentences: dict[str, list[str]] = {}
    for (what, some, names), ats in places.items():
        sentences.setdefault(what, []).append(f"{names} at {', '.join(ats)}{some}")
    return [f"{what}: {'; '.join(parts)}." for what, parts in sentences.items()]


def _figure(
    name: str,
    over: str,
    members: Sequence[Cell],
    lines: Mapping[str, Sequence[Cell]],
    found: Mapping[str, Sequence[_Spot]],
    base: str,
) -> Figure:
    metric = metric_named(name)
    label = metric.title
    if base:
        metric = replace(metric, name=f"{name}_over_{base}", unit="1")
        label = f"{label}, over {base}"
    axis, _ = _axis(over, members)
    # Of one line there is no legend.
    whose = [f"The only line is {one}." for one in found] if len(found) == 1 < len(lines) else []
    figure = figures.sweep(
        metric,
        axis,
        found,
        over=over,
        y_label=label,
        is_factor=bool(base),
        notes=[*whose, *_lacks(lines, members, over, name, base)],
    )
    runs = (record.row for cell in members for record in cell.records.values())
    return replace(figure, origin=figures.origin(runs))


def _base(chosen: Sequence[Cell], base: str) -> str:
    if not base:
        return ""
    return Algorithms.of(chosen).one(base, "--base")


def _following(chosen: Sequence[Cell]) -> dict[str, set[str]]:
    """The parameters of each experiment that follow from its others."""
    points: dict[str, list[dict[str, str]]] = {}
    for cell in chosen:
        points.setdefault(cell.point.experiment, []).append(dict(cell.point.parameters))
    return {
        name: NAMED[name].following(found) if name in NAMED else set()
        for name, found in points.items()
    }


def _axis(parameter: str, members: Sequence[Cell]) -> tuple[Axis, dict[str, float]]:
    """The x axis, and where each value is: quantities at their size, words in their order."""
    places = [dict(cell.point.parameters) for cell in members]
    values = list(dict.fromkeys(place[parameter] for place in places if parameter in place))
    experiments = [cell.point.experiment for cell in members]
    label, measure = _label(parameter, experiments)
    shown = dict(zip(values, values, strict=True))
    if varied := _varied(values):
        (label, shown), measure = varied, ""
    sizes = {value: found for value in values if (found := quantity(shown[value]))}
    if len(sizes) < len(values) or len({unit for unit, _ in sizes.values()}) > 1:
        values = in_order(parameter, values, experiments)
        labels = tuple(shown[value] for value in values)
        axis = Axis(label, labels=labels, is_category=are_words(labels))
        return axis, {v: float(i) for i, v in enumerate(values)}
    return Axis(label, sizes[values[0]].unit or measure), {v: q.size for v, q in sizes.items()}


def _varied(values: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """Of one algorithm with several values of one of its parameters: what varies, as the label of
    an axis, and how it is with each; else nothing."""
    try:
        parsed = {value: expression.parse(value) for value in values}
    except ValueError:
        return None
    names = {name for name, _ in parsed.values()}
    attributes = [set(given.items()) for _, given in parsed.values()]
    common = set.intersection(*attributes)
    own = [{name for name, _ in given - common} for given in attributes]
    if len(values) < 2 or len(names) > 1 or len(own[0]) != 1 or any(each != own[0] for each in own):
        return None
    (name,), (varied,) = names, own[0]
    of = expression.write(name, dict(sorted(common)))
    return f"{varied} of {of}", {value: given[varied] for value, (_, given) in parsed.items()}


def _label(parameter: str, experiments: Sequence[str]) -> tuple[str, str]:
    """What the axis of a parameter says, and the unit of its numbers."""
    for name in dict.fromkeys(experiments):
        for each in NAMED[name].parameters if name in NAMED else ():
            if each.name == parameter:
                return each.label, each.measure
    return parameter, ""


def _mean(cell: Cell, metric: str) -> tuple[float, float | None]:
    """Mean over the seeds, and the half width of its interval; NaN without a value."""
    summary = cell.summary(metric)
    return (summary.mean, summary.half_width) if summary else (math.nan, None)


def _against(
    cell: Cell, members: Sequence[Cell], metric: str, base: str
) -> tuple[float, float | None] | None:
    """The factor over the base at the same point, and the longer arm of its interval; NaN where
    there is none, None where the base has no run."""
    of_base = _beside(cell, members, base)
    if of_base is None:
        return None
    both = pairs(of_base, cell, metric)
    if not both:
        return math.nan, None
    found = difference([a for a, _ in both], [b for _, b in both], "ratio")
    is_known = math.isfinite(found.size)
    return (math.exp(found.size), found.half_width) if is_known else (math.nan, None)


def _is_from_or_to_zero(cell: Cell, members: Sequence[Cell], metric: str, base: str) -> bool:
    """Whether both have values, and no factor is between them."""
    of_base, found = _beside(cell, members, base), _against(cell, members, metric, base)
    return bool(of_base and pairs(of_base, cell, metric) and found and math.isnan(found[0]))


def _beside(cell: Cell, members: Sequence[Cell], base: str) -> Cell | None:
    """The base's runs at the same point, made by the same backend and engine."""
    place = (base, cell.point, cell.backend, cell.engine)
    beside = (c for c in members if (c.algorithm, c.point, c.backend, c.engine) == place)
    return next(beside, None)
