"""What ns-3's test suites expect of TCP over networks, asked of the engine: ranges of CUBIC's
window, and every segment that a sender was recorded to send.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from sockets import (
    Run,
    S,
    asks,
    played,
)

VECTORS = Path(__file__).with_name("response_vectors.csv")


@asks(
    "ns3-tcp-cubic",
    ("fast", "friendly", "delay", "rate", "ranges"),
    [
        (False, False, "2500us", "100Mbps", [(1, 19, 60, 98), (9, 9.6, 84, 89)]),
        (True, False, "2500us", "100Mbps", [(1, 19, 60, 98), (4, 6, 83, 88)]),
        (True, False, "10ms", "50Mbps", [(11, 15, 107, 123), (17.5, 18.5, 169, 215)]),
        (True, True, "10ms", "50Mbps", [(13, 15, 150, 210)]),
    ],
)
def test_cubic_keeps_its_window_in_these_ranges(
    fast: bool,
    friendly: bool,
    delay: str,
    rate: str,
    ranges: list[tuple[float, float, float, float]],
    tmp_path: Path,
) -> None:
    fair = {"qdisc": "FqCoDelQueueDisc"}
    edge = {**fair, "queue_limits": {}}
    bottleneck = {**fair, "device_queue": "2p"}
    tcp = {"SegmentSize": 1448, "SndBufSize": 1_000_000, "RcvBufSize": 1_000_000}
    on = {"EnablePacing": "true", "PaceInitialWindow": "true"}
    attributes = {"FastConvergence": str(fast).lower(), "TcpFriendliness": str(friendly).lower()}
    ends = [("a", "r", edge, "1Gbps", "5us"), ("r", "q", bottleneck, rate, delay)]
    ends.append(("q", "b", edge, "1Gbps", "5us"))
    run = played(
        tmp_path,
        {
            "nodes": ["a", "r", "q", "b"],
            "links": [
                {
                    "name": f"{one}_{other}",
                    "ends": (one, other),
                    "rate": speed,
                    "delay": far,
                    "forward": device,
                    "reverse": device,
                }
                for one, other, device, speed, far in ends
            ],
            "changes": [{"time": "10s", "link": "r_q", "rate": "100Mbps", "direction": "forward"}],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "start": "100ms",
                    "stop": "20s",
                    "cc": {"type": "TcpCubic", "attributes": attributes},
                    "tcp": {name: str(value) for name, value in {**tcp, **on}.items()},
                }
            ],
            "stop_time": "20s",
            "recording": {"changes": True},
        },
        trace=False,
    )
    for begin, end, least, most in ranges:
        windows = [w / 1448 for time, w in run.changes["cwnd"] if begin * S <= time <= end * S]
        assert windows
        assert least <= min(windows)
        assert max(windows) <= most


def recorded(suite: str, case: str) -> list[tuple[int, ...]]:
    """Time (us), sequence and acknowledgement number, flags, window, payload of what was sent."""
    with VECTORS.open(newline="") as rows:
        return [
            tuple(int(value) for value in list(row.values())[2:])
            for row in csv.DictReader(rows)
            if (row["suite"], row["case"]) == (suite, case)
        ]


def bits(flags: frozenset[str]) -> int:
    return sum({"FIN": 1, "SYN": 2, "ACK": 16}[flag] for flag in flags)


def network(
    rates: tuple[str, str], delays: tuple[str, str], device: dict[str, Any], **losses: Any
) -> dict[str, Any]:
    links = [
        {
            "name": name,
            "ends": ends,
            "rate": rate,
            "delay": delay,
            "forward": {**device, "drop": losses.get(f"{name}_forward", [])},
            "reverse": {**device, "drop": losses.get(f"{name}_reverse", [])},
        }
        for name, ends, rate, delay in zip(
            ("first", "second"), (("a", "r"), ("r", "b")), rates, delays, strict=True
        )
    ]
    return {"nodes": ["a", "r", "b"], "links": links, "stop_time": "1000s"}


def check_vectors(run: Run, suite: str, case: str, *, times: bool = True) -> None:
    """Compare every header, as the suites do, and the times, as they do not."""
    expected = recorded(suite, case)
    sent = [(s.time_ns, s.seq, s.ack, bits(s.flags), s.window, s.bytes) for s in run.sent()]
    assert [s[1:] for s in sent] == [e[1:] for e in expected]
    for (time, *_), (time_us, *_) in zip(sent, expected, strict=True):
        # Those of the record were cut off below at every hop.
        assert not times or time / 1000 == pytest.approx(time_us, abs=2)


#: Of both suites: no options that matter.
PLAIN = {"SegmentSize": "1000", "DelAckCount": "1", "Timestamp": "false", "Sack": "false"}


@asks(
    "ns3-tcp-loss",
    ("cc", "lost"),
    [(cc, n) for cc in ("NewReno", "WestwoodPlus") for n in range(5)],
)
def test_a_sender_that_loses_some_in_a_row_sends_what_is_recorded(
    cc: str, lost: int, tmp_path: Path
) -> None:
    flow = {
        "source": "a",
        "destination": "b",
        "application": {"type": "Greedy", "bytes": "200000B", "write": "1040B", "eager": True},
        "cc": f"Tcp{cc}",
        "recovery": "TcpClassicRecovery",
        "tcp": {**PLAIN, "InitialCwnd": "1"},
    }
    described = network(
        ("8Mbps", "800kbps"),
        ("100us", "100ms"),
        {"qdisc": "FqCoDelQueueDisc"},
        second_forward=list(range(16, 16 + lost)),
    )
    run = played(tmp_path, {**described, "flows": [flow]})
    check_vectors(run, "ns3-tcp-loss", f"{cc} {lost}")


EAGER = {"type": "Greedy", "write": "1040B", "eager": True}
SILENT = {"type": "CBR", "write": "1040B", "rate": "1kbps"}


@asks(
    "ns3-tcp-state",
    ("number", "application", "losses"),
    [
        (0, {**EAGER, "bytes": "1000B"}, {}),
        (1, {**EAGER, "bytes": "100000B"}, {}),
        (2, {**EAGER, "bytes": "1000B"}, {"first_forward": [0]}),
        (3, {**EAGER, "bytes": "2000B"}, {"second_reverse": [0]}),
        (4, {**EAGER, "bytes": "2000B"}, {"first_forward": [1]}),
        (5, SILENT, {"first_forward": [1]}),
        (6, {**EAGER, "bytes": "5000B"}, {"second_reverse": [5]}),
        (8, {**EAGER, "bytes": "5000B"}, {"second_reverse": [6]}),
    ],
)
def test_a_sender_sends_what_is_recorded(
    number: int, application: dict[str, Any], losses: dict[str, Any], tmp_path: Path
) -> None:
    device = {"qdisc": "PfifoFastQueueDisc", "device_queue": "20p"}
    described = network(("1Mbps", "1Mbps"), ("100us", "100us"), device, **losses)
    # The record is of when the initial window was one segment.
    for window in ("10", "1"):
        flow = {
            "source": "a",
            "destination": "b",
            "application": application,
            "stop": "2ms" if application is SILENT else None,
            "cc": "TcpNewReno",
            "tcp": {**PLAIN, "InitialCwnd": window},
        }
        run = played(tmp_path, {**described, "flows": [flow]})
        check_vectors(run, "ns3-tcp-state", str(number), times=window == "1")
