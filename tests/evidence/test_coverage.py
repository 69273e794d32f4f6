"""Intervals cover the truth as often as they say, and comparisons of nothing with nothing find it.

Each test counts how often something happens in trials with a known answer; the count has to be in
the binomial distribution's central 99 %. Generators are seeded: a test that passes always does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ccperf.evidence.cells import Cell, Point
from ccperf.evidence.compare import compare
from ccperf.evidence.paired import LEVEL, difference, holm
from ccperf.evidence.rows import Row, corrected
from ccperf.evidence.summary import CONFIDENCE, summarise
from ccperf.runs.metrics import Effect

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
        found = difference(base.tolist(), other.tolist()).interval
        assert found is not None
        return found[0] <= 0.7 <= found[1]

    assert as_often_as(count(TRIALS, covers, seeds), TRIALS, CONFIDENCE)


@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize("spread", [0.02, 0.3, 1.0])
def test_a_factor_is_covered_however_much_the_values_spread(seeds: int, spread: float) -> None:
    def covers(draw: np.random.Generator) -> bool:
        base = draw.lognormal(3, spread, seeds)
        other = 1.1 * base * draw.lognormal(0, spread / 2, seeds)
        found = difference(base.tolist(), other.tolist(), "ratio").interval
        assert found is not None
        return found[0] <= math.log(1.1) <= found[1]

    assert as_often_as(count(TRIALS, covers, seeds), TRIALS, CONFIDENCE)


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_comparing_an_algorithm_with_itself_is_significant_in_5_of_100_cases(seeds: int) -> None:
    def flagged(draw: np.random.Generator) -> bool:
        found = difference(draw.normal(50, 3, seeds).tolist(), draw.normal(50, 3, seeds).tolist())
        assert found.p is not None
        return found.p < LEVEL

    assert as_often_as(count(TRIALS, flagged, seeds), TRIALS, LEVEL)


@pytest.mark.parametrize("seeds", [2, 3])
def test_what_a_seed_decides_between_two_outcomes_is_shown_too_often(seeds: int) -> None:
    """As docs/evidence.md warns: at one point in 4^n / 2, as n seeds agree by chance so often."""

    def flagged(draw: np.random.Generator) -> bool:
        base, other = (
            draw.choice([10.0, 20.0], seeds) + draw.normal(0, 1e-3, seeds) for _ in range(2)
        )
        found = difference(base.tolist(), other.tolist(), "ratio")
        return found.direction in ("more", "less")

    assert as_often_as(count(TRIALS, flagged, seeds), TRIALS, 2 / 4**seeds)


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
def test_even_one_difference_of_an_algorithm_and_itself_is_shown_in_5_of_100_cases(
    points: int,
) -> None:
    """Whatever the number of points; they stand in one row, or each in one of its own."""

    def flagged(draw: np.random.Generator) -> bool:
        sides = {name: cells(draw, name, points) for name in ("a", "b")}
        (row,) = compare(sides, ["mean_srtt_l4"]).rows
        assert any(r.is_shown for r in compare(sides, ["mean_srtt_l4"], each=True).rows) is (
            row.is_shown
        )
        return row.is_shown

    trials = TRIALS // math.isqrt(points)  # each takes as long as it has points
    assert as_often_as(count(trials, flagged, points), trials, 1 - (1 - LEVEL / points) ** points)


@pytest.mark.parametrize(("points", "effect"), [(1, "ratio"), (6, "ratio"), (6, "difference")])
def test_what_differs_by_the_margin_is_called_equal_somewhere_in_5_of_100_cases(
    points: int, effect: Effect
) -> None:
    """The hardest case of an equality that is none: a difference that only just matters."""

    def flagged(draw: np.random.Generator) -> bool:
        rows = []
        for _ in range(points):
            base = draw.lognormal(0, 0.2, 8)
            factor = 1.01 * draw.lognormal(0, 0.001, 8)
            if effect == "difference":
                base = np.full(8, 1.0)
                factor = 1.01 + draw.normal(0, 0.001, 8)
            found = difference(base.tolist(), (base * factor).tolist(), effect)
            rows.append(Row("aqm", "mean_srtt_l4", "b", (found,)))
        return any(row.differences[0].is_equal for row in corrected(rows))

    expected = 1 - (1 - LEVEL / points) ** points
    assert as_often_as(count(TRIALS, flagged, points), TRIALS, expected)


@pytest.mark.parametrize(
    ("truth", "spread", "points"),
    [(1.2, 0.1, 1), (1.2, 0.1, 8), (0.5, 0.9, 1), (1.0, 0.01, 1), (1.0, 0.01, 8), (1.004, 0.01, 1)],
)
def test_as_many_more_seeds_as_are_asked_for_tell_in_80_of_100_cases(
    truth: float, spread: float, points: int
) -> None:
    """With the true size and deviation; and half of the seeds would not do."""
    pilot = replace(
        difference([1.0, 1.0], [1.0, 1.1], "ratio"),
        mean=math.log(truth),
        deviation=spread,
        p=1.0,
        p_equal=1.0,
        family=points,
    )
    assert pilot.more_seeds is not None
    enough = 2 + pilot.more_seeds
    wanted = "equal" if truth < 1.01 and truth > 0.99 else "more" if truth > 1 else "less"

    def tells(seeds: int) -> int:
        def told(draw: np.random.Generator) -> bool:
            other = truth * draw.lognormal(0, spread, seeds)
            found = difference([1.0] * seeds, other.tolist(), "ratio")
            assert found.p is not None
            assert found.p_equal is not None
            # The hardest place of a family.
            found = replace(found, p=found.p * points, p_equal=found.p_equal * points)
            return found.direction == wanted

        return count(1000, told, points)

    assert tells(enough) >= 780
    assert tells(max(2, enough // 2)) < 700


@pytest.mark.parametrize(("more", "least", "most"), [("asked", 0.07, 0.14), ("one", 0.2, 0.34)])
def test_adding_seeds_until_something_is_shown_finds_more_than_chance(
    more: str, least: float, most: float
) -> None:
    """As docs/evidence.md warns: 10 % with as many as the verdict asks for, 27 % one by one."""

    def flagged(draw: np.random.Generator) -> bool:
        pairs = draw.normal(0, 0.03, 3).tolist()
        while True:
            found = difference([1.0] * len(pairs), np.exp(pairs).tolist(), "ratio")
            next_ones = found.more_seeds if more == "asked" else 1
            if found.direction != "unknown" or next_ones is None or len(pairs) + next_ones > 100:
                return found.is_shown
            pairs += draw.normal(0, 0.03, next_ones).tolist()

    assert least < count(400, flagged, 1) / 400 < most
