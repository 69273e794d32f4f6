"""The statistics of `crates/metrics` as NumPy has them, which defines a metric's last bit."""

from __future__ import annotations

import numpy as np

from ccperf.runs.metrics.grid import Floats, Integers


def mean(series: Floats) -> Floats:
    """Return the plain mean of each column; NaN for a column without values."""
    return _ratio(*_sum(series))


def cov(series: Floats) -> Floats:
    """Return the coefficient of variation of each column: sample deviation (ddof 1) over mean."""
    centre = mean(series)
    total, count = _sum((series - centre) ** 2)
    return _ratio(np.sqrt(_ratio(total, count - 1)), centre)


def percentiles(series: Floats, percent: int) -> Floats:
    """Return the nearest-rank percentile of each column; NaN for a column without values.

    That is the least value that at least `percent` % of the column's values do not exceed.
    """
    if not len(series):
        return np.full(series.shape[1], np.nan)
    count = np.count_nonzero(~np.isnan(series), axis=0)
    ranks = np.maximum(-(-percent * count // 100), 1)
    # Values that do not exist sort behind all others.
    ordered: Floats = np.sort(series, axis=0)
    found: Floats = ordered[ranks - 1, range(len(ranks))]
    return found


def row_sums(series: Floats) -> Floats:
    """Return the sum of each row, over the values that exist; NaN for a row without values."""
    total: Floats = _add(series, axis=1)
    if not _is_any(np.isnan(total)):
        return total
    return np.where(np.isnan(series).all(axis=1), np.nan, np.nansum(series, axis=1))


# A run has hundreds of sums: what methods of arrays do around them takes as long as a short one.
_add = np.add.reduce
_is_any = np.logical_or.reduce


def _sum(series: Floats) -> tuple[Floats, Integers | int]:
    """Return sum and number of the values of each column that exist."""
    total: Floats = _add(series, axis=0)
    if not _is_any(np.isnan(total)):
        return total, len(series)
    return np.nansum(series, axis=0), np.count_nonzero(~np.isnan(series), axis=0)


def _ratio(numerator: Floats, denominator: Floats | Integers | int) -> Floats:
    """Divide; NaN where the denominator is not above zero."""
    if isinstance(denominator, int):
        return numerator / (denominator if denominator > 0 else np.nan)
    return numerator / np.where(denominator > 0, denominator, np.nan)


def rates(counter: Integers, interval_ns: int) -> Floats:
    """Bytes counted in each interval as Mbps, rounded down to whole bit/s."""
    bits = np.diff(counter, axis=0) * 8
    # Split so that no product leaves 64 bits.
    whole, rest = np.divmod(bits, interval_ns)
    rate: Floats = (whole * 10**9 + rest * 10**9 // interval_ns) / 1e6
    return rate
