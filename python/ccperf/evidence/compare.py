"""All differences between sides: algorithms over the same points, or two versions of a database."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ccperf.evidence import student
from ccperf.evidence.paired import LEVEL, Difference, Ratio, difference, holm
from ccperf.evidence.summary import Summary, summarise
from ccperf.metrics import named

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.notebook import Plot

#: `exact`: seeds change nothing, so the difference holds for this point whatever the seed is.
Verdict = Literal["significant", "exact", "not significant", "same", "one seed"]


@dataclass(frozen=True)
class Row:
    """One metric of one side compared with the base, at one point or over several."""

    experiment: str
    #: Parameters (and algorithm, where the sides are databases); empty over several points.
    point: tuple[tuple[str, str], ...]
    metric: str
    side: str
    #: How many points, and how many seeds of each at least.
    points: int
    seeds: int
    base: Summary
    other: Summary
    #: other - base; over several points the mean of theirs.
    difference: Summary
    relative: Ratio | None
    #: Corrected for the number of comparisons (Holm); None where there is nothing to test.
    p: float | None
    effect: float | None
    verdict: Verdict

    @property
    def is_shown(self) -> bool:
        """Whether the runs show that the sides differ."""
        return self.verdict in ("significant", "exact")

    @property
    def is_better(self) -> bool | None:
        """Whether the side is better than the base; None where neither direction is."""
        metric = named(self.metric)
        if metric is None or metric.better is None or not self.is_shown:
            return None
        return (self.difference.mean > 0) == (metric.better == "higher")


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison, and what could not be compared."""

    base: str
    sides: tuple[str, ...]
    rows: tuple[Row, ...]
    #: Points of the base that a side has not (by side), as text.
    missing: Mapping[str, tuple[str, ...]]
    #: How many cells were compared, and in how many of them a seed changes nothing.
    cells: int
    deterministic: int

    def plot(self, metric: str | None = None) -> Plot:
        """Return the relative differences by one metric with their intervals; a notebook shows it.

        By default the first metric; raises `UsageError` for one that was not compared.
        """
        from ccperf.evidence import shown
        from ccperf.notebook import Plot

        return Plot(shown.figure(self, metric))

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas; raises `UsageError` without it."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """Return the rows as a data frame of polars; raises `UsageError` without it."""
        return self._frame("polars")

    def _frame(self, library: str) -> Any:
        from ccperf.evidence import shown
        from ccperf.notebook import frame

        return frame(shown.columns([document(row) for row in self.rows]), library)

    def _repr_html_(self) -> str:
        from ccperf.evidence import shown

        return shown.html(self)


def compare(
    sides: Mapping[str, Sequence[Cell]],
    metrics: Sequence[str],
    *,
    over_databases: bool = False,
    each: bool = False,
    is_whole: bool = True,
) -> Comparison:
    """Compare each side with the first, over the points and seeds that both have.

    Sides are algorithms, compared with one engine; or databases (`over_databases`), compared
    algorithm by algorithm whatever engine they were made with. With `each` there is a row for each
    point, else one for each experiment and metric. The probabilities of all rows are corrected for
    their number; those of a part of a comparison (not `is_whole`) are left to `corrected`.
    """
    base, *others = sides
    keyed = {name: _by_key(cells, over_databases) for name, cells in sides.items()}
    found: list[Row] = []
    missing: dict[str, tuple[str, ...]] = {}
    compared: dict[tuple[str, Hashable], Cell] = {}
    for name in others:
        absent = []
        for key, cell in keyed[base].items():
            other = keyed[name].get(key)
            seeds = _common_seeds(cell, other) if other else []
            if other is None or not seeds:
                absent.append(_text(cell, over_databases))
                continue
            compared[base, key], compared[name, key] = cell, other
            found += _rows(cell, other, seeds, metrics, name, over_databases)
        missing[name] = tuple(absent)
    rows = found if each else [_pooled(group) for group in _groups(found)]
    order = {metric: place for place, metric in enumerate(metrics)}
    if each:
        points = {(row.experiment, row.point): place for place, row in reversed([*enumerate(rows)])}
        rows.sort(key=lambda row: (points[row.experiment, row.point], order[row.metric]))
    return Comparison(
        base,
        tuple(others),
        tuple(corrected(rows) if is_whole else rows),
        missing,
        len(compared),
        sum(cell.is_deterministic for cell in compared.values()),
    )


def _common_seeds(one: Cell, other: Cell) -> list[int]:
    """Those that both have; what draws nothing stands for any."""
    if one.is_constant and other.is_constant:
        return list(one.metrics)
    both = dict.fromkeys((*one.metrics, *other.metrics))
    varying = [cell for cell in (one, other) if not cell.is_constant]
    return [seed for seed in both if all(seed in cell.metrics for cell in varying)]


def _by_key(cells: Iterable[Cell], over_databases: bool) -> dict[Hashable, Cell]:
    """Return cells by what must be the same on both sides."""
    if over_databases:
        return {(cell.point, cell.algorithm, cell.backend): cell for cell in cells}
    return {(cell.point, cell.backend, cell.engine): cell for cell in cells}


def _text(cell: Cell, over_databases: bool) -> str:
    return f"{cell.point.text} {cell.algorithm}" if over_databases else cell.point.text


def _rows(
    base: Cell,
    other: Cell,
    seeds: Sequence[int],
    metrics: Iterable[str],
    name: str,
    over_databases: bool,
) -> list[Row]:
    point = base.point.parameters
    if over_databases:
        point = (*point, ("algorithm", base.algorithm))
    rows = []
    for metric in metrics:
        values = [(base.at(seed) or {}, other.at(seed) or {}) for seed in seeds]
        pairs = [(a[metric], b[metric]) for a, b in values if metric in a and metric in b]
        if not pairs:
            continue
        result = difference([a for a, _ in pairs], [b for _, b in pairs])
        rows.append(
            Row(
                experiment=base.point.experiment,
                point=point,
                metric=metric,
                side=name,
                points=1,
                seeds=len(pairs),
                base=result.base,
                other=result.other,
                difference=result.difference,
                relative=result.relative,
                p=result.p,
                effect=result.effect,
                verdict=_verdict(result, base.is_constant and other.is_constant),
            )
        )
    return rows


def _verdict(result: Difference, is_constant: bool) -> Verdict:
    if result.difference.n == 1 and not is_constant:
        return "one seed"
    if result.p is None:
        return "exact" if result.difference.mean else "same"
    return "significant" if result.p < LEVEL else "not significant"


def _groups(rows: Iterable[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.experiment, row.metric, row.side), []).append(row)
    # By experiment and metric, so that the sides stand beside each other.
    order = {key: place for place, key in enumerate(dict.fromkeys(key[:2] for key in groups))}
    return [groups[key] for key in sorted(groups, key=lambda key: order[key[:2]])]


def _pooled(rows: list[Row]) -> Row:
    """Return one row for all points of an experiment; each point counts once.

    Points differ in scale, so what is averaged and tested is their relative difference. Where a
    base of 0 leaves some point without one, it is the difference itself.
    """
    if len(rows) == 1:
        return rows[0]
    ratios = [row.relative.value for row in rows if row.relative is not None]
    differences = summarise([row.difference.mean for row in rows])
    tested = summarise(ratios) if len(ratios) == len(rows) else differences
    p = effect = None
    verdict: Verdict = "exact" if tested.mean else "same"
    if tested.deviation:
        p = student.beyond(tested.mean / (tested.deviation / math.sqrt(tested.n)), tested.n - 1)
        effect = tested.mean / tested.deviation * (1 - 3 / (4 * (tested.n - 1) - 1))
        verdict = "significant" if p < LEVEL else "not significant"
    return replace(
        rows[0],
        point=(),
        points=len(rows),
        seeds=min(row.seeds for row in rows),
        base=summarise([row.base.mean for row in rows]),
        other=summarise([row.other.mean for row in rows]),
        difference=differences,
        relative=Ratio(tested.mean, tested.half_width) if tested is not differences else None,
        p=p,
        effect=effect,
        verdict=verdict,
    )


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Return all rows of a comparison with their probabilities corrected for their number."""
    tested = [row for row in rows if row.p is not None]
    probabilities = iter(holm([row.p for row in tested if row.p is not None]))
    done = []
    for row in rows:
        if row.p is None:
            done.append(row)
            continue
        p = next(probabilities)
        done.append(replace(row, p=p, verdict="significant" if p < LEVEL else "not significant"))
    return done


def document(row: Row) -> dict[str, Any]:
    """Return a row as plain values, for JSON and CSV."""
    return {
        "experiment": row.experiment,
        "point": dict(row.point),
        "points": row.points,
        "seeds": row.seeds,
        "metric": row.metric,
        "unit": metric.unit if (metric := named(row.metric)) else "",
        "side": row.side,
        "base_mean": row.base.mean,
        "base_half_width": row.base.half_width,
        "mean": row.other.mean,
        "half_width": row.other.half_width,
        "difference": row.difference.mean,
        "difference_half_width": row.difference.half_width,
        "relative": row.relative.value if row.relative else None,
        "relative_half_width": row.relative.half_width if row.relative else None,
        "p": row.p,
        "effect": row.effect,
        "verdict": row.verdict,
        "better": row.is_better,
    }
