"""The summary lines of ``fct_parser.py``, for all programs: completion times by size, in seconds.

Only finished transfers are in the means; how many are not is the last line. The parser counts what
the end of a run cuts off as finished.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf.metrics.series import Floats
    from ccperf.result import Result


def lines(result: Result) -> list[str]:
    """The lines of a run."""
    from ccperf.metrics.transfers import classes

    found = classes(result.recording)
    times = {name: transfers.completion_times for name, transfers in found.items()}
    return [
        f"AVG FCT: {_mean(times.get('all')):.6f}",
        f"AVG Large flow FCT: {_mean(times.get('large')):.6f}",
        f"AVG Small flow FCT: {_mean(times.get('small')):.6f}",
        f"AVG Small flow 99 FCT: {_99th(times.get('small')):.6f}",
        f"Total Flow: {found['all'].count if found else 0}",
        f"Unfinished Flow: {found['all'].unfinished if found else 0}",
    ]


def _mean(milliseconds: Floats | None) -> float:
    if milliseconds is None or not len(milliseconds):
        return math.nan
    return float(milliseconds.mean()) / 1e3


def _99th(milliseconds: Floats | None) -> float:
    """The parser's percentile: the value at rank floor(0.99 n), from 0."""
    if milliseconds is None or not len(milliseconds):
        return math.nan
    return float(sorted(milliseconds)[int(0.99 * len(milliseconds))]) / 1e3
