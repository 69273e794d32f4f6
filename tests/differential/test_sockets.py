"""What ns-3's test suites of whole sockets expect, asked of whole runs of the
engine: windows, growth and the end.

Facts of the suites are the connection that they make, the segments that they lose and what they
expect then; nothing of their code is here.  Suites that send one end segments of their own making
are asked in the engine's unit tests (`ns3_suites.rs`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from sockets import (
    LOSS,
    Run,
    S,
    Segment,
    asks,
    connection,
    losing,
    packets,
)


def every_window_is_the_whole_buffer(run: Run) -> int:
    """But for data that has just come and the application has not read: what arrived last."""
    acknowledged, seen = 1, 0
    for segment in (s for s in run.sent(by_sender=False) if "SYN" not in s.flags):
        if "FIN" in segment.flags:
            break
        available = segment.ack - acknowledged
        missing = 32_768 - segment.window
        assert 0 <= missing <= -(-available // 4), segment
        acknowledged = max(acknowledged, segment.ack)
        seen += 1
    return seen


@asks(
    "tcp-advertised-window-test",
    ("size", "loss"),
    [(500, 0.0), (500, 0.1), (1000, 0.0), (1000, 0.1), (1000, 0.3), (1000, 1.0)],
)
def test_a_receiver_offers_all_that_it_has_room_for(size: int, loss: float, tmp_path: Path) -> None:
    run = connection(tmp_path, packets(size, 100), delay="50ms", loss=loss)
    assert bool(every_window_is_the_whole_buffer(run)) == (loss < 1)


@asks("tcp-advertised-window-test", "lost", [[8001, 9001]])
def test_a_receiver_offers_it_after_the_loss_of_a_fin(lost: list[int], tmp_path: Path) -> None:
    run = losing(lost, tmp_path, packets(1000, 10), delay="50ms", InitialCwnd=10_000)
    assert every_window_is_the_whole_buffer(run)


class Guess:
    """Bytes in flight without SACK, from what a sender sends and receives alone."""

    def __init__(self) -> None:
        self.bytes, self.duplicates, self.acknowledged, self.newest = 0, 0, 1, 0
        self._last, self._times = -1, 0

    def sends(self, segment: Segment) -> None:
        if segment.seq >= self.newest:
            self.newest, self._times = segment.seq, 0
        if segment.seq == self._last:
            self._times += 1
        if self._times < 2:
            self.bytes += segment.bytes
        self._last = segment.seq

    def receives(self, segment: Segment) -> None:
        news = segment.ack - self.acknowledged
        if news == 0 and self.acknowledged != 1 and "FIN" not in segment.flags:
            self.bytes -= 500
            self.duplicates += 1
            if self.duplicates == 3:  # and with it one is taken to be lost
                self.bytes -= 500
        if news <= 0:
            return
        self.acknowledged = segment.ack
        if self.duplicates and segment.ack >= self.newest:
            self.bytes, self.duplicates = 0, 0
            return
        if self.duplicates:
            self.duplicates -= news // 500
            self.bytes -= 500
        self.bytes -= min(news, self.bytes)


@asks("tcp-bytes-in-flight-test", "lost", [[], [4001], [4001, 4001], [4001, 4501]])
def test_what_is_in_flight_can_be_told_from_outside(lost: list[int], tmp_path: Path) -> None:
    run = losing(lost, tmp_path, packets(500, 30), delay="50ms", Sack="false")
    timeouts = [time for time, state in run.changes.get("cong_state", []) if state == LOSS]
    guess, checked = Guess(), 0
    at_sender = [
        s for s in run.segments if (s.event == "enqueue") == s.by_sender and s.event != "tx"
    ]
    for segment, following in zip(at_sender, [*at_sender[1:], None], strict=True):
        if timeouts and segment.time_ns >= timeouts[0]:
            guess.bytes = 0
            timeouts.pop(0)
        if segment.by_sender:
            guess.sends(segment)
        elif "SYN" not in segment.flags:
            guess.receives(segment)
        if following is None or following.time_ns > segment.time_ns:
            assert run.at("in_flight", segment.time_ns) == guess.bytes, segment
            checked += 1
    assert checked >= 20
    assert (guess.bytes, run.values("in_flight")[-1]) == (0, 0)


@asks("tcp-close", "sack", ["true", "false"])
def test_a_connection_closes_though_data_is_sent_again(sack: str, tmp_path: Path) -> None:
    run = losing(
        [1],
        tmp_path,
        packets(1400, 1),
        InitialCwnd=4,
        SegmentSize=700,
        Timestamp="false",
        Sack=sack,
    )
    assert not any("RST" in s.flags for s in run.segments)
    assert [s.end for s in run.received(by_sender=False) if "FIN" in s.flags] == [1401]
    # Both FINs take a number, and both are acknowledged.
    assert max(s.ack for s in run.received()) == 1402
    assert max(s.ack for s in run.received(by_sender=False)) == 2


@asks(
    "tcp-cong-avoid-test",
    ("size", "count"),
    [(s, n * 10) for s in (500, 1000) for n in range(1, 6)],
)
def test_new_reno_grows_by_at_most_a_segment_in_a_round_trip(
    size: int, count: int, tmp_path: Path
) -> None:
    run = connection(tmp_path, packets(size, count), InitialSlowStartThreshold=0)
    history = run.changes["cwnd"][1:]
    assert history
    begin = history[0][0]
    grown: dict[int, int] = {}
    for (_, old), (time, new) in pairwise(run.changes["cwnd"]):
        interval = (time - begin - 1) // S
        grown[interval] = grown.get(interval, 0) + new - old
    assert max(grown.values()) <= 500


@asks("tcp-linux-reno-test", ("segment", "every"), [(s, n) for s in (524, 1500) for n in (1, 2)])
def test_linux_reno_grows_in_slow_start_by_what_is_acknowledged(
    segment: int, every: int, tmp_path: Path
) -> None:
    run = connection(
        tmp_path,
        packets(segment, 7),
        delay="5ms",
        cc="TcpLinuxReno",
        SegmentSize=segment,
        InitialCwnd=2,
        DelAckCount=every,
    )
    windows = [2 * segment, *run.values("cwnd")]
    windows = windows[1:] if windows[1] == windows[0] else windows
    growth = [new - old for old, new in pairwise(windows)]
    assert all(step == every * segment for step in growth[1:])
    assert windows[-1] == 9 * segment


@asks(
    "tcp-linux-reno-test",
    ("segment", "every", "threshold"),
    [(524, 1, 2 * 524), (524, 2, 2), (1500, 1, 2), (1500, 2, 2)],
)
def test_linux_reno_grows_in_congestion_avoidance_by_segments(
    segment: int, every: int, threshold: int, tmp_path: Path
) -> None:
    run = connection(
        tmp_path,
        packets(segment, 6),
        cc="TcpLinuxReno",
        SegmentSize=segment,
        DelAckCount=every,
        InitialSlowStartThreshold=threshold,
    )
    windows = run.values("cwnd")
    assert all(new - old == segment for old, new in pairwise(windows))
    assert windows[-1] == 4 * segment


@asks(
    "tcp-slow-start-test",
    ("segment", "size", "count"),
    [(500, 500, 10), (1000, 1000, 9), (500, 250, 10)],
)
def test_slow_start_adds_a_segment_for_each_acknowledgement_of_one(
    segment: int, size: int, count: int, tmp_path: Path
) -> None:
    run = connection(
        tmp_path, packets(size, count), SegmentSize=segment, InitialSlowStartThreshold=400_000
    )
    windows = [segment, *(w for w in run.values("cwnd") if w != segment)]
    assert len(windows) > 2
    assert all(new - old == segment for old, new in pairwise(windows))
    assert windows[-1] <= 400_000
    acknowledged = max(s.ack for s in run.received()) - 1
    assert len(windows) - 1 <= acknowledged // segment
