"""The statistics in metrics' names: over time (the first axis), over the values that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ccperf.metrics.series import Floats


def mean(series: Floats) -> Floats:
    """Return the plain mean of each column; NaN for a column without values."""
    total = series.sum(axis=0)
    if len(series) and not np.isnan(total).any():  # every value exists
        plain: Floats = total / len(series)
        return plain
    count = np.count_nonzero(~np.isnan(series), axis=0)
    return _ratio(np.nansum(series, axis=0), count)


def cov(series: Floats) -> Floats:
    """Return the coefficient of variation of each column: sample deviation (ddof 1) over mean."""
    count = np.count_nonzero(~np.isnan(series), axis=0)
    centre = mean(series)
    deviation = np.sqrt(_ratio(np.nansum((series - centre) ** 2, axis=0), count - 1))
    return _ratio(deviation, centre)


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
    found: Floats = np.take_along_axis(ordered, ranks[np.newaxis] - 1, axis=0)[0]
    return found


def percentile(values: Floats, percent: int, larger: int = 0) -> float:
    """Return the nearest-rank percentile of `values` and `larger` ones that are not known.

    That is the least value that at least `percent` % of them do not exceed; NaN if it is one of
    those not known, or if there are none.
    """
    rank = -(-percent * (len(values) + larger) // 100)
    return float(np.partition(values, rank - 1)[rank - 1]) if 0 < rank <= len(values) else np.nan


def _ratio(numerator: Floats, denominator: Floats | np.ndarray) -> Floats:
    """Divide; NaN where the denominator is not above zero."""
    return numerator / np.where(np.asarray(denominator) > 0, denominator, np.nan)
