"""The statistics of metrics are NumPy's to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ccperf import _native
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import compute, statistics, transport
from metrics import with_numpy

NAMES = ("mean", "cov", "row_sums", "percentiles")
SHAPES = st.one_of(
    st.tuples(st.integers(0, 700), st.just(1)),
    st.tuples(st.integers(0, 60), st.integers(1, 40)),
    st.tuples(st.integers(1, 3), st.integers(1, 400)),
)
VALUES = st.one_of(st.floats(0, 1e6), st.floats(-1e3, 1e3), st.just(np.nan), st.just(0.1))


def of(module: object, name: str) -> Callable[[np.ndarray], np.ndarray]:
    function = getattr(module, name)
    return partial(function, percent=95) if name == "percentiles" else function


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
@given(series=hnp.arrays(float, SHAPES, elements=VALUES, fill=st.just(0.1)))
def test_a_statistic_is_what_numpy_makes_of_it(name: str, series: np.ndarray) -> None:
    found, expected = (of(module, name)(series) for module in (statistics, with_numpy))
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_long_series_are_added_in_numpys_order(name: str) -> None:
    rng = np.random.default_rng(7)
    for shape in ((100_003, 1), (3001, 7), (500, 200), (2, 5001)):
        series = rng.lognormal(size=shape)
        series[rng.random(shape) < 0.01] = np.nan
        for part in (series, series[1:], series[:, ::-1].copy(), series[:, :1].copy()):
            found, expected = (of(module, name)(part) for module in (statistics, with_numpy))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_an_array_may_lie_in_its_memory_as_it_likes(name: str) -> None:
    whole = np.random.default_rng(8).lognormal(size=(30, 40))
    for series in (whole.T, whole[::2], whole[:, 1::3], np.asfortranarray(whole), whole.T[5:, :7]):
        found = of(statistics, name)(series)
        expected = of(with_numpy, name)(np.ascontiguousarray(series))
        np.testing.assert_array_equal(found, expected)


@given(
    steps=hnp.arrays(np.int64, SHAPES, elements=st.integers(0, 10**8)),
    interval_ns=st.integers(10**6, 9 * 10**9),
)
def test_rates_are_those_of_whole_numbers(steps: np.ndarray, interval_ns: int) -> None:
    counter = np.cumsum(steps, axis=0)
    found = _native.rates(counter, interval_ns)
    if len(counter):
        np.testing.assert_array_equal(found, with_numpy.rates(counter, interval_ns))


@pytest.mark.parametrize("name", ["aqm", "competition", "buffer_sizing", "policer", "incast"])
def test_the_metrics_of_a_run_are_those_of_numpy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = catalogue.get(name)
    scenario = experiment.scenario("TcpCubic", **[*experiment.grid()][-1], stop_time="3s")
    recording = backends.get("native").simulate(scenario)
    found = compute(scenario, recording)
    for module in ("transport", "application", "link", "network", "response", "balancing"):
        place = f"ccperf.runs.metrics.{module}"
        for statistic in NAMES:
            monkeypatch.setattr(
                f"{place}.{statistic}", getattr(with_numpy, statistic), raising=False
            )
    assert transport.mean is with_numpy.mean
    assert compute(scenario, recording) == found
