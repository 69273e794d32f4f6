"""Regression gates: `mean_throughput_l4<-5%` is a change that must not be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.errors import UsageError, unknown
from ccperf.runs.metrics import METRICS, named

if TYPE_CHECKING:
    from ccperf.evidence.compare import Row

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
        if row.metric != self.metric or not (found.is_shown or found.basis == "one seed"):
            return False
        change = found.other.mean - found.base.mean
        if self.is_relative and change:
            # From zero, any change is beyond every percentage.
            change *= 100 / abs(found.base.mean) if found.base.mean else float("inf")
        return change > self.limit if self.is_upper else change < self.limit


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
