"""A metric over seeds: its mean with a confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ccperf.evidence import student

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """Mean of n values with its confidence interval, mean ± half_width.

    `half_width` is None for one value, which says nothing of its spread, and 0 where all values are
    the same: then a seed changes nothing, and more of them would add nothing.
    """

    n: int
    mean: float
    deviation: float | None
    half_width: float | None

    @property
    def is_constant(self) -> bool:
        """Whether several seeds gave one and the same value."""
        return self.deviation == 0


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample (ddof = 1).

    As `statistics.stdev`, but in floating-point numbers: that is exact to the last digits, too, and
    a tenth of the time of most comparisons.
    """
    mean = fmean(values)
    # Squares of the products of the throughputs of 64 flows are beyond all doubles.
    return math.hypot(*(value - mean for value in values)) / math.sqrt(len(values) - 1)


def summarise(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary:
    """Return the mean of independent values with its interval by Student's t.

    The interval covers the true mean with probability `confidence` if the values are normally
    distributed, and nearly so otherwise once there are some ten of them.
    """
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return Summary(1, values[0], None, None)
    # The mean of equal values is that value, not that value with a rounding error.
    if min(values) == max(values):
        return Summary(len(values), values[0], 0.0, 0.0)
    spread = deviation(values)
    half_width = student.quantile(confidence, len(values) - 1) * spread / math.sqrt(len(values))
    return Summary(len(values), fmean(values), spread, half_width)
