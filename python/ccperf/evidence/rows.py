"""A row of a comparison: one metric of one side, its verdict, correction and document."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from ccperf.evidence import verdict
from ccperf.evidence.paired import LEAST, Difference, factor, holm
from ccperf.runs.metrics import named

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from ccperf.evidence.verdict import Size, Verdict
    from ccperf.runs.metrics import Better

#: Parameters of a point, and their values.
Where: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """One metric of one side compared with the base, at one point or over several.

    Three answers that are not mixed: `verdict` says at how many points a difference is shown and
    what that deserves to be called, `size` how large it is, and `size().over_grids` whether it
    would hold on another grid.
    """

    experiment: str
    metric: str
    side: str
    #: One a point.
    differences: tuple[Difference, ...]
    #: The smallest relative difference that matters.
    least: float = LEAST
    #: Whose runs these are where the sides are databases or profiles; else empty.
    algorithm: str = ""
    #: The points, those without a difference included, at which only the other side has a value for
    #: some seed: of the base, and of the side. A transfer that does not end has no completion time.
    #: Of means over what has ended also those at which a side leaves more unfinished.
    lacking_at: tuple[frozenset[Where], frozenset[Where]] = (frozenset(), frozenset())

    @property
    def lacking(self) -> tuple[int, int]:
        """How many points there are at which the base, and the side, has none."""
        base, side = self.lacking_at
        return len(base), len(side)

    def at(self, found: Difference) -> Row:
        """Return the row of one of its points alone."""
        base, side = (points & {found.point} for points in self.lacking_at)
        return replace(self, differences=(found,), lacking_at=(base, side))

    @property
    def point(self) -> Where:
        """Parameters (none over several points), and the algorithm where sides are databases."""
        if self.points == 1:
            return self.differences[0].point
        return (("algorithm", self.algorithm),) if self.algorithm else ()

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(self.differences)

    @property
    def seeds(self) -> int:
        """How many seeds each point has at least, of those at which a seed changes anything."""
        return self.verdict.seeds

    @property
    def better(self) -> Better:
        """Which direction of the metric is better."""
        metric = named(self.metric)
        return metric.better if metric else None

    @cached_property
    def verdict(self) -> Verdict:
        """What the row says in words, and of how many points."""
        metric = named(self.metric)
        lack = "missing"
        if metric and (metric.asked_with or metric.unfinished):
            lack = "never" if metric.asked_with else "less finished"
        return verdict.verdict(self.differences, self.better, self.least, self.lacking, lack)

    @property
    def size(self) -> Size:
        """How large the difference is."""
        return verdict.size(self.differences)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the size over the seeds; None over several points."""
        (first, *others) = self.differences
        if others or first.interval is None:
            return None
        low, high = first.interval
        return (factor(low), factor(high)) if first.effect == "ratio" else (low, high)

    @property
    def text(self) -> str:
        """How large the difference is: `x1.45 (1.41 to 1.49)`, with the interval of a point."""
        size = self.size
        if size.mean is None:
            both = (size.least.value, size.largest.value)
            words = (verdict.effect_text(size.effect, value) for value in both)
            return " and ".join(dict.fromkeys(words))
        text = verdict.effect_text(size.effect, size.mean)
        if self.interval:
            text = verdict.interval_text(size.effect, size.mean, self.interval)
        return f"{text} at {self.points - size.zeros}" if size.zeros else text

    @property
    def over_grids(self) -> tuple[float, float] | None:
        """The interval of the mean difference over points, as if they were drawn at random."""
        return verdict.size(self.differences, over_grids=True).over_grids

    @property
    def is_shown(self) -> bool:
        """Whether the runs show that the sides differ, at some point."""
        return self.verdict.shown > 0

    @property
    def means(self) -> tuple[float, float]:
        """The values of the base and of the side: means over the seeds, and over the points.

        Over points they are geometric where differences are ratios, of the points that have one.
        """
        pairs = [(each.base.mean, each.other.mean) for each in self.differences]
        above = [pair for pair in pairs if min(pair) > 0]
        if self.points == 1 or self.size.effect == "difference" or not above:
            return fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
        base, other = (fmean(math.log(pair[side]) for pair in above) for side in (0, 1))
        return math.exp(base), math.exp(other)


def corrected(rows: Sequence[Row], apart: Callable[[Row], Hashable] = lambda _: None) -> list[Row]:
    """Return all rows of a comparison with their probabilities corrected for their number.

    A family is one question, one metric of one side, at all points that are compared: other metrics
    and other sides change no answer. Rows for which `apart` returns something else are of other
    families.
    """
    keys = [(row.metric, row.side, apart(row)) for row in rows]
    families: dict[Hashable, list[Difference]] = {}
    for key, row in zip(keys, rows, strict=True):
        family = families.setdefault(key, [])
        family += [found for found in row.differences if found.p is not None]
    answers = {key: iter(_family(tested)) for key, tested in families.items()}
    return [
        replace(
            row,
            differences=tuple(
                found if found.p is None else next(answers[key]) for found in row.differences
            ),
        )
        for key, row in zip(keys, rows, strict=True)
    ]


def _family(tested: Sequence[Difference]) -> list[Difference]:
    differ = holm([found.p or 0.0 for found in tested])
    equal = holm([found.p_equal or 0.0 for found in tested])
    return [
        replace(found, p=p, p_equal=p_equal, family=len(tested))
        for found, p, p_equal in zip(tested, differ, equal, strict=True)
    ]


def document(row: Row, *, over_grids: bool = False) -> dict[str, Any]:
    """Return a row as plain values, for JSON and CSV; a factor from 0 is None."""
    said, size, (base, side) = row.verdict, row.size, row.means
    first = row.differences[0]
    is_point = row.points == 1
    interval = row.interval
    grids = row.over_grids if over_grids else None
    return {
        "experiment": row.experiment,
        "point": dict(row.point),
        "points": row.points,
        "seeds": row.seeds,
        "metric": row.metric,
        "unit": metric.unit if (metric := named(row.metric)) else "",
        "side": row.side,
        "base_mean": base,
        "base_half_width": first.base.half_width if is_point else None,
        "mean": side,
        "half_width": first.other.half_width if is_point else None,
        "effect": size.effect,
        "value": _finite(size.mean),
        "low": interval[0] if interval else None,
        "high": _finite(interval[1]) if interval else None,
        "least": _finite(size.least.value),
        "least_at": dict(size.least.point),
        "largest": _finite(size.largest.value),
        "largest_at": dict(size.largest.point),
        "zeros": size.zeros,
        "base_lacks": row.lacking[0],
        "side_lacks": row.lacking[1],
        **(
            {"grids_low": grids and grids[0], "grids_high": grids and grids[1]}
            if over_grids
            else {}
        ),
        "shown": said.shown,
        "exact": said.exact,
        "p": first.p if is_point else None,
        "more": said.more,
        "less": said.less,
        "equal": said.equal,
        "unknown": said.unknown,
        "more_seeds": said.more_seeds,
        "threshold": row.least,
        "verdict": said.word,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
