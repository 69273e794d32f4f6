"""What all programs leave behind: the summary lines of ``fct_parser.py``, and the monitor's XML.

Only finished transfers are in the means; how many are not is the last line. The parser counts what
the end of a run cuts off as finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.outputs import Kind
from ccperf.experiments.programs.program import File

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result

_XML = Kind("flow monitor's file of ccperf", (b"<?xml",), (b"ccperf",))


def lines(result: Result) -> list[str]:
    """The lines of a run whose scenario asks for completions and for the flow monitor."""
    from ccperf.experiments.programs.ecn_sharp import fct_parser

    table, monitor = result.recording.completions, result.recording.flow_monitor
    assert table is not None
    assert monitor is not None
    flows, ended, sizes = (table.array(name) for name in ("flow", "finished", "size_bytes"))
    has_ended = set(flows[(ended == 1) & (sizes > 0)].tolist())
    columns = ("flow", "direction", "first_tx_ns", "last_rx_ns", "tx_bytes")
    rows = zip(*(monitor.array(name).tolist() for name in columns), strict=True)
    completions = [
        fct_parser.Completion(size, (last - first) / 1e9)
        for flow, direction, first, last, size in rows
        if direction == 0 and flow in has_ended
    ]
    transfers = int((sizes > 0).sum())
    return [
        *fct_parser.named(fct_parser.means(completions)),
        f"Total Flow: {transfers}",
        f"Unfinished Flow: {transfers - len(completions)}",
    ]


def flow_monitor(name: str) -> File:
    """The monitor's file of this name."""

    def write(result: Result, path: Path) -> None:
        from ccperf.runs import flow_monitor

        flow_monitor.write(result.scenario, result.recording, path)

    return File(name, _XML, write)
