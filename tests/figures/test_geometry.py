"""Where things are in a figure: thinned series, ticks, looks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf.algorithms import registry
from ccperf.present.figures import palette
from ccperf.present.figures.figure import Axis, Series
from ccperf.present.figures.geometry import decimate, limits, outline, ticks


@given(
    st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(float("nan"))), min_size=100, max_size=400),
    st.integers(1, 8),
)
def test_thinning_keeps_extremes_ends_and_order(values: list[float], columns: int) -> None:
    y = np.array(values)
    x = np.arange(y.size) / 10
    thin_x, thin_y = decimate(x, y, "line", columns)
    seen = ~np.isnan(y)
    assert thin_x.size <= 4 * columns or thin_x.size == y.size
    assert (np.diff(thin_x) > 0).all()
    if not seen.any():
        return
    kept = ~np.isnan(thin_y)
    assert thin_y[kept].min() == y[seen].min()
    assert thin_y[kept].max() == y[seen].max()
    assert thin_x[kept][[0, -1]].tolist() == x[seen][[0, -1]].tolist()
    assert {*zip(thin_x[kept], thin_y[kept], strict=True)} <= {*zip(x, y, strict=True)}


def test_a_step_is_drawn_from_where_its_interval_begins() -> None:
    x, y = np.array([1.0, 2, 3, 4]), np.array([5.0, np.nan, 7, 8])
    known = Series(x, y, "step", "subject", begins=0)
    drawn_x, drawn_y = outline(known)
    seen = np.isfinite(drawn_y)
    assert drawn_x[seen].tolist() == [0, 1, 2, 3, 4]
    assert drawn_y[seen].tolist() == [5, 5, 7, 7, 8]
    assert np.isnan(drawn_y[2])  # the gap stays between 1 and 2
    assert outline(Series(x, y, "step", "subject"))[0].tolist() == [1, 2, 2, 3, 4]
    assert outline(Series(x, y, "line", "subject", begins=0))[0] is x


def test_short_series_are_drawn_as_they_are() -> None:
    x, y = np.arange(500.0), np.sin(np.arange(500.0))
    assert decimate(x, y, "line", 900)[1] is y


@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-6, 1e9),
    st.integers(5, 10),
)
def test_ticks_are_few_round_and_where_their_texts_say(low: float, span: float, most: int) -> None:
    high = low + span
    if high - low < 1e-9 * max(abs(low), abs(high)):  # beyond what a float can tell apart
        return
    found = ticks(low, high, most)
    assert len(found) <= most + 1
    assert len(found) >= 2
    slack = 1e-6 * (high - low)
    for value, text in found:
        assert low - slack <= value <= high + slack
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=1e-6, abs=slack)
    assert len({text for _, text in found}) == len(found)
    steps = [
        (after - before) / (high - low) for (before, _), (after, _) in itertools.pairwise(found)
    ]
    assert max(steps) == pytest.approx(min(steps), rel=1e-5)


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("count", [1, 2, 5, 10, 11, 50, 1000])
def test_subjects_can_be_told_apart_on_light_and_dark_pages(count: int) -> None:
    found = palette.looks(count)
    assert len(found) == count
    if count <= len(palette.SUBJECTS):
        assert len({look.marker for look in found}) == count
    if count <= 50:
        assert len({look.colour for look in found}) == count
        assert len({look.dark for look in found}) == count
    for look in found:
        # Okabe and Ito's orange and sky blue are that light; their markers and neighbours help.
        assert contrast(look.colour, "#ffffff") >= 1.9
        assert contrast(look.dark, "#14181c") >= 3
    for role in palette.ROLES.values():
        assert contrast(role.colour, "#ffffff") >= 3
        assert contrast(role.dark, "#14181c") >= 3


@pytest.mark.parametrize(("low", "high"), [(99.8403, 99.8423), (-3.0, -2.9999), (5.0, 5.0)])
def test_an_axis_is_at_least_a_hundredth_of_its_values_long(low: float, high: float) -> None:
    start, end = limits(Axis("used", "%"), low, high)
    assert start < low <= high < end
    assert end - start >= 0.01 * max(abs(low), abs(high))
    # What differs by more decides itself, as do ends that an axis has.
    assert limits(Axis("used", "%"), 50, 100) == pytest.approx((47, 103))
    assert limits(Axis("used", "%", lower=0), 99.84, 99.85)[0] == 0


@given(st.permutations(sorted(registry.algorithms("cc"))), st.integers(1, len(palette.SUBJECTS)))
def test_algorithms_look_alike_wherever_they_are(names: list[str], count: int) -> None:
    found = dict(zip(names[:count], palette.looks_of(names[:count]), strict=True))
    assert len(set(found.values())) == count
    for place, name in enumerate(registry.USUAL):
        assert found.get(name, place) == place
    # In whatever order they come.
    turned = names[:count][::-1]
    assert palette.looks_of(turned) == tuple(found[name] for name in turned)


def test_what_is_a_user_s_has_a_look_that_none_of_the_usual_has() -> None:
    names = ["mine.py:Mine", "TcpCubic", "TcpCubic(Beta=0.5)"]
    mine, cubic, other = palette.looks_of(names)
    assert cubic == registry.USUAL.index("TcpCubic")
    assert len({mine, cubic, other}) == 3
    assert mine >= len(registry.USUAL)
    assert palette.looks_of([f"mine{i}.py:M" for i in range(11)]) == ()
