"""The difference of two cells over the same seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ccperf.evidence import student
from ccperf.evidence.summary import CONFIDENCE, Summary, deviation, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Most wrong "significant" among comparisons in which nothing differs.
LEVEL = 0.05


@dataclass(frozen=True)
class Ratio:
    """A relative difference, other / base - 1, with its interval (None where there is none)."""

    value: float
    half_width: float | None


@dataclass(frozen=True)
class Difference:
    """How `other` differs from `base` over n pairs, one a seed."""

    base: Summary
    other: Summary
    #: other - base.
    difference: Summary
    #: None where base's mean is 0.
    relative: Ratio | None
    #: Probability of a difference at least as large if there were none in truth, by the paired t
    #: test; None where the differences do not vary (one seed, or seeds that change nothing).
    p: float | None
    #: Hedges' g of the pairs: their mean difference over its deviation, corrected for small n.
    effect: float | None

    @property
    def is_exact(self) -> bool:
        """Whether neither side depends on the seed, so that nothing is left to chance."""
        return self.base.is_constant and self.other.is_constant


def difference(
    base: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE
) -> Difference:
    """Compare values that belong together in pairs: those of one seed.

    The relative difference is a ratio of two means that vary together; its interval is that of a
    ratio estimator (Cochran, Sampling Techniques, section 6.4), with Student's t.
    """
    if len(base) != len(other) or not base:
        raise ValueError(f"{len(base)} and {len(other)} values; they come in pairs")
    pairs = [b - a for a, b in zip(base, other, strict=True)]
    total = summarise(pairs, confidence)
    p = effect = None
    if total.deviation:
        t = total.mean / (total.deviation / math.sqrt(total.n))
        p = student.beyond(t, total.n - 1)
        effect = total.mean / total.deviation * (1 - 3 / (4 * (total.n - 1) - 1))
    return Difference(
        summarise(base, confidence),
        summarise(other, confidence),
        total,
        _relative(base, other, confidence),
        p,
        effect,
    )


def _relative(base: Sequence[float], other: Sequence[float], confidence: float) -> Ratio | None:
    mean = fmean(base)
    if mean == 0:
        return None
    ratio = fmean(other) / mean
    if len(base) == 1:
        return Ratio(ratio - 1, None)
    if min(base) == max(base) and min(other) == max(other):
        return Ratio(ratio - 1, 0.0)
    spread = deviation([b - ratio * a for a, b in zip(base, other, strict=True)])
    scale = student.quantile(confidence, len(base) - 1) / math.sqrt(len(base))
    return Ratio(ratio - 1, scale * spread / abs(mean))


def holm(probabilities: Sequence[float]) -> list[float]:
    """Return each probability corrected for their number (Holm 1979), in the order given.

    With those below `LEVEL` called significant, the chance of even one wrong call is at most
    `LEVEL`, however many comparisons there are and however they depend on each other.
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    corrected = [0.0] * len(probabilities)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(probabilities) - rank) * probabilities[index]))
        corrected[index] = largest
    return corrected
