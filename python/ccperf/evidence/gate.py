"""Regression gates: `mean_throughput_l4<-5%` is a change that must not be."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.errors import UsageError, unknown
from ccperf.runs.metrics import METRICS, named

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ccperf.evidence.compare import Comparison, Lack
    from ccperf.evidence.rows import Row

_FORM = re.compile(
    r"\s*((?:\w+\.)?[a-z][a-z0-9_]*)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*", re.ASCII
)


@dataclass(frozen=True)
class Gate:
    """A limit of how much a metric may change: relative (per cent) or in its own unit."""

    text: str
    metric: str
    is_upper: bool
    limit: float
    is_relative: bool

    def fails(self, row: Row) -> bool:
        """Whether the change of a point's row is beyond the limit, and is more than chance.

        With one seed there is nothing to judge chance by: what was measured counts.
        """
        (found,) = row.differences
        return self.is_beyond(row) and (found.is_shown or found.basis == "one seed")

    def is_beyond(self, row: Row) -> bool:
        """Whether the change of a point's row is beyond the limit as measured."""
        (found,) = row.differences
        if row.metric != self.metric:
            return False
        change = found.other.mean - found.base.mean
        if self.is_relative and found.is_log:
            # What the row says, and what was tested: of seeds that vary much, the change of the
            # means may be another one.
            change = 100 * math.expm1(found.size)
        elif self.is_relative and change:
            # From zero, any change is beyond every percentage.
            change *= 100 / abs(found.base.mean) if found.base.mean else float("inf")
        return change > self.limit if self.is_upper else change < self.limit


@dataclass(frozen=True)
class Judgement:
    """What gates say of a comparison."""

    #: What each gate was asked about: how many rows have its metric.
    compared: int
    #: The rows that are beyond a limit.
    broken: tuple[tuple[Gate, Row], ...]
    #: How many others are beyond one as measured, which the runs do not tell from chance.
    open: int
    #: Values that the base has and a side has not.
    lost: tuple[Lack, ...]
    #: The gates that no point has a value for on both sides.
    idle: tuple[Gate, ...]
    #: How many points of the base a side has not, and how many runs at those of both.
    missing: int
    runs: int

    @property
    def failed(self) -> bool:
        """Whether any gate is broken, or could not be asked about all that the base has."""
        return bool(self.broken or self.lost or self.idle or self.missing or self.runs)

    @property
    def text(self) -> str:
        """The verdict, how many comparisons it is of, and why it is that."""
        parts = [f"{len(self.broken)} of {counted(self.compared, 'comparison')} beyond a limit"]
        if self.open:
            parts.append(f"{self.open} measured beyond, perhaps by chance: more seeds would tell")
        if self.idle:
            metrics = ", ".join(dict.fromkeys(gate.metric for gate in self.idle))
            parts.append(f"no point has {metrics} on both sides")
        if self.lost:
            parts.append(f"{counted(len(self.lost), 'value')} of the base lost")
        if self.missing:
            parts.append(f"{counted(self.missing, 'point')} of the base missing")
        if self.runs:
            parts.append(f"{counted(self.runs, 'run')} of the base missing at points of both sides")
        return f"{'failed' if self.failed else 'passed'}: {'; '.join(parts)}"


def judge(gates: Sequence[Gate], comparison: Comparison, metrics: Collection[str]) -> Judgement:
    """Ask gates about a comparison, with a row for each point, of runs that have these metrics.

    Raises `UsageError` for a gate on a metric that no run has: it would pass whatever changes.
    """
    for gate in gates:
        if gate.metric not in metrics:
            there = ", ".join(sorted(metrics))
            message = f"`{gate.text}` checks nothing: no run has {gate.metric}; they have {there}"
            raise UsageError("--fail-on", message)
    asked = [(gate, row) for row in comparison.rows for gate in gates if row.metric == gate.metric]
    gated = {gate.metric for gate in gates}
    checked = {gate for gate, _ in asked}
    broken = tuple((gate, row) for gate, row in asked if gate.fails(row))
    return Judgement(
        len(asked),
        broken,
        sum(gate.is_beyond(row) for gate, row in asked) - len(broken),
        tuple(
            lack
            for lack in (*comparison.lacking, *comparison.less_finished)
            if lack.metric in gated and lack.who == lack.side
        ),
        tuple(gate for gate in gates if gate not in checked),
        sum(map(len, comparison.missing.values())),
        sum(len(lack.seeds) for lack in comparison.unpaired if lack.who == lack.side),
    )


def parse(text: str) -> Gate:
    """Read a gate; raises `UsageError`."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise UsageError(
            "--fail-on", f"`{text}` is not METRIC<-5%, METRIC>5%, METRIC<-2.5 or METRIC>2.5"
        )
    metric, sign, number, percent = form.groups()
    if named(metric) is None:
        raise UsageError("--fail-on", unknown("metric", metric, METRICS))
    return Gate(text.strip(), metric, sign == ">", float(number), bool(percent))
