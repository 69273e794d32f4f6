"""The summary lines of ``fct_parser.py``, for all programs: completion times by size, in seconds.

Only finished transfers are in the means; how many are not is the last line. The parser counts what
the end of a run cuts off as finished.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ccperf.metrics.transfers import classes

if TYPE_CHECKING:
    from ccperf.metrics.series import Floats
    from ccperf.result import Result


def lines(result: Result) -> list[str]:
    """The lines of a run."""
    found = classes(result.recording)
    times = {name: transfers.completion_times for name, transfers in found.items()}
    none = np.zeros(0)
    return [
        f"AVG FCT: {_mean(times.get('all', none)):.6f}",
        f"AVG Large flow FCT: {_mean(times.get('large', none)):.6f}",
        f"AVG Small flow FCT: {_mean(times.get('small', none)):.6f}",
        f"AVG Small flow 99 FCT: {_99th(times.get('small', none)):.6f}",
        f"Total Flow: {found['all'].count if found else 0}",
        f"Unfinished Flow: {found['all'].unfinished if found else 0}",
    ]


def _mean(milliseconds: Floats) -> float:
    return float(milliseconds.mean()) / 1e3 if len(milliseconds) else math.nan


def _99th(milliseconds: Floats) -> float:
    """The parser's percentile: the value at rank floor(0.99 n), from 0."""
    if not len(milliseconds):
        return math.nan
    return float(sorted(milliseconds)[int(0.99 * len(milliseconds))]) / 1e3
