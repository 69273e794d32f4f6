"""The statistics in metrics' names: over time (the first axis), over the values that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ccperf.metrics.series import Floats


def mean(series: Floats) -> Floats:
    """Return the plain mean of each column; NaN for a column without values."""
    count = np.count_nonzero(~np.isnan(series), axis=0)
    return _ratio(np.nansum(series, axis=0), count)


def cov(series: Floats) -> Floats:
    """Return the coefficient of variation of each column: sample deviation (ddof 1) over mean."""
    count = np.count_nonzero(~np.isnan(series), axis=0)
    centre = mean(series)
    deviation = np.sqrt(_ratio(np.nansum((series - centre) ** 2, axis=0), count - 1))
    return _ratio(deviation, centre)


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
