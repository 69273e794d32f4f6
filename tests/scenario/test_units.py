"""Numbers with units, as Python sees them; the exactness is tested beside the parser in Rust."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf import _native

NEVER = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "value"),
    [("16Mbps", 16_000_000), ("100mbit", 100_000_000), ("1.5Gb/s", 1_500_000_000), ("1kB/s", 8000)],
)
def test_rates(text: str, value: int) -> None:
    assert _native.parse_rate(text) == value


def test_queue_sizes_keep_their_unit() -> None:
    assert _native.parse_queue_size("2.8kp") == (2800, "p")
    assert _native.parse_queue_size("1.5kB") == (1500, "B")
    assert _native.format_queue_size(2800, "p") == "2800p"


def test_ns3_prints_never_with_six_digits() -> None:
    assert _native.parse_time("+9.22337e+18ns") == NEVER
    assert _native.parse_time(_native.format_time(NEVER)) == NEVER


@pytest.mark.parametrize("text", ["16", "16mbps", "16MBPS", "-1Mbps", "0.1bps", "Mbps", "1e40bps"])
def test_a_rate_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        _native.parse_rate(text)


@given(st.integers(0, 2**63 - 1))
def test_what_is_formatted_is_read_back(number: int) -> None:
    assert _native.parse_rate(_native.format_rate(number)) == number
    assert _native.parse_size(_native.format_size(number)) == number


UNITS = {"s": 9, "ms": 6, "us": 3, "ns": 0, "ps": -3, "fs": -6}


@given(
    st.decimals(min_value=0, max_value=10**9, places=9, allow_nan=False, allow_infinity=False),
    st.sampled_from(sorted(UNITS)),
)
def test_a_time_is_exact_or_refused(number: Decimal, unit: str) -> None:
    """Compared with rational arithmetic."""
    exact = Fraction(number) * Fraction(10) ** UNITS[unit]
    text = f"{number:f}{unit}"
    if exact.denominator == 1 and exact <= NEVER:
        assert _native.parse_time(text) == (exact if exact < 92 * 10**17 else NEVER)
    else:
        with pytest.raises(ValueError, match=r"lose precision|too large"):
            _native.parse_time(text)


@given(st.text(max_size=12))
def test_a_refusal_quotes_the_text(text: str) -> None:
    for parse in (_native.parse_rate, _native.parse_time, _native.parse_size):
        with pytest.raises(ValueError, match=re.escape(f"`x{text}`")):
            parse(f"x{text}")
