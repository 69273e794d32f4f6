"""What ns-3's test suites expect of pacing, round trips, samples and marks, asked of the engine
(see `test_sockets.py`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sockets import (
    MS,
    asks,
    connection,
    losing,
    packets,
)


@asks(
    "tcp-pacing-test",
    ("count", "threshold", "initial", "every"),
    [
        (40, 10**9, False, 1),
        (40, 10**9, True, 1),
        (60, 40, False, 1),
        (40, 10**9, False, 2),
        (40, 10**9, True, 2),
        (60, 40, False, 2),
    ],
)
def test_pacing_spreads_the_window_over_the_round_trip(
    count: int, threshold: int, initial: bool, every: int, tmp_path: Path
) -> None:
    run = connection(
        tmp_path,
        packets(1000, count, 0.01),
        delay="50ms",
        SegmentSize=1000,
        InitialCwnd=10,
        InitialSlowStartThreshold=threshold,
        EnablePacing="true",
        PaceInitialWindow=str(initial).lower(),
        DelAckCount=every,
    )

    def expected(time: int) -> float:
        window, rtt = run.at("cwnd", time, 10_000), run.at("srtt_ns", time)
        if not initial and window == 10_000:
            return 0.0
        return 1000 * rtt / ((2.0 if window < threshold / 2 else 1.2) * window)

    ended = next(s.time_ns for s in run.received() if "FIN" in s.flags)
    data = [s for s in run.sent() if s.bytes]
    compared = 0
    for before, after in pairwise(data):
        window, in_flight = (
            run.at("cwnd", before.time_ns, 10_000),
            run.at("in_flight", before.time_ns),
        )
        if window - in_flight >= 1000 and after.time_ns < ended:
            gap = after.time_ns - before.time_ns
            # The application's packets come 10 ns apart.
            assert gap == pytest.approx(expected(before.time_ns), abs=20), (before, after)
            compared += 1
    assert compared > 15


COUNTING = """
import ccperf


class Counting(ccperf.CongestionControl):
    def pkts_acked(self, tcb, segments_acked, rtt_ns):
        with open({path!r}, "a") as out:
            out.write(f"{{segments_acked}}\\n")
"""

SAMPLING = """
import ccperf


class Sampling(ccperf.CongestionControl):
    def cong_control(self, tcb, sample):
        with open({path!r}, "a") as out:
            out.write(f"{{tcb.now_ns}} {{sample.total_delivered}} {{sample.acked_sacked}}\\n")
"""


@asks("tcp-pkts-acked-test", "count", [20])
def test_a_congestion_control_is_told_of_every_segment(count: int, tmp_path: Path) -> None:
    source, told = tmp_path / "counting.py", tmp_path / "told"
    source.write_text(COUNTING.format(path=str(told)))
    run = connection(tmp_path, packets(500, count), cc=f"{source}:Counting")
    acknowledged = max(s.ack for s in run.received()) // 500
    assert sum(map(int, told.read_text().split())) == acknowledged == count


@asks(
    "tcp-rtt-estimation-test",
    ("stamps", "count", "lost"),
    [
        (stamps, count, lost)
        for count, lost in [
            (0, []),
            (10, []),
            (10, [501]),
            (10, [501, 501]),
            (1000, [501, 501, 54_001, 58_001, 58_501, 60_001, 68_501]),
        ]
        for stamps in ("true", "false")
    ],
)
def test_round_trips_are_measured_and_repetitions_told_apart(
    stamps: str, count: int, lost: list[int], tmp_path: Path
) -> None:
    application = packets(500, count) if count else packets(500, 1, 10**6)
    given: dict[str, Any] = {"delay": "50ms", "Timestamp": stamps}
    run = losing(lost, tmp_path, application, stop="1000s" if count else "150ms", **given)
    # Nothing but the path's 100 ms and what an acknowledgement is delayed, whatever was repeated.
    measured = run.values("srtt_ns")
    assert measured
    assert all(100 * MS <= value <= 300 * MS for value in measured)
    repeated = [s.seq for s in run.sent() if s.bytes]
    assert len(repeated) - len(set(repeated)) >= len(lost)
    if not lost:
        assert len(repeated) == count


@asks(
    "tcp-timestamp",
    ("start", "wait"),
    [(0.0, 0.01), (3.0, 0.5), (5.5, 1.0), (6.0, 2.0), (2.4, 0.7)],
)
def test_timestamps_are_milliseconds(start: float, wait: float, tmp_path: Path) -> None:
    # The handshake takes 2 ns, and the application writes an interval later.
    application = packets(500, 1, wait * 1e6)
    run = connection(tmp_path, application, delay="1ns", start=f"{start}s")
    stamps = [int(s.ts_val) for s in run.sent() if "SYN" in s.flags or s.bytes]
    assert stamps[1] - stamps[0] == pytest.approx(wait * 1000, abs=1)


@asks(
    "tcp-rate-ops",
    ("sack", "lost"),
    [(sack, lost) for lost in ([4001], [4001, 4001]) for sack in ("false", "true")],
)
def test_duplicates_that_acknowledge_nothing_are_no_sample_of_the_rate(
    sack: str, lost: list[int], tmp_path: Path
) -> None:
    source, told = tmp_path / "sampling.py", tmp_path / "told"
    source.write_text(SAMPLING.format(path=str(told)))
    cc = f"{source}:Sampling"
    run = losing(lost, tmp_path, packets(500, 300), delay="50ms", Sack=sack, InitialCwnd=10, cc=cc)
    # The connection was tried as often as it loses something, and once more.
    lines = [tuple(map(int, line.split())) for line in told.read_text().splitlines()]
    lines = [line for line in lines if line[1]]  # not the receiver's
    begins = [i for i, (old, new) in enumerate(pairwise(lines), 1) if new[0] < old[0]]
    samples = lines[begins[-1] if begins else 0 :]
    delivered = [total for _, total, _ in samples]
    assert delivered == sorted(delivered)
    duplicates, last = set(), 1
    for s in run.received():
        if s.ack == last != 1:
            duplicates.add(s.time_ns)
        last = s.ack
    assert duplicates
    for time, _, newly in samples:
        if time in duplicates and sack == "false":
            assert newly == 0


@asks("tcp-ecn-test", ("setting", "agreed"), [("Off", False), ("On", True)])
def test_ends_that_both_want_ecn_agree_on_it(setting: str, agreed: bool, tmp_path: Path) -> None:
    run = connection(tmp_path, packets(500, 10), UseEcn=setting)
    syn, _, data, *_ = run.sent()
    answer, *_ = run.sent(by_sender=False)
    assert ({"ECE", "CWR"} <= syn.flags) == agreed
    assert ("ECE" in answer.flags, "CWR" in answer.flags) == (agreed, False)
    assert data.ecn == ("ECT0" if agreed else "NotECT")


@asks(
    "tcp-dctcp-test",
    ("cc", "points"),
    [
        ("TcpDctcp", ["ECT1"] * 4),
        ("TcpNewReno", ["NotECT", "ECT0", "NotECT", "NotECT"]),
    ],
)
def test_dctcp_marks_every_packet_as_capable(cc: str, points: list[str], tmp_path: Path) -> None:
    attributes = {"UseEct0": "false"} if cc == "TcpDctcp" else {}
    algorithm = {"type": cc, "attributes": attributes}
    run = connection(tmp_path, packets(500, 10), cc=algorithm, UseEcn="On")
    syn, _, data, *_ = run.sent()
    answer, acknowledgement, *_ = run.sent(by_sender=False)
    assert [s.ecn for s in (syn, data, answer, acknowledgement)] == points
