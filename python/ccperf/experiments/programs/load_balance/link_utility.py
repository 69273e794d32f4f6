"""The file of the programs' link monitor: every 10 ms the use of each port, and what waits there.

For each switch its ports, and for each port one record a sample: the share of its rate that was
sent since the one before, packets and bytes in the device queue, packets and bytes in the
discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.base.outputs import Kind
from ccperf.experiments.programs.program import File

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ccperf.runs.result import Result

INTERVAL = "10ms"
_LAST = "# by ccperf\n"
_KIND = Kind("link monitor's file of ccperf", (b"Spine 0: ",), (_LAST.encode(),))


def link_utility(name: str) -> File:
    """The file of this name, of a run that records all links every `INTERVAL`."""

    def write(result: Result, path: Path) -> None:
        path.write_text("".join(_lines(result)) + _LAST, encoding="utf-8")

    return File(name, _KIND, write)


def _lines(result: Result) -> Iterator[str]:
    links = result.scenario.links
    samples, names = result.recording.link_samples, result.recording.links.strings("name")
    number = {name: i for i, name in enumerate(names)}
    grid = {
        column: samples.array(column).reshape(-1, len(names))
        for column in ("time_ns", "tx_bytes", "rate_bps", "qdisc_packets", "qdisc_bytes")
    }
    bits = np.diff(grid["tx_bytes"], axis=0) * 8
    room = grid["rate_bps"][1:] * np.diff(grid["time_ns"], axis=0) / 1e9
    shares = np.divide(bits, room, out=np.zeros(room.shape), where=room > 0)
    kinds = [("Spine", "spine_"), ("Leaf", "leaf_")]
    for word, prefix in kinds:
        switches = [node for node in result.scenario.nodes if node.startswith(prefix)]
        for i, switch in enumerate(switches):
            ports = [
                number[f"{link.name}_{'forward' if link.ends[0] == switch else 'reverse'}"]
                for link in links
                if switch in link.ends
            ]
            yield f"{word} {i}: (contain: {len(ports)} ports)\n"
            for place, port in enumerate(ports, start=1):
                yield f"\tPort: {place} (contain {len(shares)} entries)\n\t\t"
                waiting = (grid[c][1:, port].tolist() for c in ("qdisc_packets", "qdisc_bytes"))
                for share, packets, size in zip(shares[:, port].tolist(), *waiting, strict=True):
                    yield f"{share:g}/0/0/{packets}/{size}\t"
                yield "\n"
            yield "\n"
