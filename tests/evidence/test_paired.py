"""Differences of pairs, the correction for many of them, and cells without chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf.evidence.paired import difference, holm
from ccperf.evidence.summary import summarise


def test_a_summary_by_hand() -> None:
    found = summarise([2.0, 4.0, 6.0])
    assert (found.n, found.mean, found.deviation) == (3, 4.0, 2.0)
    # 4.302653 x 2 / sqrt(3)
    assert found.half_width == pytest.approx(4.968275, abs=1e-6)


def test_one_value_has_no_interval_and_equal_values_have_none_to_speak_of() -> None:
    assert summarise([3.0]).half_width is None
    same = summarise([0.1, 0.1, 0.1])
    assert same.is_constant
    assert (same.mean, same.half_width) == (0.1, 0.0)


def test_a_difference_by_hand() -> None:
    """Pairs 1, 2, 3: t = 2 / (1 / sqrt 3) = 3.4641, p = 0.0742 with two degrees of freedom."""
    found = difference([10.0, 20.0, 30.0], [11.0, 22.0, 33.0])
    assert found.difference.mean == 2
    assert found.p == pytest.approx(0.07418, abs=1e-5)
    assert found.effect == pytest.approx(2 * (1 - 3 / 7))
    assert found.relative is not None
    assert found.relative.value == pytest.approx(0.1)
    # All of the difference is proportional: the ratio is known, the difference is not.
    assert found.relative.half_width == pytest.approx(0, abs=1e-12)


def test_what_no_seed_changes_is_exact() -> None:
    found = difference([5.0, 5.0], [6.0, 6.0])
    assert found.is_exact
    assert found.p is None
    assert found.relative is not None
    assert (found.relative.value, found.relative.half_width) == (pytest.approx(0.2), 0.0)


def test_from_zero_there_is_no_relative_difference() -> None:
    assert difference([0.0, 0.0], [1.0, 2.0]).relative is None


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
