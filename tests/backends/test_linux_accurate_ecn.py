"""Accurate ECN of Linux's (RFC 9768, `tcp_ecn = 3`) beside the engine's: what ACKs say of marks."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ccperf import Scenario
from ccperf.runs.backends import get
from ccperf.runs.backends.linux import backend

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("linux_kernel")]
LINUX = backend.Linux()
TCP = {
    "Profile": "linux",
    "SegmentSize": 1448,
    "MinRto": "200ms",
    "ConnTimeout": "1s",
    "SndBufSize": 16_000_000,
    "RcvBufSize": 16_000_000,
    "UseEcn": "On",
    "EcnFeedback": "Accurate",
}


@dataclass(frozen=True)
class Row:
    """A packet as it comes to its first link."""

    flags: str
    ecn: str
    bytes: int


def rows(where: Any, folder: Path, **tcp: Any) -> tuple[list[Row], list[Row]]:
    """What both ends send over a queue that marks above 10 packets."""
    path = folder / f"{where.name}.csv"
    scenario = Scenario.model_validate(
        {
            "stop_time": "2s",
            "nodes": ["a", "b"],
            "links": [
                {
                    "name": "link",
                    "ends": ["a", "b"],
                    "rate": "16Mbps",
                    "delay": "10ms",
                    "forward": {
                        "device_queue": "1p",
                        "qdisc": {
                            "type": "StepRedQueueDisc",
                            "attributes": {"MaxSize": "100p", "MarkingThreshold": "10p"},
                        },
                    },
                }
            ],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "cc": "TcpCubic",
                    "recovery": "TcpPrrRecovery",
                    "tcp": {**TCP, **tcp},
                }
            ],
        }
    )
    where.simulate(scenario, packets=path)
    sent: dict[str, list[Row]] = {"link_forward": [], "link_reverse": []}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] == "enqueue":
                ip_bytes = int(row["wire_bytes"]) - 2
                sent[row["link"]].append(Row(row["flags"], row["ecn"], ip_bytes))
    return sent["link_forward"], sent["link_reverse"]


@pytest.mark.parametrize(
    ("option", "equal", "lengths"),
    [
        # Later the segments differ: Linux puts the option on some with data, three times a round
        # trip, which have 12 bytes less of it.
        ("true", 110, {72, 64, 52}),
        ("false", 900, {60, 52}),
    ],
)
def test_acks_count_marks_as_the_kernels_do(
    tmp_path: Path, option: str, equal: int, lengths: set[int]
) -> None:
    """The handshake, the count in the flags, ECT, and which ACKs have the option."""
    ours, theirs = (rows(where, tmp_path, AccEcnOption=option) for where in (get("native"), LINUX))
    for which in (0, 1):
        # SYN and the ACK of the SYN-ACK; then the SYN-ACK and ACKs.
        count = (2, equal)[which]
        assert [(row.flags, row.ecn, row.bytes) for row in ours[which][:count]] == [
            (row.flags, row.ecn, row.bytes) for row in theirs[which][:count]
        ]
    acks = ours[1][:equal]
    assert {row.bytes for row in acks} == lengths
    # It has counted far enough to wrap.
    assert len({row.flags for row in acks}) == 9
