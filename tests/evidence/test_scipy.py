"""SciPy's second opinion on what the evidence computes itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ccperf.evidence.paired import LEVEL, POWER, difference
from ccperf.evidence.rows import Row
from ccperf.evidence.student import beyond, quantile

stats: Any = pytest.importorskip("scipy.stats")

_PAIRS = [
    (seeds, spread, shift)
    for seeds in (2, 3, 5, 10, 30)
    for spread in (0.001, 0.1, 0.8)
    for shift in (0.0, 0.004, 0.3)
]


def drawn(seeds: int, spread: float, shift: float) -> tuple[list[float], list[float]]:
    draw = np.random.default_rng(round(1e4 * (seeds + spread + shift)))
    base = draw.lognormal(2, spread, seeds)
    return base.tolist(), (base * np.exp(draw.normal(shift, spread / 2, seeds))).tolist()


@pytest.mark.parametrize(("seeds", "spread", "shift"), _PAIRS)
def test_factors_are_judged_by_the_paired_t_test_of_logarithms(
    seeds: int, spread: float, shift: float
) -> None:
    base, other = drawn(seeds, spread, shift)
    found = difference(base, other, "ratio")
    theirs = stats.ttest_rel(np.log(other), np.log(base))
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-8)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-8)
    assert math.exp(found.size) == pytest.approx(stats.gmean(np.divide(other, base)))


@pytest.mark.parametrize(("seeds", "spread", "shift"), _PAIRS)
@pytest.mark.parametrize("effect", ["ratio", "difference"])
def test_equality_is_judged_by_two_one_sided_t_tests(
    seeds: int, spread: float, shift: float, effect: Any
) -> None:
    base, other = drawn(seeds, spread, shift)
    found = difference(base, other, effect)
    if effect == "ratio":
        pairs, margin = np.log(other) - np.log(base), math.log(1.01)
    else:
        pairs, margin = np.subtract(other, base), max(np.mean(base), np.mean(other)) * 0.01 / 1.01
        assert found.p == pytest.approx(stats.ttest_rel(other, base).pvalue, rel=1e-8)
    above = stats.ttest_1samp(pairs, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(pairs, margin, alternative="less").pvalue
    assert found.p_equal == pytest.approx(max(above, below), rel=1e-8)


@pytest.mark.parametrize("seeds", range(2, 12))
def test_constant_pairs_are_judged_by_the_sign_test(seeds: int) -> None:
    found = difference([1.0] * seeds, [2.0] * seeds)
    assert found.p == pytest.approx(stats.binomtest(seeds, seeds, 0.5).pvalue)


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 100, 1000])
def test_student_s_t_far_out_where_corrections_for_thousands_of_points_need_it(
    freedom: int,
) -> None:
    for p in (0.5, 0.05, 1e-3, 1e-6, 1e-9):
        t = stats.t.isf(p / 2, freedom)
        assert beyond(t, freedom) == pytest.approx(p, rel=1e-8)
        assert quantile(1 - p, freedom) == pytest.approx(t, rel=1e-5)


@pytest.mark.parametrize("points", [1, 10, 193])
@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("size", [0.06, 0.2, 1.0])
def test_the_seeds_asked_for_have_the_power_that_is_promised(
    size: float, spread: float, points: int
) -> None:
    """By the noncentral t distribution: not less than 80 %, nor much more."""

    def power(n: int) -> float:
        critical = stats.t.isf(LEVEL / points / 2, n - 1)
        return float(stats.nct.sf(critical, n - 1, size * math.sqrt(n) / spread))

    pilot = replace(
        difference([1.0, 1.0], [1.0, 1.1], "ratio"),
        mean=size,
        deviation=spread,
        p=1.0,
        p_equal=1.0,
        family=points,
    )
    if pilot.more_seeds is None:
        assert power(1000) < POWER
        return
    enough = 2 + pilot.more_seeds
    assert power(enough) >= POWER - 0.01
    # One more than the fewest at most, and the 3 % that the approximation costs.
    assert enough <= 3 or power(math.floor(0.97 * (enough - 1))) < POWER + 0.01


def test_the_mean_over_points_is_the_geometric_one_and_its_interval_that_of_logarithms() -> None:
    factors = [1.1, 1.4, 0.9, 2.5]
    found = [difference([10.0], [10.0 * factor], "ratio", is_exact=True) for factor in factors]
    row = Row("aqm", "mean_agg_throughput_l4", "b", tuple(found))
    assert row.size.mean == pytest.approx(stats.gmean(factors))
    theirs = stats.ttest_1samp(np.log(factors), 0).confidence_interval(0.95)
    assert row.over_grids == pytest.approx((math.exp(theirs.low), math.exp(theirs.high)))
