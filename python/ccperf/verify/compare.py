"""One scenario on two backends: the same packets, the same tables, the same metrics?"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.base.folders import Temporary
from ccperf.errors import RunError
from ccperf.runs import metrics
from ccperf.verify import packets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ccperf.runs.backends import Backend, Progress
    from ccperf.runs.metrics import MetricTables
    from ccperf.runs.recording import Recording, Table
    from ccperf.scenario import Scenario

    #: Runs a scenario on two backends, as :func:`compare` does.
    Compare = Callable[[Scenario, Backend, Backend, Progress | None], "Comparison"]

# Rows of `changes` shown on each side of a divergence.
_CHANGES_SHOWN = 6


@dataclass(frozen=True)
class TableDifference:
    """The first value in which two recordings' columns differ."""

    table: str
    column: str
    row: int
    ours: Any
    theirs: Any
    #: What the row is about: time, flow, link, as far as the table has them.
    place: str = ""

    def __str__(self) -> str:
        place = f" ({self.place})" if self.place else ""
        return f"{self.table}.{self.column}, row {self.row}{place}: {self.ours} / {self.theirs}"


@dataclass(frozen=True)
class MetricDifference:
    """A metric with different values; None where a side does not have it."""

    scope: str
    subject: str
    metric: str
    ours: float | None
    theirs: float | None

    def __str__(self) -> str:
        return f"{self.subject} {self.metric}: {self.ours} / {self.theirs}"


@dataclass
class Comparison:
    """What two backends made of one scenario."""

    scenario: Scenario
    ours: str
    theirs: str
    #: Packet-trace rows that both begin with; all of them if there is no divergence.
    rows: int = 0
    divergence: packets.Divergence | None = None
    tables: list[TableDifference] = field(default_factory=list)
    metrics: list[MetricDifference] = field(default_factory=list)
    #: The senders' last changes of state before the divergence, and the next, side by side.
    state: str = ""
    #: Why a backend did not finish.
    errors: dict[str, RunError] = field(default_factory=dict)
    #: Wall time, trace included.
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def identical(self) -> bool:
        """Whether both backends finished with the same packets, tables and metrics."""
        return not (self.errors or self.divergence or self.tables or self.metrics)

    @property
    def different(self) -> bool:
        """Whether something differs that is not just a failure of `theirs`.

        ns-3 aborts on some legal paths, by assertions of its own; what went before is compared.
        That what we run it with fails is a mistake of ours, as a failure of `ours` is.
        """
        return not self.identical and (
            bool(self.divergence or self.tables)
            or self.ours in self.errors
            or not self.errors
            or any(error.is_own for error in self.errors.values())
        )

    @property
    def ended(self) -> RunError | None:
        """Why ns-3, or the driver that runs it, did not get to the end; None if it did."""
        return self.errors.get(self.theirs)

    @property
    def verdict(self) -> str:
        """A word or two: identical, or what differs first."""
        if self.divergence:
            return "packets differ"
        if self.tables and self.errors:
            return "recordings differ"
        if self.errors:
            return " and ".join(f"{name} failed" for name in self.errors)
        if self.tables:
            return "recordings differ"
        return "metrics differ" if self.metrics else "identical"

    def report(self) -> str:
        """Return everything that differs, readably; the first packet first."""
        name = self.scenario.label or "scenario"
        text = [f"{name}: {self.verdict} ({self.rows:,} packet-trace rows in common)"]
        text += [f"{backend} failed: {error}" for backend, error in self.errors.items()]
        if self.divergence:
            text.append(packets.report(self.divergence, self.ours, self.theirs))
        if self.state:
            text.append(self.state)
        for what, found in (("recordings", self.tables), ("metrics", self.metrics)):
            if found:
                text.append(f"{what}, {self.ours} / {self.theirs}:")
                text += [f"  {difference}" for difference in found]
        return "\n".join(text)


def compare(
    scenario: Scenario, ours: Backend, theirs: Backend, progress: Progress | None = None
) -> Comparison:
    """Run `scenario` on both backends and compare all that they leave behind.

    That is every packet with all of its headers, every change of the senders' state in order, every
    table and every metric.  A backend that fails (`RunError`) is in the comparison's `errors`, and
    what it did until then is compared; other exceptions go through, what `progress` raises among
    them.
    """
    comparison = Comparison(scenario, ours.name, theirs.name)
    recordings = run_both(
        comparison, recorded(scenario), (ours, theirs), progress, packets.SUFFIX, packets.compare
    )
    if comparison.divergence:
        comparison.state = _state(recordings, comparison.divergence)
    if ours.name not in recordings:
        return comparison
    left = recordings[ours.name]
    if theirs.name not in recordings:
        comparison.tables = list(
            unfinished_differences(left, comparison.errors[theirs.name].unfinished)
        )
        return comparison
    right = recordings[theirs.name]
    comparison.tables = list(table_differences(left, right))
    comparison.metrics = list(
        metric_differences(metrics.compute(scenario, left), metrics.compute(scenario, right))
    )
    return comparison


def run_both(
    comparison: Comparison,
    scenario: Scenario,
    backends: tuple[Backend, Backend],
    progress: Progress | None,
    suffix: str,
    compare_traces: Callable[[Path, Path], tuple[int, packets.Divergence | None]],
) -> dict[str, Recording]:
    """Run a scenario on both backends, and compare their packet traces.

    What came of it goes into the comparison: times, errors, rows and the divergence.  Returned are
    the recordings of those that finished, by the backend's name.
    """
    recordings: dict[str, Recording] = {}
    with Temporary("verify-") as folder:
        traces = [Path(folder) / f"{side}{suffix}" for side in ("ours", "theirs")]
        for backend, trace in zip(backends, traces, strict=True):
            started = time.perf_counter()
            try:
                recordings[backend.name] = backend.simulate(
                    scenario, packets=trace, progress=progress
                )
            except RunError as error:
                comparison.errors[backend.name] = error
            comparison.seconds[backend.name] = time.perf_counter() - started
        if all(trace.exists() for trace in traces):
            comparison.rows, found = compare_traces(traces[0], traces[1])
            comparison.divergence = _before_the_end(found, comparison)
    return recordings


def recorded(scenario: Scenario) -> Scenario:
    """A scenario with all of the recording that both backends have."""
    # What load balancers do is recorded by the engine alone, of the packets compared here.
    alike = {"changes": True, "balancing": False, "paths": False}
    options = scenario.recording.model_copy(update=alike)
    return scenario.model_copy(update={"recording": options})


def _before_the_end(
    divergence: packets.Divergence | None, comparison: Comparison
) -> packets.Divergence | None:
    """Return the divergence unless it is where the trace of a side that failed ends."""
    if divergence is None:
        return None
    has_failed = [name in comparison.errors for name in (comparison.ours, comparison.theirs)]
    rows = (divergence.ours, divergence.theirs)
    if any(row is None and failed for row, failed in zip(rows, has_failed, strict=True)):
        return None
    return divergence


def table_differences(ours: Recording, theirs: Recording) -> Iterator[TableDifference]:
    """Yield the first difference in each column of two recordings, whichever side has it."""
    for name in {**ours.tables, **theirs.tables}:
        table, other = ours.tables.get(name), theirs.tables.get(name)
        if table is None or other is None:
            yield TableDifference(name, "rows", 0, table and table.rows, other and other.rows)
            continue
        if table.rows != other.rows:
            yield TableDifference(name, "rows", 0, table.rows, other.rows)
        rows_of_both = min(table.rows, other.rows)
        for column in table:
            yield from _column_difference(ours, table, column, other[column], rows_of_both)


def unfinished_differences(
    ours: Recording, theirs: Mapping[str, Mapping[str, Any]]
) -> Iterator[TableDifference]:
    """Yield what differs in a run that failed on the other side: its rows must begin ours."""
    for name, columns in theirs.items():
        rows = max(map(len, columns.values()), default=0)
        table = ours.tables.get(name)
        if table is None or rows > table.rows:
            if rows:
                yield TableDifference(name, "rows", 0, table and table.rows, rows)
            continue
        for column, values in columns.items():
            # It may have failed between two columns of a row, or of a table.
            yield from _column_difference(ours, table, column, values, len(values))


def _column_difference(
    recording: Recording, table: Table, column: str, theirs: Any, rows: int
) -> Iterator[TableDifference]:
    """Yield the first difference within the first `rows` rows of a column, if there is one."""
    ours = table[column]
    different = np.flatnonzero(~_equal(ours[:rows], theirs[:rows]))
    if different.size:
        row = int(different[0])
        place = _place(recording, table, row)
        yield TableDifference(
            table.name, column, row, _plain(ours[row]), _plain(theirs[row]), place
        )


def _equal(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, list) and ours == theirs:
        return np.ones(len(ours), bool)
    left, right = np.asarray(ours), np.asarray(theirs)
    same = left == right
    if left.dtype.kind == "f":
        same |= np.isnan(left) & np.isnan(right)
    return same


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _place(recording: Recording, table: Table, row: int) -> str:
    parts = []
    if "time_ns" in table:
        parts.append(f"{int(table['time_ns'][row]):,} ns")
    for column, names in (("flow", recording.flows), ("link", recording.links)):
        if column in table:
            subject = table[column][row]
            parts.append(subject if isinstance(subject, str) else names.strings("name")[subject])
    if table.name in ("flows", "links"):
        parts.append(table.strings("name")[row])
    return ", ".join(parts)


def metric_differences(ours: MetricTables, theirs: MetricTables) -> Iterator[MetricDifference]:
    """Yield every metric that is not the same to the last bit."""
    for scope in ("flow", "link", "network"):
        left, right = getattr(ours, scope), getattr(theirs, scope)
        for subject in {**left, **right}:
            mine, other = left.get(subject, {}), right.get(subject, {})
            for name in {**mine, **other}:
                if mine.get(name) != other.get(name):
                    yield MetricDifference(scope, subject, name, mine.get(name), other.get(name))


def _state(recordings: Mapping[str, Recording], divergence: packets.Divergence) -> str:
    """Return what the senders' state was around the divergence, from recorded changes."""
    names = {row.flow for row in (divergence.ours, divergence.theirs) if row}
    text = []
    for backend, recording in recordings.items():
        for flow in sorted(names & set(recording.flows.strings("name"))):
            text.append(f"{backend}, sender of {flow}:")
            text += _changes(recording, flow, divergence.time_ns)
    return "\n".join(text)


def _changes(recording: Recording, flow: str, time_ns: int) -> Iterator[str]:
    table = recording.changes
    if table is None:
        yield "  (records no changes)"
        return
    index = recording.flows.strings("name").index(flow)
    rows = np.flatnonzero(table.array("flow") == index)
    until = int(np.searchsorted(table.array("time_ns")[rows], time_ns, side="left"))
    names = table.strings("name")
    last = {names[row]: _number(table["value"][row]) for row in rows[:until]}
    yield "  before: " + (", ".join(f"{name} {value}" for name, value in last.items()) or "-")
    for row in rows[max(0, until - _CHANGES_SHOWN) : until + _CHANGES_SHOWN]:
        yield f"  {int(table['time_ns'][row]):>15,} {names[row]} = {_number(table['value'][row])}"


def _number(value: Any) -> str:
    return f"{value:,.10g}"
