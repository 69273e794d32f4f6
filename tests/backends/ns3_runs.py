"""Small scenarios, run once on real ns-3 and read back as tables and packet rows."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ccperf.runs.backends.ns3 import Ns3
from ccperf.runs.recording import Recording

if TYPE_CHECKING:
    from ccperf.scenario import Scenario


class Packet(NamedTuple):
    """A row of the packet trace."""

    time_ns: int
    link: str
    event: str
    flow: str
    seq: int
    ack: int
    payload_bytes: int
    wire_bytes: int
    flags: str
    ecn: str
    reason: str


@dataclass(frozen=True)
class Run:
    recording: Recording
    packets: list[Packet]

    def rows(self, link: str, event: str) -> list[Packet]:
        return [row for row in self.packets if row.link == link and row.event == event]

    def flow(self, column: str, index: int = 0) -> npt.NDArray[Any]:
        """A column of the samples of one flow."""
        samples = self.recording.flow_samples
        return samples.array(column)[samples.array("flow") == index]

    def link(self, name: str, column: str) -> npt.NDArray[Any]:
        """A column of the samples of one direction."""
        samples = self.recording.link_samples
        index = self.recording.links.strings("name").index(name)
        return samples.array(column)[samples.array("link") == index]

    def counter(self, name: str, column: str) -> int:
        """A counter of one direction."""
        links = self.recording.links
        return int(links.array(column)[links.strings("name").index(name)])


def run(scenario: Scenario) -> Run:
    return run_lowered(scenario.lowered())


def run_lowered(lowered: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packets.csv"
        tables = Ns3().run_lowered(lowered, packets=path)
        return Run(Recording(tables), read_packets(path))


def read_packets(path: Path) -> list[Packet]:
    header, *lines = path.read_text().splitlines()
    assert header == ",".join(Packet._fields)
    rows = []
    for line in lines:
        time, link, event, flow, seq, ack, payload, wire, flags, ecn, reason = line.split(",")
        numbers = int(time), link, event, flow, int(seq), int(ack), int(payload), int(wire)
        rows.append(Packet(*numbers, flags, ecn, reason))
    return rows


def edited(scenario: Scenario, **flow: Any) -> str:
    """The lowered scenario with other values in its first flow."""
    lowered = json.loads(scenario.lowered())
    lowered["flows"][0].update(flow)
    return json.dumps(lowered)


def at_grid(
    times: npt.ArrayLike, values: npt.ArrayLike, grid: npt.NDArray[np.int64], before: float
) -> npt.NDArray[np.float64]:
    """The value after the last change at or before each grid point."""
    all_values = np.concatenate([[before], np.asarray(values, dtype=float)])
    return all_values[np.searchsorted(np.asarray(times), grid, side="right")]
