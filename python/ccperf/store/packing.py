"""A result ready to be stored: rows and bytes, made where the run was made.

Encoding the series is most of the work of storing a run, so it is not left to the one process that
writes; and a packed run travels between processes and machines as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ccperf.algorithms.user_code.names import without_paths
from ccperf.runs import parquet
from ccperf.scenario.canonical import canonical_json
from ccperf.store import checksums, metric_text

if TYPE_CHECKING:
    from ccperf.runs.metrics import MetricTables
    from ccperf.runs.recording import Recording
    from ccperf.runs.result import Provenance, Result
    from ccperf.scenario.canonical import Runnable


@dataclass(frozen=True)
class PackedSeries:
    """One table of a recording as a Parquet file."""

    rows: int
    parquet: bytes = field(repr=False)
    checksum: str


@dataclass(frozen=True)
class PackedRun:
    """All that the store keeps of a run; plain values, so that it can be pickled."""

    id: str
    label: str | None
    #: The portable scenario, as JSON.
    scenario: str = field(repr=False)
    provenance: Provenance
    wall_seconds: float | None
    #: Rows of `checksums.FLOW`.
    flows: tuple[tuple[Any, ...], ...] = field(repr=False)
    #: The metrics of each scope that has some; see `metric_text`.
    metrics: Mapping[str, str] = field(repr=False)
    series: Mapping[str, PackedSeries] = field(repr=False)
    experiment: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """The checksum of what belongs to the run."""
        series = ((name, one.rows, one.checksum) for name, one in self.series.items())
        return checksums.of_content(self.flows, (), series, self.metrics.items())


def pack(result: Result) -> PackedRun:
    """Encode a result."""
    return packed(
        result.id,
        result.scenario,
        result.recording,
        result.metrics,
        result.provenance,
        experiment=result.experiment,
        parameters=result.parameters,
        wall_seconds=result.wall_seconds,
    )


def packed(
    id: str,
    scenario: Runnable,
    recording: Recording,
    metrics: MetricTables,
    provenance: Provenance,
    *,
    experiment: str | None = None,
    parameters: Mapping[str, Any],
    wall_seconds: float | None = None,
    text: str | None = None,
) -> PackedRun:
    """Encode what is to become a result; `text` is the scenario as `canonical_json` writes it,
    where somebody has it.
    """
    portable = without_paths(scenario.parsed)
    if text is None or portable is not scenario.parsed:
        text = canonical_json(portable)
    counters = recording.flows
    times = zip(
        *(counters.array(name).tolist() for name in ("start_ns", "stop_ns", "base_rtt_ns")),
        strict=True,
    )
    return PackedRun(
        id=id,
        label=portable.get("label"),
        scenario=text,
        provenance=provenance,
        wall_seconds=wall_seconds,
        flows=tuple(
            (
                position,
                flow["name"],
                flow["source"],
                flow["destination"],
                flow["cc"]["type"] if "cc" in flow else "",
                flow["recovery"],
                start,
                stop,
                base_rtt,
                bottleneck,
            )
            # A workload's transfers follow the flows that are described, and have no row.
            for position, (flow, (start, stop, base_rtt), bottleneck) in enumerate(
                zip(portable["flows"], times, counters.strings("bottleneck"), strict=False)
            )
        ),
        metrics={
            scope: metric_text.encode(columns)
            for scope, columns in metrics.by_scope.items()
            if columns
        },
        series={
            name: PackedSeries(recording.tables[name].rows, blob, checksums.of_bytes(blob))
            for name, blob in parquet.encode(recording).items()
        },
        experiment=experiment,
        parameters=dict(parameters),
    )
