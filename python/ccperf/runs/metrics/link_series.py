"""The series that metrics and figures of links are made of, on the grid.

Rows are the grid points t_1 ... t_(n-1), columns the directions that the recording samples, in the
scenario's order.  NaN stands where there is no value yet.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ccperf.runs.metrics.capacity import capacities, means_within, steps_of
from ccperf.runs.metrics.grid import Floats, Grid, Sampled, positive
from ccperf.runs.metrics.parallel import parallel
from ccperf.runs.metrics.windows import phases

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ccperf.runs.recording import Recording
    from ccperf.scenario.canonical import Runnable

_PPP_HEADER = 2


class LinkSeries(Sampled):
    """What the directions that are sampled did; arrays of shape (n - 1, directions)."""

    def __init__(
        self, scenario: Runnable, recording: Recording, only: Collection[str] | None = None
    ) -> None:
        """Read samples and counters; which directions have a queue discipline: `scenario`.

        Those not in `only` may be left out: a thousand flows have four thousand directions, of
        which one or two are looked at.
        """
        names = recording.links.strings("name")
        with_qdisc = {
            f"{link['name']}_{direction}": link[direction]["qdisc"] is not None
            for link in scenario.parsed["links"]
            for direction in ("forward", "reverse")
        }
        if list(with_qdisc) != names:
            raise ValueError(
                f"the recording's directions {names} are not the scenario's {list(with_qdisc)}"
            )
        wanted = None if only is None else [i for i, name in enumerate(names) if name in only]
        super().__init__(Grid(recording.link_samples, "link", wanted), recording.links, names)
        self._parsed = scenario.parsed
        #: The first row of the steady state, of a grid that may be there without that of flows.
        self.steady = self._samples.first_after(phases(scenario.parsed).warm_up_ns)
        #: Whether the direction has a queue discipline, shape (directions,).
        self.has_qdisc = np.array([with_qdisc[name] for name in self.names], dtype=bool)

    @cached_property
    def rate(self) -> Floats:
        """Configured rate in the interval that ends at t_k, in Mbps; the mean if it changes there,
        as that of a trace does."""
        found: Floats = self._samples.state("rate_bps") / 1e6
        intervals = self._samples.starts_ns, self._samples.ends_ns
        for column, steps in enumerate(steps_of(self._parsed, self.names)):
            if len(steps) > 1:
                means = means_within(steps, *intervals) / 1e6
                found[:, column] = np.where(np.isnan(means), found[:, column], means)
        return found

    @cached_property
    def sending_rate_l1(self) -> Floats:
        """Bytes (PPP header included) of the transmissions started, in Mbps."""
        return self._samples.rate("tx_bytes")

    @cached_property
    def qdisc_delay(self) -> Floats:
        """Sojourn time of the packet that left last, rounded down to whole ms, in ms."""
        return np.floor(self._samples.state("sojourn_ns") / 1e6)

    @cached_property
    def qdisc_length(self) -> Floats:
        """Packets in the queue discipline; NaN without one."""
        return np.where(self.has_qdisc, self._samples.state("qdisc_packets"), np.nan)

    @cached_property
    def sojourn(self) -> Floats:
        """Sojourn time of the packet that left last, in ms.

        NaN without a queue discipline, and in intervals in which nothing is sent: what had been
        last would count as long as the queue is empty.
        """
        there = self.has_qdisc & (self._samples.increase("tx_bytes") > 0)
        return np.where(there, self._samples.state("sojourn_ns") / 1e6, np.nan)

    @cached_property
    def drops(self) -> Floats:
        """Packets that the queue discipline dropped in the interval that ends at t_k."""
        return self._samples.increase("qdisc_dropped")

    @cached_property
    def marks(self) -> Floats:
        """Packets that the queue discipline marked in the interval that ends at t_k."""
        return self._samples.increase("qdisc_marked")

    @cached_property
    def utilization(self) -> Floats:
        """sending_rate_l1 over the configured rate, in %; NaN where that is 0."""
        return 100 * self.sending_rate_l1 / positive(self.rate)

    @cached_property
    def used_capacity(self) -> Floats:
        """What a direction sent in the run over what it could have sent, shape (directions,).

        On the wire, or through the token bucket in front of it if that is nearer to its limit.
        """
        of = capacities(self._parsed, self.names)
        found = np.array([of[name] for name in self.names], dtype=float).reshape(-1, 2)
        wire = self.counter("tx_bytes")
        packets = wire - _PPP_HEADER * self.counter("tx_packets")
        used: Floats = np.fmax(8 * wire / positive(found[:, 0]), 8 * packets / found[:, 1])
        return used

    @cached_property
    def parallel(self) -> list[list[int]]:
        """Columns of the directions that are parallel to each other, at least two each time."""
        return self._parallel()

    def _parallel(self, down: Collection[str] = ()) -> list[list[int]]:
        return sorted(
            columns
            for group in parallel(self._parsed, down)
            if len(columns := [i for i, name in enumerate(self.names) if name in group]) > 1
        )

    def _failing(self) -> Iterator[tuple[frozenset[str], npt.NDArray[np.int64]]]:
        """Yield the rows of the intervals in which the same links are down, if only for a time."""
        if not self._parsed.get("failures"):
            yield frozenset(), np.arange(len(self.time))
            return
        from ccperf.runs.metrics.changing_paths import failures

        rows: dict[frozenset[str], list[int]] = {}
        known = list(failures(self._parsed))
        starts, ends = self._samples.starts_ns.tolist(), self._samples.ends_ns.tolist()
        for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
            of = (each.links for each in known if each.down_ns <= end and each.up_ns > start)
            rows.setdefault(frozenset().union(*of), []).append(row)
        for down, of_them in rows.items():
            yield down, np.array(of_them)

    @cached_property
    def imbalance(self) -> Floats:
        """Largest less least utilisation of those parallel to a direction, over their mean, in %.

        NaN where nothing is sent, and of directions that have none beside them, as that are left
        while links are down.
        """
        found = np.full(self.utilization.shape, np.nan)
        for down, rows in self._failing():
            for columns in self._parallel(down) if down else self.parallel:
                place = np.ix_(rows, np.array(columns))
                used = self.utilization[place]
                spread = 100 * (used.max(axis=1) - used.min(axis=1)) / positive(used.mean(axis=1))
                found[place] = spread[:, np.newaxis]
        return found
