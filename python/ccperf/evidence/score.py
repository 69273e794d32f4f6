"""One number for an algorithm against a base: how much better its experiments come out.

The headlines of an experiment say in which direction they are good, so each is a gain or a loss:
the logarithm of the factor to the base, or the difference of a metric whose scale has an end
(`Effect`), turned so that more is better. With g for that, the number is

    exp(mean over experiments of mean over their headlines of mean over points of mean over seeds
        of g)

1 is the base's own, 2 twice as good. Exchange the sides, and it is the reciprocal. docs/score.md
says why each choice was made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from ccperf.evidence.paired import difference
from ccperf.experiments.catalogue import answer
from ccperf.runs.metrics import metric_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.runs.metrics import Metric

#: What a value counts that only one side has, and what no factor counts more than.
WORST = 0.01
_A_MILLISECOND = {"s": 1e-3, "ms": 1.0, "us": 1e3}
#: An experiment, and a point of it without the algorithm under test.
Place: TypeAlias = "tuple[str, tuple[tuple[str, str], ...]]"


@dataclass(frozen=True)
class Part:
    """One headline at one point."""

    place: Place
    metric: str
    #: The mean of g over the seeds.
    gain: float
    #: Means over the seeds at which both have a value; None if there is none.
    base: float | None
    mean: float | None
    #: At how many seeds both have a value, only the base, and only the other.
    both: int
    only_base: int
    only_other: int

    def document(self) -> dict[str, Any]:
        """Return it as plain values."""
        experiment, point = self.place
        return {
            "experiment": experiment,
            "point": dict(point),
            "metric": self.metric,
            "value": math.exp(self.gain),
            "base_mean": self.base,
            "mean": self.mean,
            "seeds": self.both,
            "only_base": self.only_base,
            "only_other": self.only_other,
        }


def parts(
    base: Mapping[Place, Cell], other: Mapping[Place, Cell], seeds: Mapping[Place, Sequence[int]]
) -> list[Part]:
    """Return the headlines at all points that were to be run, with their seeds.

    A point that a side has not has failed there with every seed.
    """
    found = []
    for place, numbers in seeds.items():
        for name in answer(place[0]).metrics:
            part = _part(place, metric_named(name), base.get(place), other.get(place), numbers)
            if part is not None:
                found.append(part)
    return found


def _part(
    place: Place, metric: Metric, base: Cell | None, other: Cell | None, seeds: Sequence[int]
) -> Part | None:
    """One headline at one point; None if no side has a value there."""
    name = metric.name
    runs = [[(cell and cell.at(seed)) or {} for cell in (base, other)] for seed in seeds]
    pairs = [(a, b) for a, b in runs if name in a and name in b]
    only_base = sum(name in a and name not in b for a, b in runs)
    only_other = sum(name not in a and name in b for a, b in runs)
    worst = math.log(WORST)
    gains = [worst] * only_base + [-worst] * only_other
    # Seed by seed: where one of them has no factor, the others still do.
    gains += [_gain(metric, a, b) for a, b in pairs]
    if not gains:
        return None
    return Part(
        place,
        name,
        fmean(gains),
        fmean(a[name] for a, _ in pairs) if pairs else None,
        fmean(b[name] for _, b in pairs) if pairs else None,
        len(pairs),
        only_base,
        only_other,
    )


def _gain(metric: Metric, base: Mapping[str, float], other: Mapping[str, float]) -> float:
    """How much better one run is than the other's: 0 if they are equal, or if it is by leaving
    more unfinished."""
    gain = _between(metric, base[metric.name], other[metric.name])
    more_left = metric.left(other) - metric.left(base)
    return 0.0 if gain * more_left > 0 else gain


def _between(metric: Metric, base: float, other: float) -> float:
    """How much better one value is than the other's."""
    if least := _added(metric):
        size = difference([max(base, 0) + least], [max(other, 0) + least], "ratio").size
    else:
        size = difference([base], [other], metric.effect).size
        if metric.effect == "difference" and metric.unit == "%":
            size /= 100
    worst = math.log(WORST)
    return max(worst, min(-worst, size if metric.better == "higher" else -size))


def _added(metric: Metric) -> float | None:
    """What is added to both values: one to a count, a millisecond to a delay in queues, a second to
    the time until something comes to pass.

    None has an upper end, and all may be 0 or next to it, from where a factor has no meaning: who
    sends four packets a round trip whatever happens has settled at once.
    """
    if metric.kind == "count" or metric.asked_with:
        return 1.0
    return _A_MILLISECOND.get(metric.unit) if metric.effect == "difference" else None


def of_experiments(found: Iterable[Part]) -> dict[str, dict[str, float]]:
    """Return the gain of each headline of each experiment, over its points."""
    gains: dict[str, dict[str, list[float]]] = {}
    for part in found:
        gains.setdefault(part.place[0], {}).setdefault(part.metric, []).append(part.gain)
    return {
        experiment: {metric: fmean(over) for metric, over in metrics.items()}
        for experiment, metrics in gains.items()
    }


def value(gains: Mapping[str, Mapping[str, float]]) -> float:
    """Return the number; 1 if nothing can be compared."""
    each = [fmean(metrics.values()) for metrics in gains.values()]
    return math.exp(fmean(each)) if each else 1.0
