"""One scenario on two backends: the same packets, the same tables, the same metrics?"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf import metrics
from ccperf.errors import RunError
from ccperf.verify import packets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.backends import Backend, Progress
    from ccperf.metrics import MetricTables
    from ccperf.recording import Recording, Table
    from ccperf.scenario import Scenario

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
        """
        return not self.identical and (
            self.divergence is not None or self.ours in self.errors or not self.errors
        )

    @property
    def verdict(self) -> str:
        """A word or two: identical, or what differs first."""
        if self.divergence:
            return "packets differ"
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
    """Run `scenario` on both backends with packet traces and compare all that they leave behind.

    Where the packets differ, both run once more with every change of the senders' state recorded,
    to show it around the divergence.  A backend that fails (`RunError`) is in the comparison's
    `errors`, and what it did until then is compared; other exceptions go through, what `progress`
    raises among them.
    """
    comparison = Comparison(scenario, ours.name, theirs.name)
    with tempfile.TemporaryDirectory(prefix="ccperf-verify-") as folder:
        recordings = []
        traces = [Path(folder) / "ours.csv", Path(folder) / "theirs.csv"]
        for backend, trace in zip((ours, theirs), traces, strict=True):
            started = time.perf_counter()
            try:
                recordings.append(backend.simulate(scenario, packets=trace, progress=progress))
            except RunError as error:
                comparison.errors[backend.name] = error
            comparison.seconds[backend.name] = time.perf_counter() - started
        if all(trace.exists() for trace in traces):
            comparison.rows, comparison.divergence = packets.compare(traces[0], traces[1])
            if comparison.errors:
                comparison.divergence = _before_the_end(comparison.divergence)
    if comparison.divergence:
        comparison.state = _state(scenario, ours, theirs, comparison.divergence)
    if comparison.errors:
        return comparison
    comparison.tables = list(table_differences(*recordings))
    comparison.metrics = list(
        metric_differences(*(metrics.compute(scenario, recording) for recording in recordings))
    )
    return comparison


def _before_the_end(divergence: packets.Divergence | None) -> packets.Divergence | None:
    """Return the divergence unless it is at the end of a trace, where a failed run was cut off."""
    if divergence and len(divergence.ours_after) > 1 and len(divergence.theirs_after) > 1:
        return divergence
    return None


def table_differences(ours: Recording, theirs: Recording) -> Iterator[TableDifference]:
    """Yield the first difference in each column of two recordings."""
    for name, table in ours.tables.items():
        other = theirs.tables[name]
        if table.rows != other.rows:
            yield TableDifference(name, "rows", 0, table.rows, other.rows)
            continue
        for column in table:
            different = np.flatnonzero(~_equal(table[column], other[column]))
            if different.size:
                row = int(different[0])
                place = _place(ours, table, row)
                yield TableDifference(
                    name, column, row, _plain(table[column][row]), _plain(other[column][row]), place
                )


def _equal(ours: Any, theirs: Any) -> Any:
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


def _state(
    scenario: Scenario, ours: Backend, theirs: Backend, divergence: packets.Divergence
) -> str:
    """Return what the senders' state was around the divergence, from recorded changes."""
    options = scenario.recording.model_copy(update={"changes": True})
    traced = scenario.model_copy(update={"recording": options})
    names = {row.flow for row in (divergence.ours, divergence.theirs) if row}
    text = []
    for backend in (ours, theirs):
        try:
            recording = backend.simulate(traced)
        except RunError as error:
            text.append(f"{backend.name} with changes recorded failed: {error}")
            continue
        for flow in sorted(names & set(recording.flows.strings("name"))):
            text.append(f"{backend.name}, sender of {flow}:")
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
