"""Two hosts and one connection, as ns-3's suites of whole sockets have them, run by the engine.

The suites' wire takes no time to send a packet; ours takes 44 ns for one of theirs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ccperf.runs import backends
from ccperf.scenario import Scenario

NATIVE = backends.get("native")
Test = TypeVar("Test", bound=Callable[..., Any])

#: How many cases of each of ns-3's suites are asked by the tests of this folder.
ASKED: dict[str, int] = {}

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
MS = 1_000_000
S = 1_000 * MS


def asks(suite: str, names: str, cases: Sequence[Any]) -> Callable[[Test], Test]:
    """A test of each case of a suite: parameters, and the count for the page on fidelity."""
    ASKED[suite] = ASKED.get(suite, 0) + len(cases)
    return pytest.mark.parametrize(names, cases)


@dataclass(frozen=True)
class Segment:
    """A segment where an end of the connection sends or receives it."""

    time_ns: int
    #: `enqueue` where it is sent, `tx` where it goes on the first wire, `rx` where it arrives.
    event: str
    by_sender: bool
    seq: int
    ack: int
    bytes: int
    flags: frozenset[str]
    ecn: str
    window: int
    window_shift: str
    ts_val: str

    @property
    def end(self) -> int:
        return self.seq + self.bytes


@dataclass(frozen=True)
class Run:
    """What happened."""

    segments: list[Segment]
    #: Of the sender: what changed, in order, with the time.
    changes: dict[str, list[tuple[int, int]]]

    def sent(self, *, by_sender: bool = True) -> list[Segment]:
        return [s for s in self.segments if s.event == "enqueue" and s.by_sender == by_sender]

    def received(self, *, by_sender: bool = True) -> list[Segment]:
        """What arrives at the sender, or at the receiver."""
        return [s for s in self.segments if s.event == "rx" and s.by_sender != by_sender]

    def values(self, name: str) -> list[int]:
        return [value for _, value in self.changes.get(name, [])]

    def at(self, name: str, time_ns: int, before: int = 0) -> int:
        """What something is at the end of an instant."""
        for time, value in self.changes.get(name, []):
            if time > time_ns:
                break
            before = value
        return before


def packets(size: int, count: int, interval_us: float = 1000) -> dict[str, Any]:
    """An application that sends packets at equal distances and then closes."""
    rate = round(size * 8e6 / interval_us)
    return {"type": "CBR", "write": f"{size}B", "rate": f"{rate}bps", "bytes": f"{size * count}B"}


def connection(
    folder: Path,
    application: dict[str, Any],
    *,
    delay: str = "500ms",
    cc: Any = "TcpNewReno",
    recovery: str = "TcpClassicRecovery",
    drop: Iterable[int] = (),
    loss: float = 0.0,
    start: str = "0s",
    stop: str = "1000s",
    trace: bool = True,
    changes: bool = True,
    **tcp: Any,
) -> Run:
    """Run it; `drop` has numbers of packets in their order of arrival at the receiver."""
    settings = {"SegmentSize": 500, "InitialCwnd": 1, **tcp}
    queue = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}}
    forward = {"drop": sorted(drop), "loss": loss, "qdisc": queue, "mtu": "9000B"}
    link = {"name": "wire", "ends": ("a", "b"), "rate": "100Gbps", "delay": delay}
    return played(
        folder,
        {
            "nodes": ["a", "b"],
            "links": [{**link, "forward": forward, "reverse": {"qdisc": queue, "mtu": "9000B"}}],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "start": start,
                    "application": application,
                    "cc": cc,
                    "recovery": recovery,
                    "tcp": {name: str(value) for name, value in settings.items()},
                }
            ],
            "stop_time": stop,
            "recording": {"changes": changes, "interval": stop},
        },
        trace=trace,
    )


def losing(sequence: Iterable[int], folder: Path, application: dict[str, Any], **given: Any) -> Run:
    """The connection that loses data by its first sequence numbers, one after the other."""
    lost: list[int] = []
    for first in sequence:
        run = connection(folder, application, drop=lost, **given)
        arrivals = [s for s in run.segments if s.event == "tx"]
        after = lost[-1] + 1 if lost else 0
        lost.append(
            next(i for i, s in enumerate(arrivals) if i >= after and s.seq == first and s.bytes)
        )
    return connection(folder, application, drop=lost, **given)


def played(folder: Path, scenario: dict[str, Any], *, trace: bool = True) -> Run:
    """Run a scenario of one flow, the sender of which is at the first end of the first link."""
    path = folder / "packets.headers.csv"
    described = Scenario.model_validate(scenario)
    recording = NATIVE.simulate(described, packets=path if trace else None)
    changes: dict[str, list[tuple[int, int]]] = {}
    if (table := recording.changes) is not None:
        columns = (table[name] for name in ("time_ns", "name", "value"))
        for time, name, value in zip(*columns, strict=True):
            changes.setdefault(name, []).append((int(time), int(value)))
    first, last = described.links[0].name, described.links[-1].name
    ends = {
        (f"{first}_forward", "enqueue"): True,
        (f"{first}_forward", "tx"): True,
        (f"{last}_forward", "rx"): True,
        (f"{last}_reverse", "enqueue"): False,
        (f"{first}_reverse", "rx"): False,
    }
    segments = []
    if trace:
        with path.open(newline="") as rows:
            for row in csv.DictReader(rows):
                by_sender = ends.get((row["link"], row["event"]))
                if by_sender is not None:
                    segments.append(_segment(row, by_sender))
    return Run(segments, changes)


def _segment(row: dict[str, str], by_sender: bool) -> Segment:
    return Segment(
        int(row["time_ns"]),
        row["event"],
        by_sender,
        int(row["seq"]),
        int(row["ack"]),
        int(row["payload_bytes"]),
        frozenset(row["flags"].split("|")),
        row["ecn"],
        int(row["window"]),
        row["window_shift"],
        row["ts_val"],
    )
