"""The difference of two cells over the same seeds, at one point.

Everything here is symmetric: with the sides exchanged, logarithms of ratios and differences change
their sign, and nothing else changes.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal

from ccperf.evidence import student
from ccperf.evidence.summary import CONFIDENCE, Summary, deviation, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.runs.metrics import Effect

#: The chance of even one wrong "shown", and of even one wrong "equal", in a family of points.
LEVEL = 0.05
#: What is less is equal, for practical purposes, unless the user says otherwise.
LEAST = 0.01
#: The chance that as many more seeds as are asked for give an answer, if the truth is as observed.
POWER = 0.8
#: As many standard errors are exceeded with that chance: at one end, or at either of two.
_LIKELY_SHOWN, _LIKELY_EQUAL = (NormalDist().inv_cdf(each) for each in (POWER, (1 + POWER) / 2))
#: Doubles that are alike to so many parts of them differ by rounding.
_ROUNDING = 1e-12
#: More seeds than this are not asked for.
MOST_SEEDS = 1000

#: What a difference is judged by: no seed changes anything there (`exact`); the paired t test;
#: the sign test, where the pairs do not vary though the runs do; or nothing, with one seed.
Basis = Literal["exact", "t test", "sign test", "one seed"]


@dataclass(frozen=True)
class Difference:
    """How `other` differs from `base` in one metric at one point, over n pairs, one a seed."""

    #: The point's parameters.
    point: tuple[tuple[str, str], ...]
    effect: Effect
    #: Arithmetic means over the seeds.
    base: Summary
    other: Summary
    #: Whether the pairs are compared by the logarithms of their ratios.
    is_log: bool
    #: Mean and standard deviation of ln(other / base), or of other - base, over the pairs.
    mean: float
    deviation: float | None
    basis: Basis
    #: At most so different is equal, on the scale of `mean`.
    margin: float
    #: Probability of a mean at least as far from 0 if there were no difference in truth, and of
    #: one at least as near to 0 if the difference were as large as the margin.  None if `exact`,
    #: and with one seed.
    p: float | None
    p_equal: float | None
    #: How many points the two probabilities are corrected for.
    family: int = 1

    @property
    def seeds(self) -> int:
        """The number of pairs."""
        return self.base.n

    @property
    def size(self) -> float:
        """How large it is: ln(other / base) of a ratio, else other - base.

        Of a ratio it is infinite where one side is 0 and the other is not.
        """
        if self.is_log or self.effect == "difference":
            return self.mean
        if self.base.mean > 0 < self.other.mean:
            # Not the quotient's logarithm: with the sides exchanged, that differs by rounding.
            return math.log(self.other.mean) - math.log(self.base.mean)
        return math.copysign(math.inf, self.mean) if self.mean else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The confidence interval of `size` over the seeds; None where there is none."""
        if self.basis != "t test" or self.deviation is None:
            return None
        if self.effect == "ratio" and not self.is_log:
            return None
        scale = student.quantile(CONFIDENCE, self.seeds - 1) / math.sqrt(self.seeds)
        return self.mean - scale * self.deviation, self.mean + scale * self.deviation

    @property
    def half_width(self) -> float | None:
        """The longer arm of the interval, of the factor or of the difference; for figures."""
        if self.interval is None:
            return None
        if self.effect == "difference":
            return self.interval[1] - self.mean
        return factor(self.interval[1]) - factor(self.mean)

    @property
    def is_shown(self) -> bool:
        """Whether the runs show that the sides differ at all: it is exact, or more than chance."""
        if self.basis == "exact":
            return self.mean != 0
        return self.p is not None and self.p < LEVEL

    @property
    def is_equal(self) -> bool:
        """Whether the runs show that the sides differ by no more than the margin."""
        if self.basis == "exact":
            return abs(self.mean) <= self.margin
        return self.p_equal is not None and self.p_equal < LEVEL

    @property
    def direction(self) -> Literal["more", "less", "equal", "unknown"]:
        """What the runs say of it: a difference counts if it is shown and beyond the margin."""
        if self.is_equal:
            return "equal"
        if self.is_shown and abs(self.mean) > self.margin:
            return "more" if self.mean > 0 else "less"
        return "unknown"

    @cached_property
    def more_seeds(self) -> int | None:
        """How many more seeds would probably tell, as far as the observed deviation tells.

        None where something is known already, with one seed, and beyond `MOST_SEEDS`.
        """
        if self.direction != "unknown" or self.basis == "one seed":
            return None
        enough = _seeds_for(self)
        return None if enough > MOST_SEEDS else max(1, enough - self.seeds)


def factor(logarithm: float) -> float:
    """Return the factor of a logarithm, which may be beyond all doubles: two seeds tell little."""
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf


def difference(
    base: Sequence[float],
    other: Sequence[float],
    effect: Effect = "difference",
    *,
    point: tuple[tuple[str, str], ...] = (),
    least: float = LEAST,
    is_exact: bool = False,
) -> Difference:
    """Compare values that belong together in pairs: those of one seed.

    `least` is the smallest relative difference that matters. `is_exact` says that no seed changes
    anything on either side. A ratio is tested by its logarithm, unless some value is 0: there,
    by the difference.
    """
    if len(base) != len(other) or not base:
        raise ValueError(f"{len(base)} and {len(other)} values; they come in pairs")
    one, two = summarise(base), summarise(other)
    is_log = effect == "ratio" and min(*base, *other) > 0
    if is_log:
        pairs = [math.log(b) - math.log(a) for a, b in zip(base, other, strict=True)]
        margin = math.log1p(least)
        largest = max(1.0, *(abs(math.log(value)) for value in (*base, *other)))
    else:
        pairs = [b - a for a, b in zip(base, other, strict=True)]
        margin = max(abs(one.mean), abs(two.mean)) * least / (1 + least)
        largest = max(map(abs, (*base, *other)))
    # Of equal values the mean is that value and the deviation 0, without rounding errors.
    mean = pairs[0] if min(pairs) == max(pairs) else fmean(pairs)
    # Below the least normal double, a standard error is rounded to 0.
    noise = max(_ROUNDING * largest, sys.float_info.min)
    is_constant = max(pairs) - min(pairs) <= noise
    if is_constant and not is_exact and abs(mean) <= noise:
        mean = 0.0
    spread = None if len(pairs) == 1 else 0.0 if is_constant else deviation(pairs)
    basis, p, p_equal = _judged(len(pairs), mean, spread, margin, is_exact)
    return Difference(point, effect, one, two, is_log, mean, spread, basis, margin, p, p_equal)


def _judged(
    n: int, mean: float, spread: float | None, margin: float, is_exact: bool
) -> tuple[Basis, float | None, float | None]:
    """Return what there is to judge a difference by, and its two probabilities."""
    if is_exact:
        return "exact", None, None
    if spread is None:
        return "one seed", None, None
    if not spread:
        # n times on the same side of 0, or of the margin, has this probability if either side is as
        # likely.
        alike = 2.0 ** (1 - n)
        is_equal = not mean or abs(mean) < margin  # of two zeros the margin is 0, too
        return "sign test", alike if mean else 1.0, alike if is_equal else 1.0
    error = spread / math.sqrt(n)
    beyond = student.beyond((margin - abs(mean)) / error, n - 1) / 2
    p_equal = beyond if abs(mean) < margin else 1 - beyond
    return "t test", student.beyond(mean / error, n - 1), p_equal


def _seeds_for(found: Difference) -> int:
    """Return the fewest seeds that give an answer with the probability `POWER`."""
    if found.basis == "sign test":
        return math.ceil(1 + math.log2(found.family / LEVEL))
    few, enough = 1, 2
    while not _is_enough(found, enough):
        few, enough = enough, 2 * enough
        if enough > 2 * MOST_SEEDS:
            return enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _is_enough(found, middle) else (middle, enough)
    return enough


def _is_enough(found: Difference, n: int) -> bool:
    """Whether n seeds would tell, if the truth is as observed.

    A difference has to be shown and to lie beyond the margin; for an equality, both ends of the
    margin have to be shown to be further out. Each probability has to be below `LEVEL` over the
    size of the family, the hardest that Holm's correction asks for.
    """
    assert found.deviation is not None
    size, error, level = abs(found.mean), found.deviation / math.sqrt(n), LEVEL / found.family
    if size > found.margin:
        likely = _LIKELY_SHOWN
        critical = student.quantile(1 - level, n - 1)
        return (size - found.margin) / error >= likely and (
            size / error >= _shift(critical, n - 1, likely)
        )
    likely = _LIKELY_EQUAL
    critical = student.quantile(1 - 2 * level, n - 1)
    return (found.margin - size) / error >= _shift(critical, n - 1, likely)


def _shift(critical: float, freedom: int, likely: float) -> float:
    """Return by how many standard errors a mean must differ for its t to exceed `critical`.

    With the probability of a normal variable below `likely`; by the approximation of the noncentral
    t distribution in Abramowitz and Stegun, 26.7.10.
    """
    spread = math.sqrt(1 + critical**2 / (2 * freedom))
    return critical * (1 - 1 / (4 * freedom)) + likely * spread


def holm(probabilities: Sequence[float]) -> list[float]:
    """Return each probability corrected for their number (Holm 1979), in the order given.

    With those below `LEVEL` called shown, the chance of even one wrong call is at most `LEVEL`,
    however many comparisons there are and however they depend on each other.
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    corrected = [0.0] * len(probabilities)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(probabilities) - rank) * probabilities[index]))
        corrected[index] = largest
    return corrected
