"""What all programs leave behind: the summary lines of ``fct_parser.py``, and the monitor's XML.

A completion time ends, as in the originals, when the last packet with data, or the FIN, comes to
the receiver. (There nothing else follows; here the receiver closes, too, and an ACK for that comes
a round trip later.) In the file that packet is the last of a flow's own direction. Only finished
transfers are in the means; how many are not is the last line. The parser counts what the end of a
run cuts off as finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.outputs import Kind
from ccperf.experiments.programs.ecn_sharp import addresses
from ccperf.experiments.programs.program import File

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result

#: What a scenario has to record for both.
RECORDING = {"flow_monitor": True, "deliveries": True}
_XML = Kind("flow monitor's file of ccperf", (b"<?xml",), (b"ccperf",))


def lines(result: Result) -> list[str]:
    """The lines of a run whose scenario asks for completions and for the flow monitor."""
    from ccperf.experiments.programs.ecn_sharp import fct_parser

    recording = result.recording
    table, monitor, delivered = (
        recording.completions,
        recording.flow_monitor,
        recording.deliveries,
    )
    assert table is not None
    assert monitor is not None
    assert delivered is not None
    ended = set(table.array("flow")[recording.has_ended].tolist())
    last = dict(
        zip(delivered.array("flow").tolist(), delivered.array("last_rx_ns").tolist(), strict=True)
    )
    columns = ("flow", "direction", "first_tx_ns", "tx_bytes")
    rows = zip(*(monitor.array(name).tolist() for name in columns), strict=True)
    completions = [
        fct_parser.Completion(size, (last[flow] - first) / 1e9)
        for flow, direction, first, size in rows
        if direction == 0 and flow in ended
    ]
    transfers = int((table.array("size_bytes") > 0).sum())
    return [
        *fct_parser.named(fct_parser.means(completions)),
        f"Total Flow: {transfers}",
        f"Unfinished Flow: {transfers - len(completions)}",
    ]


def flow_monitor(name: str, place: int | None = None) -> File:
    """The monitor's file of this name.

    `place`: with the originals' addresses of servers in racks, the first or the second of a link.
    """

    def write(result: Result, path: Path) -> None:
        from ccperf.runs import flow_monitor

        scenario = result.scenario
        servers = {} if place is None else addresses.of_racks(scenario, place)
        flow_monitor.write(scenario, result.recording, path, servers, to_last_data=True)

    return File(name, _XML, write)
