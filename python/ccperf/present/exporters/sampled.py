"""Flows over time, for formats that have nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.runs.metrics import FlowSeries

if TYPE_CHECKING:
    from ccperf.runs.result import Result


def sampled(result: Result) -> FlowSeries:
    """Return the flows that a run samples.

    Raises `UsageError` if it samples none: a file without a flow would look like one of a run in
    which nothing was sent.
    """
    flows = FlowSeries(result.scenario, result.recording)
    if not flows.names:
        raise UsageError(
            "format",
            f"has flows over time, and run {result.id} samples none (`recording.flows`); hpcc and "
            "htsim have the ends of transfers",
        )
    return flows
