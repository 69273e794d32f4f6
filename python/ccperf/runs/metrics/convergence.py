"""How soon flows share: the time from the last start to fair shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.metrics.registry import metric

if TYPE_CHECKING:
    from ccperf.runs.metrics.grid import Floats
    from ccperf.runs.metrics.series import FlowSeries

#: Jain's index from which on shares are called fair, and over how long throughputs are taken, in s.
FAIR = 0.9
WINDOW_S = 1.0
#: Flows that send together for less than so many windows say nothing.
_LEAST_WINDOWS = 3


#: Of a second: Jain's index, and what is in it.
_INDEX = "(sum_i y_i(t_k))^2 / (n sum_i y_i(t_k)^2)"
_WHERE = (
    "y_i(t_k) = mean of throughput_l4 of flow i over (t_j, t_k], samples a second apart (in whole"
    " intervals, the nearest), T = start of the last flow"
)


@metric(
    "network",
    unit="s",
    better="lower",
    formula=f"min t_k - T, t_j >= T, with {_INDEX} >= 0.9; {_WHERE}",
    steady=False,
    asked_with="mean_jains_fairness_1s_l4",
)
def convergence_time_l4(flows: FlowSeries) -> float:
    """Time from the start of the last flow until the throughputs of the last second are fair.

    Fair is Jain's index of 0.9: for two flows shares of 2 to 1, the delta-fair convergence time of
    RFC 5166 (section 2.3.3) with delta = 1/3; it is never less than that second, which is 0.99 s in
    intervals of 30 ms. Where it does not happen while all flows send, it is never: absent, though
    mean_jains_fairness_1s_l4 is there.
    Both are absent for one flow, for flows that end by themselves, and where all flows send
    together for less than 3 s.
    """
    together = _together(flows)
    if together is None:
        return np.nan
    found = np.flatnonzero(together.index >= FAIR)
    return float(together.seconds[found[0]] - together.begin) if found.size else np.nan


@metric(
    "network",
    unit="1",
    better="higher",
    effect="difference",
    formula=f"mean over k, t_j >= T, of {_INDEX}; {_WHERE}",
    steady=False,
)
def mean_jains_fairness_1s_l4(flows: FlowSeries) -> float:
    """Mean of Jain's fairness index of the n flows' throughputs in a second: 1/n to 1, 1 is fair.

    Of the seconds in which all flows send, each sample ends one, so that they overlap. One in which
    no flow has throughput, as while first SYNs are lost, counts as 0. Shorter intervals ask whose
    packets pass at the moment: mean_jains_fairness_throughput_l4, over those of the recording, has
    0.6 for two flows that share every second fairly. Absent for one flow, for flows that end by
    themselves, and where all flows send together for less than 3 s.
    """
    together = _together(flows)
    return np.nan if together is None else float(together.index.mean())


@dataclass(frozen=True)
class _Together:
    """Since when all flows send, in s, and of each second of that its end and Jain's index."""

    begin: float
    seconds: Floats
    index: Floats


def _together(flows: FlowSeries) -> _Together | None:
    """Return None where `mean_jains_fairness_1s_l4` is absent."""
    count = len(flows.names)
    if count < 2 or flows.have_ended.any() or flows.time.size < 2:
        return None
    begin = flows.counter("start_ns").max() / 1e9
    end = min(flows.counter("stop_ns").min() / 1e9, flows.time[-1])
    window = round(WINDOW_S / (flows.time[1] - flows.time[0]))
    if window < 1 or end - begin < _LEAST_WINDOWS * WINDOW_S:
        return None
    # By grid point, 0 included.
    time = np.concatenate(([0.0], flows.time))
    sums = np.concatenate((np.zeros((1, count)), np.cumsum(flows.throughput_l4, axis=0)))
    within = sums[window:] - sums[:-window]
    first, last = time[:-window], time[window:]
    squares = count * (within**2).sum(axis=1)
    index = within.sum(axis=1) ** 2 / np.where(squares > 0, squares, np.inf)
    are_inside = (first >= begin) & (last <= end)
    if not are_inside.any():  # of a coarse grid
        return None
    return _Together(begin, last[are_inside], index[are_inside])
