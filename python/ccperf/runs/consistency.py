"""Whether a recording can be one of its scenario: a stranger's may be anything.

Names, indices, times and numbers of rows follow from the scenario, so they are compared with it
before anybody relies on them. Whether the values beside them are true is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ccperf import _native
from ccperf.runs.recording import TABLES, RecordingError

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording, Table

#: The tables that have a row a flow, or two.
_PER_FLOW = {"completions": 1, "reordering": 1, "flow_monitor": 2}
#: Columns that are indices into another table, by table.
_INDICES = {
    "flow_samples": {"flow": "flows"},
    "link_samples": {"link": "links"},
    "queue_samples": {"link": "links"},
    "completions": {"flow": "flows"},
    "flow_monitor": {"flow": "flows"},
    "flow_histograms": {"way": "flow_monitor"},
    "reordering": {"flow": "flows"},
    "paths": {"flow": "flows", "way": "ways"},
    "pauses": {"link": "links"},
    "changes": {"flow": "flows"},
}
#: Of a link with priority-based flow control.
_PRIORITIES = 8
#: Tables in the order of their times.
_IN_ORDER = ("paths", "failed_paths", "changes")
#: Bytes that a text may have beyond the scenario's longest name: a number, the name of a group.
_TEXT_BYTES = 100


@dataclass(frozen=True)
class Expected:
    """What follows from a scenario in its canonical form."""

    scenario: Mapping[str, Any]

    def most_rows(self, table: str, flows: int | None = None) -> int | None:
        """How many rows a table of a run with so many flows may have; None if nothing says it."""
        if table == "flows":
            return None if self._workloads else len(self._flows)
        flows = self.most_rows("flows") if flows is None else flows
        if table in _PER_FLOW:
            return None if flows is None else _PER_FLOW[table] * flows
        if table == "flow_samples":
            return None if flows is None else self._points * flows
        known = {
            "links": len(self.directions),
            "link_samples": self._points * len(self.directions),
            "queue_samples": self._queue_points * len(self.directions),
            "workloads": len(self._workloads),
            "pings": sum(map(self._requests, self.scenario.get("pings", ()))),
            "probing": 1,
            "pauses": _PRIORITIES * len(self.directions),
        }
        return known.get(table)

    def most_bytes(self, table: str, flows: int | None) -> int | None:
        """How many bytes the columns of a table may have together; None if nothing says it."""
        rows = self.most_rows(table, flows)
        if rows is None:
            return None
        width = sum(
            self._longest + _TEXT_BYTES if column.kind == "str" else 8 for column in TABLES[table]
        )
        return rows * width

    def check(self, recording: Recording) -> None:
        """Raise `RecordingError` if it cannot be a recording of the scenario."""
        flows = recording.flows
        for name in recording.tables:
            table = recording.tables[name]
            most = self.most_rows(name, flows.rows)
            if most is not None and table.rows > most:
                raise RecordingError(f"table `{name}` has {table.rows} rows, of {most} at most")
            _check_numbers(table)
            for column, of in _INDICES.get(name, {}).items():
                there = recording.tables[of].rows if of in recording.tables else 0
                if column in table and table.array(column).max(initial=-1) >= there:
                    raise RecordingError(f"table `{name}`: `{column}` is no row of `{of}`")
            if name in _IN_ORDER and not _ascends(table.array("time_ns")):
                raise RecordingError(f"table `{name}`: `time_ns` does not ascend")
        self._check_names(recording)
        self._check_grid(recording.flow_samples, "flow", self._interval_ns)
        self._check_grid(recording.link_samples, "link", self._interval_ns)
        if recording.queue_samples is not None:
            self._check_grid(recording.queue_samples, "link", self._queue_interval_ns)

    def check_subjects(self, flows: Iterable[str], links: Iterable[str], of: Recording) -> None:
        """Raise `RecordingError` if there are metrics of flows or links that the run has not."""
        for given, known in (
            (flows, of.flows.strings("name")),
            (links, self.directions),
        ):
            if unknown := sorted(set(given).difference(known)):
                raise RecordingError(
                    f"it has metrics of `{unknown[0][:100]}`, and nothing else of it"
                )

    def _check_names(self, recording: Recording) -> None:
        flows = recording.flows.strings("name")
        transfers = flows[len(self._flows) :]
        if flows[: len(self._flows)] != self._flows or not all(map(self._is_transfer, transfers)):
            raise RecordingError("table `flows` has other flows than the scenario")
        if len(set(flows)) < len(flows):
            raise RecordingError("table `flows` has two of the same name")
        if recording.links.strings("name") != self.directions:
            raise RecordingError("table `links` has other links than the scenario")
        known = {*self.directions, ""}
        for table, column in ((recording.flows, "bottleneck"), (recording.drops, "link")):
            if not known.issuperset(table.strings(column)):
                raise RecordingError(f"table `{table.name}`: `{column}` is no link of the scenario")
        workloads, pings = recording.workloads, recording.pings
        if workloads is not None and workloads.strings("name") != self._workloads:
            raise RecordingError("table `workloads` has other workloads than the scenario")
        if pings is not None:
            most = len(self.scenario.get("pings", ()))
            if pings.array("ping").max(initial=-1) >= most:
                raise RecordingError("table `pings`: `ping` is no ping of the scenario")

    def _check_grid(self, table: Table, subject: str, interval_ns: int) -> None:
        """Rows are ordered by time and subject; each point of the grid has the same subjects."""
        points = _points(self._stop_ns, interval_ns)
        width, rest = divmod(table.rows, points)
        times = table.array("time_ns")[: points * width].reshape(points, width)
        subjects = table.array(subject)[: points * width].reshape(points, width)
        grid = interval_ns * np.arange(points)[:, np.newaxis]
        if rest or not (times == grid).all():
            raise RecordingError(f"table `{table.name}` is not on the scenario's grid")
        if not ((subjects == subjects[0]).all() and (np.diff(subjects[0]) > 0).all()):
            raise RecordingError(f"table `{table.name}` has not the same `{subject}`s at each time")

    def _is_transfer(self, name: str) -> bool:
        workload, _, number = name.rpartition("_")
        return workload in self._workloads and number.isdecimal()

    def _requests(self, ping: Mapping[str, Any]) -> int:
        return _points(self._stop_ns, _native.parse_time(ping["interval"])) + 1

    @cached_property
    def _flows(self) -> list[str]:
        return [flow["name"] for flow in self.scenario.get("flows", ())]

    @cached_property
    def _workloads(self) -> list[str]:
        return [workload["name"] for workload in self.scenario.get("workloads", ())]

    @cached_property
    def directions(self) -> list[str]:
        """The directions of all links, in the order of the table `links`."""
        links = self.scenario.get("links", ())
        return [f"{link['name']}_{way}" for link in links for way in ("forward", "reverse")]

    @cached_property
    def _longest(self) -> int:
        names = (*self._flows, *self._workloads, *self.directions)
        return max((len(name.encode()) for name in names), default=0)

    @cached_property
    def _stop_ns(self) -> int:
        return _native.parse_time(self.scenario["stop_time"])

    @cached_property
    def _interval_ns(self) -> int:
        return _native.parse_time(self.scenario["recording"]["interval"])

    @cached_property
    def _queue_interval_ns(self) -> int:
        queues = self.scenario["recording"].get("queues")
        return _native.parse_time(queues["interval"]) if queues else self._stop_ns

    @property
    def _points(self) -> int:
        return _points(self._stop_ns, self._interval_ns)

    @property
    def _queue_points(self) -> int:
        return _points(self._stop_ns, self._queue_interval_ns)


def _points(stop_ns: int, interval_ns: int) -> int:
    """The points 0, interval, 2 interval, ... below the stop time."""
    return -(-stop_ns // interval_ns)


def _check_numbers(table: Table) -> None:
    """None is negative or infinite; of floats NaN stands for no value."""
    for name, values in _numbers(table):
        if (values < 0).any() or (values == np.inf).any():
            raise RecordingError(f"table `{table.name}`: `{name}` has an impossible value")


def _numbers(table: Table) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for column in table:
        if not isinstance(values := table[column], list):
            yield column, values


def _ascends(times: npt.NDArray[Any]) -> bool:
    return bool((times[1:] >= times[:-1]).all())
