"""The grid of samples: what it is, and a recording's tables as matrices over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.runs.recording import Table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: What every definition of a sampled metric says about the grid.
SAMPLING = (
    "t_k = k x interval, k = 0 ... n-1, is the grid of the recording (30 ms by default) below the "
    "stop time of the run. A state at t_k is the value after the last change at or before t_k; a "
    "rate at t_k is the bytes counted in (t_(k-1), t_k] x 8 / interval, rounded down to whole "
    "bit/s. Means and sample standard deviations (ddof = 1) run over k = 1 ... n-1: over the whole "
    "run, also for a flow that starts later or ends earlier, and over those values that exist. "
    "Round-trip times, delays and gaps between departures exist from a flow's first measurement to "
    "the end of the interval in which it ends."
)

_SECOND_NS = 1_000_000_000


class Sampled:
    """What subjects of one kind did: their samples, and their rows in the table of counters."""

    def __init__(self, samples: Grid, counters: Table, names: Sequence[str]) -> None:
        """`names`: of all subjects, those that are not sampled included."""
        self._samples, self._counters = samples, counters
        #: Their positions among all, shape (subjects,).
        self.positions = samples.subjects
        self.names = [names[i] for i in self.positions]

    def counter(self, column: str) -> npt.NDArray[Any]:
        """Return a column of the table of counters, shape (subjects,)."""
        counters: npt.NDArray[Any] = self._counters.array(column)[self.positions]
        return counters

    @property
    def time(self) -> Floats:
        """The grid points t_1 ... t_(n-1), in s, shape (n - 1,)."""
        return self._samples.time

    @property
    def begins(self) -> float | None:
        """Where the interval that ends at t_1 begins, in s; None without any."""
        starts = self._samples.starts_ns
        return float(starts[0]) / 1e9 if starts.size else None


class Grid:
    """A table of samples, rows ordered by (time, subject), as matrices over time."""

    def __init__(self, table: Table, subject: str, only: Sequence[int] | None = None) -> None:
        instants = table.array("time_ns")
        columns = int(instants.searchsorted(instants[0], side="right")) if len(instants) else 0
        times = instants.reshape(-1, columns)[:, 0] if columns else np.empty(0)
        #: What is sampled at each point, by position.
        self.subjects: Integers = table.array(subject)[:columns]
        self._kept: Integers | None = None
        if only is not None:
            # In plain Python: the sets of NumPy load what takes longer than this.
            wanted = set(only)
            of_wanted = {index for index, at in enumerate(self.subjects.tolist()) if at in wanted}
            # NumPy sums a single column in another order, which its last bit would show.
            if len(of_wanted) < 2:
                of_wanted |= set(range(min(2, columns)))
            self._kept = np.array(sorted(of_wanted), dtype=np.int64)
            self.subjects = self.subjects[self._kept]
        self._table = table
        self._shape = (len(times), columns)
        self.interval_ns = int(times[1] - times[0]) if len(times) > 1 else 0
        self.time: Floats = times[1:] / 1e9
        #: When the intervals begin, and when they end.
        self.starts_ns: npt.NDArray[Any] = times[:-1]
        self.ends_ns: npt.NDArray[Any] = times[1:]
        #: How many intervals are a second, at least one and at most all.
        whole = _SECOND_NS // self.interval_ns if self.interval_ns else 1
        self.second = max(1, min(whole, len(self.starts_ns)))

    def _matrix(self, column: str) -> npt.NDArray[Any]:
        matrix = self._table.array(column).reshape(self._shape)
        return matrix if self._kept is None else matrix.take(self._kept, axis=1)

    def first_after(self, warm_up_ns: int) -> int:
        """Return the row of the first interval that begins at that time or later."""
        return int(self.starts_ns.searchsorted(warm_up_ns))

    def state(self, column: str) -> npt.NDArray[Any]:
        return self._matrix(column)[1:]

    def increase(self, column: str) -> Floats:
        """What a counter gained in each interval."""
        counter = self._matrix(column)
        # `np.diff` takes longer than to subtract.
        gained: Floats = (counter[1:] - counter[:-1]).astype(np.float64)
        return gained

    def rate(self, column: str) -> Floats:
        """Bytes counted in each interval as Mbps, rounded down to whole bit/s."""
        return _native.rates(self._matrix(column), self.interval_ns)


def positive(values: Floats) -> Floats:
    """Return the values with NaN in place of those that are not above zero."""
    return np.where(values > 0, values, np.nan)
