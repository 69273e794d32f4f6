"""What applications write, read and end, as the profile ``linux`` and the kernel send it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from ccperf.runs.backends import Backend, get
from ccperf.runs.backends.linux import backend
from ccperf.scenario import Scenario
from ccperf.verify import linux_packets

from .linux_paths import OF_LINUX, SIZES, scenario


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("size", "lost"),
    [
        # The handshake has the packets 0 and 1, data those from 2 on, a FIN of its own is the last.
        *((900, [n]) for n in (2, 3)),
        *((5_000, lost) for lost in ([5], [6], [5, 6], [2, 6], [4, 5, 6])),
        (14_480, [11, 12]),
        # The FIN goes with data that waits for the window.
        *((100_000, [n]) for n in (70, 71)),
    ],
)
def test_transfers_end_as_those_of_the_kernel(size: int, lost: Sequence[int]) -> None:
    """FINs that leave alone or with data, their SACKs, probes and repetitions: every packet."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    run = scenario("dumbbell", "TcpCubic", "3s", OF_LINUX, drop=lost).canonical()
    run["flows"][0]["application"] = {"type": "Greedy", "bytes": f"{size}B"}
    found = linux_packets.compare(Scenario.model_validate(run), get("native"), theirs)
    assert found.identical, found.report()
    assert found.rows > 30


#: Writes of less than a segment; writes that a send buffer takes in parts; segments of a size that
#: those agreed on have not.
SHORT = {"type": "Poisson", "rate": "400kbps", "write": "512B"}
AHEAD = {"type": "CBR", "rate": "20Mbps", "write": "4000B"}
NOW_AND_THEN = {
    "type": "OnOff",
    "rate": "600kbps",
    "write": "4000B",
    "on_time": "900ms",
    "off_time": "1ms",
}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("path", "cc", "tcp", "application", "lost"),
    [
        ("long", "TcpBic", {}, SHORT, []),
        ("dumbbell", "TcpCubic", {"SndBufSize": 40_000}, AHEAD, []),
        # A probe that is a FIN, behind a window of one segment.
        ("dumbbell", "TcpHighSpeed", {}, {"type": "Greedy", "bytes": "14B"}, [0, 1]),
        # What is read opens a window that was closed, or lets twice as much come.
        ("dumbbell", "TcpWestwoodPlus", {"RcvBufSize": 40_000}, None, [60]),
        ("long", "TcpCubic", {"RcvBufSize": 131_072}, None, [100, 140]),
        # Half of the receive buffer waits beyond a hole.
        ("long", "TcpCubic", {"RcvBufSize": 100_000}, None, [100, 101, 150, 160]),
        # The last segment comes twice.
        ("dumbbell", "TcpIllinois", {"RcvBufSize": 262_144}, NOW_AND_THEN, []),
        ("deep", "TcpCubic", {"SegmentSize": 1425}, SHORT | {"type": "CBR"}, [6, 15, 16]),
        ("deep", "TcpCubic", {"RcvBufSize": 100_000}, AHEAD | {"write": "1000B"}, [6, 15, 16]),
    ],
)
def test_what_applications_write_and_read_leaves_as_from_the_kernel(
    path: str, cc: str, tcp: dict[str, int], application: object, lost: Sequence[int]
) -> None:
    """Every packet, where segments are short, buffers full, or both."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    run = scenario(path, cc, "4s", {**OF_LINUX, **tcp}, drop=lost).canonical()
    if application:
        run["flows"][0]["application"] = application
    found = linux_packets.compare(Scenario.model_validate(run), get("native"), theirs)
    assert found.identical, found.report()
    assert found.rows > 50


@pytest.mark.kernel
def test_a_send_buffer_bounds_no_more_than_the_kernels() -> None:
    """What the window lets leave while an application writes makes room for as much again, so that
    131,072 B hold two megabytes where cwnd allows it.
    """
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    run = scenario("fast", "TcpCubic", "5s", {**OF_LINUX, "SndBufSize": 131_072}).canonical()
    run["links"][1]["rate"] = "50Mbps"
    run["links"][1]["forward"]["qdisc"]["attributes"]["MaxSize"] = "8000p"
    most = [
        side.simulate(Scenario.model_validate(run)).flow_samples["in_flight_bytes"].max()
        for side in (get("native"), theirs)
    ]
    assert most[0] == most[1] > 500_000


def acknowledged(run: Scenario, on: Backend, path: Path) -> list[tuple[int, str, str]]:
    """When the receiver acknowledges what, and with which flags."""
    on.simulate(run, packets=path)
    with path.open(newline="") as file:
        return [
            (int(row["time_ns"]), row["ack"], row["flags"])
            for row in csv.DictReader(file)
            if row["link"] == "bottleneck_reverse" and row["event"] == "enqueue"
        ]


@pytest.mark.kernel
@pytest.mark.parametrize("lost", [[], [5, 12]], ids=["whole", "lost"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("size", [15_000, 15_928])
def test_fins_are_acknowledged_as_by_the_kernel(
    size: int, count: int, lost: list[int], tmp_path: Path
) -> None:
    """By that of the receiver, or before it: each if asked for, what fills a hole, a whole one."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    sides = []
    for of, on in ((OF_LINUX, get("native")), ({}, theirs)):
        run = scenario("dumbbell", "TcpCubic", "3s", {"DelAckCount": count, **of}, drop=lost)
        fields = run.canonical()
        fields["flows"][0]["application"] = {"bytes": f"{size}B"}
        run = Scenario.model_validate(fields)
        sides.append(acknowledged(run, on, tmp_path / f"{len(sides)}.csv"))
    assert sides[0] == sides[1]
    assert sides[0][-1][2] == "FIN|ACK"


@pytest.mark.kernel
@pytest.mark.parametrize("stop", ["1.003s", "1.5s"])
def test_a_source_that_is_stopped_ends_behind_what_was_taken_in_part(stop: str) -> None:
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    run = scenario("dumbbell", "TcpCubic", "4s", OF_LINUX | {"SndBufSize": 40_000}).canonical()
    run["flows"][0] |= {"application": AHEAD, "stop": stop}
    found = linux_packets.compare(Scenario.model_validate(run), get("native"), theirs)
    assert found.identical, found.report()
    flows = get("native").simulate(Scenario.model_validate(run)).flows
    assert flows["completion_ns"][0] > flows["stop_ns"][0]


@pytest.mark.kernel
def test_what_one_application_sends_does_not_depend_on_who_else_writes(tmp_path: Path) -> None:
    """Two hosts whose packets never meet; each writes more than its link takes.

    One task writes for all of them. Where sockets shared its memory, what they wrote by turns ended
    a piece after 17 writes, with PSH.
    """
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)

    def rows(pairs: Sequence[str]) -> list[str]:
        links = [
            {"name": f"link_{ends}", "ends": list(ends), "rate": "10Mbps", "delay": "10ms"}
            for ends in pairs
        ]
        flows = [
            {
                "name": ends,
                "source": ends[0],
                "destination": ends[1],
                "cc": "TcpCubic",
                "application": {"type": "CBR", "rate": "20Mbps", "write": "1448B"},
                "tcp": {**SIZES, **OF_LINUX},
            }
            for ends in pairs
        ]
        nodes = sorted("".join(pairs))
        made = {"stop_time": "500ms", "nodes": nodes, "links": links, "flows": flows}
        trace = tmp_path / "trace.csv"
        theirs.simulate(Scenario.model_validate(made), packets=trace)
        return [line for line in trace.read_text().splitlines() if ",ab," in line]

    alone = rows(["ab"])
    assert sum("PSH" in row for row in alone) > 10
    assert rows(["ab", "cd"]) == alone
