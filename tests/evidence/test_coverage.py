"""Intervals cover the truth as often as they say, and comparisons of nothing with nothing find it.

Each test counts how often something happens in trials with a known answer; the count has to be in
the binomial distribution's central 99 %. Generators are seeded: a test that passes always does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ccperf.evidence.cells import Cell, Point
from ccperf.evidence.compare import compare
from ccperf.evidence.paired import LEVEL, difference, holm
from ccperf.evidence.summary import CONFIDENCE, summarise

TRIALS = 4000


def as_often_as(count: int, trials: int, probability: float) -> bool:
    """Whether `count` is within the central 99 % of the binomial distribution."""
    drawn = np.random.default_rng(0).binomial(trials, probability, 400_000)
    low, high = np.quantile(drawn, [0.005, 0.995])
    return bool(low <= count <= high)


def count(trials: int, happens: Callable[[np.random.Generator], bool], seed: int) -> int:
    draw = np.random.default_rng(seed)
    return sum(happens(draw) for _ in range(trials))


@pytest.mark.parametrize("seeds", [2, 3, 5, 10, 30])
def test_an_interval_covers_the_true_mean_in_95_of_100_cases(seeds: int) -> None:
    def covers(draw: np.random.Generator) -> bool:
        summary = summarise(draw.normal(14.9, 0.3, seeds).tolist())
        assert summary.half_width is not None
        return abs(summary.mean - 14.9) <= summary.half_width

    assert as_often_as(count(TRIALS, covers, seeds), TRIALS, CONFIDENCE)


@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_the_difference_of_pairs_is_covered_though_their_seeds_have_much_in_common(
    seeds: int,
) -> None:
    def covers(draw: np.random.Generator) -> bool:
        of_the_seed = draw.normal(20, 5, seeds)
        base = of_the_seed + draw.normal(0, 0.2, seeds)
        other = of_the_seed + draw.normal(0.7, 0.4, seeds)
        found = difference(base.tolist(), other.tolist()).difference
        assert found.half_width is not None
        return abs(found.mean - 0.7) <= found.half_width

    assert as_often_as(count(TRIALS, covers, seeds), TRIALS, CONFIDENCE)


@pytest.mark.parametrize("seeds", [5, 10])
def test_a_relative_difference_is_covered(seeds: int) -> None:
    def covers(draw: np.random.Generator) -> bool:
        base = draw.normal(20, 1, seeds)
        other = 1.1 * base + draw.normal(0, 0.5, seeds)
        found = difference(base.tolist(), other.tolist()).relative
        assert found is not None
        assert found.half_width is not None
        return abs(found.value - 0.1) <= found.half_width

    assert as_often_as(count(TRIALS, covers, seeds), TRIALS, CONFIDENCE)


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_comparing_an_algorithm_with_itself_is_significant_in_5_of_100_cases(seeds: int) -> None:
    def flagged(draw: np.random.Generator) -> bool:
        found = difference(draw.normal(50, 3, seeds).tolist(), draw.normal(50, 3, seeds).tolist())
        assert found.p is not None
        return found.p < LEVEL

    assert as_often_as(count(TRIALS, flagged, seeds), TRIALS, LEVEL)


def test_with_holm_s_correction_a_whole_table_of_nothing_is_flagged_in_5_of_100_cases() -> None:
    def flagged(draw: np.random.Generator) -> bool:
        found = [
            difference(draw.normal(0, 1, 5).tolist(), draw.normal(0, 1, 5).tolist()).p
            for _ in range(20)
        ]
        return any(p < LEVEL for p in holm([p for p in found if p is not None]))

    # Of independent tests, the smallest of 20 is below 0.05 / 20 with this probability.
    expected = 1 - (1 - LEVEL / 20) ** 20
    assert as_often_as(count(1000, flagged, 4), 1000, expected)


def cells(draw: np.random.Generator, algorithm: str, points: int) -> list[Cell]:
    """Points of one kind at scales of their own, with five seeds each."""
    return [
        Cell(
            Point("aqm", (("k", str(k)),), "same"),
            algorithm,
            "native",
            "engine",
            {seed: {"mean_srtt_l4": draw.normal(10.0 * k, 0.6 * k)} for seed in range(1, 6)},
        )
        for k in range(1, points + 1)
    ]


@pytest.mark.parametrize("points", [1, 2, 10])
def test_the_row_that_compare_prints_of_an_algorithm_and_itself_is_starred_in_5_of_100_cases(
    points: int,
) -> None:
    """Over several points, too, where relative differences are averaged."""

    def flagged(draw: np.random.Generator) -> bool:
        sides = {name: cells(draw, name, points) for name in ("a", "b")}
        (row,) = compare(sides, ["mean_srtt_l4"]).rows
        return row.is_shown

    assert as_often_as(count(TRIALS, flagged, points), TRIALS, LEVEL)
