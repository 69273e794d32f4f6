"""The statistics in metrics' names: over time (the first axis), over the values that exist.

Those of whole series are `crates/metrics`: a run has a hundred of them, of arrays so short that
NumPy's calls take ten times as long as its sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf._native import cov, mean, percentiles, row_sums

if TYPE_CHECKING:
    from ccperf.runs.metrics.grid import Floats

__all__ = ["cov", "mean", "percentile", "percentiles", "row_sums"]


def percentile(values: Floats, percent: int, larger: int = 0) -> float:
    """Return the nearest-rank percentile of `values` and `larger` ones that are not known.

    That is the least value that at least `percent` % of them do not exceed; NaN if it is one of
    those not known, or if there are none.
    """
    rank = -(-percent * (len(values) + larger) // 100)
    return float(np.partition(values, rank - 1)[rank - 1]) if 0 < rank <= len(values) else np.nan
