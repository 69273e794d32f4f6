"""Student's t against the tables that everybody has."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ccperf.evidence.student import beyond, quantile

#: Two-sided quantiles to three digits, as in the NIST/SEMATECH e-Handbook, section 1.3.6.7.2.
TABLE = {
    0.90: {1: 6.314, 2: 2.920, 5: 2.015, 10: 1.812, 30: 1.697, 100: 1.660},
    0.95: {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 29: 2.045, 100: 1.984},
    0.99: {1: 63.657, 2: 9.925, 5: 4.032, 10: 3.169, 30: 2.750, 100: 2.626},
}


@pytest.mark.parametrize("confidence", TABLE)
def test_quantiles_are_those_of_the_tables(confidence: float) -> None:
    for freedom, value in TABLE[confidence].items():
        assert quantile(confidence, freedom) == pytest.approx(value, abs=5.1e-4)


@given(st.floats(0, 1e6))
@example(7.4e-9)
def test_one_degree_of_freedom_is_cauchy_s_distribution(t: float) -> None:
    assert beyond(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-9, abs=1e-14)


@given(st.floats(0, 1e5))
def test_two_degrees_of_freedom_have_a_closed_form(t: float) -> None:
    assert beyond(t, 2) == pytest.approx(1 - t / math.sqrt(t * t + 2), rel=1e-6, abs=1e-13)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert quantile(0.95, 10**7) == pytest.approx(1.959964, abs=1e-6)


@given(st.floats(0.5, 0.999), st.integers(1, 300))
def test_a_quantile_is_where_the_probability_is(confidence: float, freedom: int) -> None:
    assert beyond(quantile(confidence, freedom), freedom) == pytest.approx(1 - confidence, rel=1e-9)


def test_the_sign_does_not_matter_and_ends_are_ends() -> None:
    assert beyond(-2.0, 5) == beyond(2.0, 5)
    assert beyond(0.0, 5) == 1
    assert beyond(math.inf, 5) == 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        beyond(1.0, 0)
    with pytest.raises(ValueError, match="confidence"):
        quantile(1.0, 3)
