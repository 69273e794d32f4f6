"""Differences of pairs, the correction for many of them, and cells without chance."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf.evidence.paired import difference, holm
from ccperf.evidence.summary import summarise
from ccperf.runs.metrics import Effect


def test_a_summary_by_hand() -> None:
    found = summarise([2.0, 4.0, 6.0])
    assert (found.n, found.mean, found.deviation) == (3, 4.0, 2.0)
    # 4.302653 x 2 / sqrt(3)
    assert found.half_width == pytest.approx(4.968275, abs=1e-6)


def test_values_whose_squares_are_beyond_all_doubles_have_a_deviation() -> None:
    """The product of the throughputs of 64 flows: no site of such runs could be built."""
    found = summarise([2e178, 4e178, 6e178])
    assert found.deviation == pytest.approx(2e178, rel=1e-15)
    assert found.half_width == pytest.approx(4.968275e178, rel=1e-6)


def test_one_value_has_no_interval_and_equal_values_have_none_to_speak_of() -> None:
    assert summarise([3.0]).half_width is None
    same = summarise([0.1, 0.1, 0.1])
    assert same.is_constant
    assert (same.mean, same.half_width) == (0.1, 0.0)


def test_a_difference_by_hand() -> None:
    """Pairs 1, 2, 3: t = 2 / (1 / sqrt 3) = 3.4641, p = 0.0742 with two degrees of freedom."""
    found = difference([10.0, 20.0, 30.0], [11.0, 22.0, 33.0])
    assert found.mean == found.size == 2
    assert found.p == pytest.approx(0.07418, abs=1e-5)
    assert found.interval == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)
    # 1 % of the larger mean, 22: t = (2 - 0.2178) / 0.57735 from there.
    assert found.margin == pytest.approx(22 * 0.01 / 1.01)
    assert found.p_equal is not None
    assert found.p_equal > 0.5


def test_a_ratio_by_hand() -> None:
    """ln 1.5, ln 2, ln 2.5: mean 0.671634, deviation 0.256088; t = 4.5426, p = 0.0452."""
    found = difference([10.0, 20.0, 30.0], [15.0, 40.0, 75.0], "ratio")
    assert found.is_log
    assert found.size == pytest.approx(0.671634, abs=1e-6)
    assert found.p == pytest.approx(0.04517, abs=1e-4)
    assert found.interval is not None
    assert [math.exp(end) for end in found.interval] == pytest.approx([1.0361, 3.6980], abs=1e-3)


def test_more_seeds_where_the_answer_is_open_and_none_where_it_is_known() -> None:
    open_, known = ([1.0, 1.4, 0.9], [1.0, 1.02, 0.99])
    assert difference([1.0] * 3, [x * 1.2 for x in open_], "ratio").more_seeds
    assert difference([1.0] * 3, [x * 1.2 for x in known], "ratio").more_seeds is None
    # As good as on the margin: no number of seeds that one would run tells.
    close = difference([1.0] * 3, [1.01 * 0.99, 1.01, 1.01 / 0.99], "ratio")
    assert (close.direction, close.more_seeds) == ("unknown", None)


def test_where_pairs_do_not_vary_though_runs_do_their_signs_are_counted() -> None:
    """Three times the same sign is one of four cases: with six it would be one of 32."""
    three = difference([0.0] * 3, [2.0] * 3)
    assert (three.basis, three.p) == ("sign test", 0.25)
    assert (three.direction, three.more_seeds) == ("unknown", 3)
    six = difference([0.0] * 6, [2.0] * 6)
    assert (six.p, six.direction) == (1 / 32, "more")


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_as_many_signs_tell_that_values_are_equal(value: float) -> None:
    """Two seeds that agree say nothing of a third: a loss that is drawn may not have come yet."""
    two, six = (difference([value] * n, [value] * n) for n in (2, 6))
    assert (two.p_equal, two.direction, two.more_seeds) == (0.5, "unknown", 4)
    assert (six.p_equal, six.direction) == (1 / 32, "equal")


@pytest.mark.parametrize(
    ("base", "other", "effect"),
    [
        ([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], "ratio"),
        ([1.1, 2.3, 3.7], [1.65, 3.45, 5.55], "ratio"),
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], "difference"),
    ],
)
def test_what_differs_by_rounding_alone_does_not_vary(
    base: list[float], other: list[float], effect: Effect
) -> None:
    """A t test of such pairs would be as sure of three seeds as of a million."""
    found = difference(base, other, effect)
    assert (found.basis, found.p, found.is_shown) == ("sign test", 0.25, False)
    back = difference(other, base, effect)
    assert (back.basis, back.p, back.mean) == (found.basis, found.p, -found.mean)
    # Nor is there a difference that is nothing else.
    near = [math.nextafter(value, 9.0 if i % 2 else 0.0) for i, value in enumerate(base * 2)]
    same = difference(base * 2, near, effect)
    assert (same.basis, same.is_shown, same.direction) == ("sign test", False, "equal")


@pytest.mark.parametrize("n", [2, 4])
def test_what_differs_by_less_than_a_normal_double_does_not_vary(n: int) -> None:
    """The standard error of such pairs is 0."""
    found = difference([0.0] * n, [0.0] * (n - 1) + [math.ulp(0.0)])
    assert (found.basis, found.mean, found.is_shown) == ("sign test", 0, False)
    least = 2 * sys.float_info.min
    varies = difference([0.0] * n, [0.0] * (n - 1) + [least])
    assert (varies.basis, varies.is_shown) == ("t test", False)
    assert varies.more_seeds is None or varies.more_seeds > 0


def test_as_many_signs_tell_that_a_constant_difference_is_within_the_margin() -> None:
    five, six = (
        difference([1000.0 + i for i in range(n)], [1001.0 + i for i in range(n)]) for n in (5, 6)
    )
    assert (five.basis, five.direction, five.more_seeds) == ("sign test", "unknown", 1)
    assert (six.basis, six.direction, six.is_shown) == ("sign test", "equal", True)


def test_what_no_seed_changes_is_exact() -> None:
    found = difference([5.0, 5.0], [6.0, 6.0], "ratio", is_exact=True)
    assert (found.basis, found.p, found.interval) == ("exact", None, None)
    assert found.is_shown
    assert found.direction == "more"
    assert math.exp(found.size) == pytest.approx(1.2)


def test_a_zero_among_the_seeds_is_compared_by_differences() -> None:
    """Then the factor is that of the means, and there is none where one side is always 0."""
    found = difference([0.0, 2.0, 4.0], [3.0, 7.0, 8.0], "ratio")
    assert (found.is_log, found.mean) == (False, 4)
    assert found.p == pytest.approx(difference([0.0, 2.0, 4.0], [3.0, 7.0, 8.0]).p or 0)
    assert math.exp(found.size) == pytest.approx(3)
    assert difference([0.0, 0.0], [1.0, 2.0], "ratio").size == math.inf
    assert difference([1.0, 2.0], [0.0, 0.0], "ratio").size == -math.inf
    assert difference([0.0, 0.0], [0.0, 0.0], "ratio").size == 0


def test_values_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="pairs"):
        difference([1.0], [1.0, 2.0])


def test_holm_by_hand() -> None:
    """Holm's procedure on 0.01, 0.04, 0.03: 3 x 0.01, then 2 x 0.03, then at least that."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_keeps_the_order_and_never_helps(probabilities: list[float]) -> None:
    corrected = holm(probabilities)
    for before, after in zip(probabilities, corrected, strict=True):
        assert min(1.0, before) <= after <= min(1.0, before * len(probabilities)) + 1e-12
    ranked = sorted(zip(probabilities, corrected, strict=True))
    assert [after for _, after in ranked] == sorted(corrected)
