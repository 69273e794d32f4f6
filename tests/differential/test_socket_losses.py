"""What ns-3's test suites expect of whole sockets that lose segments, asked of the engine (see
`test_sockets.py`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from sockets import (
    DISORDER,
    LOSS,
    MS,
    OPEN,
    RECOVERY,
    S,
    asks,
    connection,
    losing,
    packets,
)


@asks("tcp-fast-retr-test", "cc", ["TcpNewReno", "TcpWestwoodPlus"])
def test_a_lost_segment_is_sent_again_after_three_duplicates(cc: str, tmp_path: Path) -> None:
    run = losing(
        [5001],
        tmp_path,
        packets(500, 100),
        cc=cc,
        InitialSlowStartThreshold=0,
        MinRto="10s",
    )
    assert run.values("cong_state") == [DISORDER, RECOVERY, OPEN]
    assert sum(s.seq == 5001 and s.bytes > 0 for s in run.sent()) == 2
    duplicates, last = 0, 0
    states = []
    for s in run.received():
        duplicates = duplicates + 1 if s.ack == last == 5001 else 0
        last = s.ack
        if last == 5001:
            states.append((duplicates, run.at("cong_state", s.time_ns)))
    assert states[:4] == [(0, OPEN), (1, DISORDER), (2, DISORDER), (3, RECOVERY)]
    # In order up to the FIN, without what was sent again.
    firsts = dict.fromkeys(s.seq for s in run.sent() if s.bytes)
    assert list(firsts) == list(range(1, 50_001, 500))
    assert max(s.ack for s in run.received()) == 50_002
    assert {s.seq for s in run.sent(by_sender=False) if not {"SYN", "FIN"} & s.flags} <= {1, 2}


@asks("tcp-loss-test", ("lost", "count"), [([1000, 2000], 2500)])
def test_two_losses_far_apart_are_two_recoveries(
    lost: list[int], count: int, tmp_path: Path
) -> None:
    long_transfer(lost, count, tmp_path)


@pytest.mark.sweep
@asks("tcp-loss-test", ("lost", "count"), [([1000, 3_294_967], 3_295_100)])
def test_also_where_sequence_numbers_of_32_bits_are_used_again(
    lost: list[int], count: int, tmp_path: Path
) -> None:
    long_transfer(lost, count, tmp_path)


def long_transfer(lost: list[int], count: int, folder: Path) -> None:
    run = connection(
        folder,
        packets(1000, count, 8),
        delay="1us",
        SegmentSize=1000,
        drop=lost,
        trace=count < 10_000,
    )
    assert run.values("cong_state") == [DISORDER, RECOVERY, OPEN, DISORDER, RECOVERY, OPEN]
    for sent, arrived in [(run.sent(), run.received(by_sender=False))]:
        assert len(sent) == len(arrived) + (2 if sent else 0)


@asks("tcp-rto-test", "count", [100])
def test_an_acknowledgement_after_a_timeout_opens_the_window_again(
    count: int, tmp_path: Path
) -> None:
    run = connection(tmp_path, packets(500, count), InitialSlowStartThreshold=0, MinRto="0.5s")
    states = run.values("cong_state")
    assert states == [LOSS, OPEN] * (len(states) // 2)
    assert max(s.ack for s in run.received()) == 500 * count + 2


@asks("tcp-rto-test", "least", ["500ms", "5ms"])
def test_a_timeout_halves_what_is_in_flight(least: str, tmp_path: Path) -> None:
    application = packets(500, 100, 100)
    run = losing([25_001] * 3, tmp_path, application, delay="1ms", MinRto=least)
    timeouts = [time for time, state in run.changes["cong_state"] if state == LOSS]
    timeouts += [
        time
        for time, segment in ((s.time_ns, s) for s in run.sent())
        if segment.seq == 25_001 and run.at("cong_state", time) == LOSS
    ]
    assert timeouts
    for time in set(timeouts):
        before = run.at("in_flight", time - 1)
        assert run.at("ssthresh", time) == max(before // 2, 2 * 500)


@asks("tcp-rto-test", "losses", [7])
def test_timeouts_double_up_to_a_minute_until_the_connection_is_given_up(
    losses: int, tmp_path: Path
) -> None:
    run = losing([1] * losses, tmp_path, packets(500, 100), DataRetries=6)
    # That of the SYN, and that of a handshake of 1 s with a variation of half as much.
    assert run.values("rto_ns")[0] == pytest.approx(3 * S, abs=10 * MS)
    for old, new in pairwise(run.values("rto_ns")):
        assert new == pytest.approx(min(2 * old, 60 * S), abs=20 * MS)
    assert run.values("rto_ns")[-1] == 60 * S
    again = [s.time_ns for s in run.sent() if s.bytes and s.seq == 1]
    assert len(again) == losses
    assert max(s.ack for s in run.received()) == 1
