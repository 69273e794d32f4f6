"""How connections open: the profile ``linux`` beside the kernel."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from ccperf.runs.backends import Backend, get
from ccperf.runs.backends.linux import backend
from ccperf.scenario import Scenario

from .linux_paths import OF_LINUX, scenario

#: Of a packet that an end sends.
ENDS = ("time_ns", "link", "seq", "ack", "payload_bytes", "flags", "ecn")


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "direction", "until"),
    [
        (cc, direction, until)
        for cc in ("TcpCubic", "TcpDctcp")
        for direction in ("forward", "reverse")
        for until in ("0.5s", "1.5s", "5.5s")
    ],
)
@pytest.mark.parametrize("path", ["dumbbell", "long"])
def test_handshakes_that_lose_segments_are_the_kernels(
    path: str, cc: str, direction: str, until: str, tmp_path: Path
) -> None:
    """With ECN: SYNs or SYN-ACKs are lost, and what is sent again asks for none or agrees to none.
    Each packet after it is the kernel's, too, as it is if the connection has ECN, or has not.
    """
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    sides = []
    for of, on in ((OF_LINUX, get("native")), ({}, theirs)):
        tcp = {"UseEcn": "On", "DelAckCount": 1, **of}
        changes = [
            {"time": time, "loss": loss, "direction": direction}
            for time, loss in (("0s", 1.0), (until, 0.0))
        ]
        sides.append(
            packets(scenario(path, cc, "9s", tcp, changes=changes), on, tmp_path / "p.csv")
        )
    assert sides[0] == sides[1]
    opened = sum("SYN" in flags and "ACK" not in flags for *_, flags, _ in sides[0])
    assert opened == {"0.5s": 2, "1.5s": 3, "5.5s": 7}[until] or direction == "reverse"
    assert len(sides[0]) > 2000


@pytest.mark.parametrize(
    "of", ["profile", pytest.param("kernel", marks=[pytest.mark.kernel, pytest.mark.slow])]
)
def test_after_a_lost_syn_bursts_are_those_of_one_segment_a_round_trip(
    of: str, tmp_path: Path
) -> None:
    """By the rate of a window of one segment two leave together, and PSH ends each two, though ten
    may leave; by that of ten five do.
    """
    if of == "kernel" and (missing := backend.Linux().available()):
        pytest.skip(missing)
    tcp, on = (OF_LINUX, get("native")) if of == "profile" else ({}, backend.Linux())
    until: list[list[dict[str, Any]]] = [[], [{"time": "0.5s", "loss": 0.0}]]
    first = []
    for end in until:
        changes = [{"time": "0s", "loss": 1.0}, *end] if end else []
        run = scenario("near", "TcpCubic", "2s", {"DelAckCount": 1, **tcp}, changes=changes)
        on.simulate(run, packets=tmp_path / "p.csv")
        with (tmp_path / "p.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["link"] == "in_forward"]
        sent = [row for row in rows if row["event"] == "enqueue" and int(row["payload_bytes"])]
        first.append([i + 1 for i, row in enumerate(sent[:10]) if "PSH" in row["flags"]])
    assert first == [[5, 10], [2, 4, 6, 8, 10]]


def packets(run: Scenario, on: Backend, path: Path) -> list[tuple[str, ...]]:
    """What either end sends, without the PSH of some segments."""
    on.simulate(run, packets=path)
    with path.open(newline="") as file:
        return [
            tuple(row[name].replace("PSH|", "") for name in ENDS)
            for row in csv.DictReader(file)
            if row["event"] == "enqueue" and row["link"] in ("in_forward", "bottleneck_reverse")
        ]
