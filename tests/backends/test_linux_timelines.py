"""Segments that Linux is documented to send, and when: whether the guest lets it.

Times come from RFCs and the kernel's documentation (Documentation/networking/ip-sysctl.rst). The
kernel's timers are a wheel: one of T ends between T and T / 8 later (kernel/time/timer.c says so of
itself), and never before.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ccperf import Scenario
from ccperf.runs.backends.linux import backend

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("linux_kernel")]
LINUX = backend.Linux()
MSS = 1448
#: 10 ms there and back, at 100 Mbps.
RTT_MS = 20
#: What the longest burst here takes on the wire.
WIRE_MS = 6


@dataclass(frozen=True)
class Segment:
    """One that a host sends."""

    ms: float
    #: Its first byte, in segments from the first; its payload.
    number: float
    payload: int
    flags: frozenset[str]
    #: What it acknowledges, in bytes.
    ack: int


def timeline(
    folder: Path,
    application: dict[str, Any],
    *,
    stop: str = "2s",
    lost: Sequence[int] = (),
    lost_answers: Sequence[int] = (),
    delay: str = "10ms",
    sysctls: dict[str, Any] | None = None,
    tcp: dict[str, Any] | None = None,
) -> tuple[list[Segment], list[Segment]]:
    """What source and destination send; `lost`: of what the source sends, by number from 0.

    `lost_answers` are the destination's.
    """
    made = {
        "stop_time": stop,
        "nodes": ["a", "b"],
        "links": [
            {
                "name": "link",
                "ends": ["a", "b"],
                "rate": "100Mbps",
                "delay": delay,
                "forward": {"drop": list(lost)},
                "reverse": {"drop": list(lost_answers)},
            }
        ],
        "flows": [
            {
                "source": "a",
                "destination": "b",
                "cc": "TcpCubic",
                "recovery": "TcpPrrRecovery",
                "application": application,
                "tcp": {"SegmentSize": MSS, "DelAckCount": 2, **(tcp or {})},
            }
        ],
        "linux": {name: str(value) for name, value in (sysctls or {}).items()},
    }
    path = folder / "packets.csv"
    LINUX.simulate(Scenario.model_validate(made), packets=path)
    sent: dict[str, list[Segment]] = {"link_forward": [], "link_reverse": []}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] == "enqueue":
                number = (int(row["seq"]) - 1) / MSS
                flags = frozenset(row["flags"].split("|"))
                ms, payload = int(row["time_ns"]) / 1e6, int(row["payload_bytes"])
                sent[row["link"]].append(Segment(ms, number, payload, flags, int(row["ack"])))
    return sent["link_forward"], sent["link_reverse"]


def bursts(segments: int, every: str = "1s") -> dict[str, Any]:
    """An application that writes so many segments at once, `every` so often."""
    seconds = float(every.removesuffix("s"))
    size = segments * MSS
    return {"type": "CBR", "write": f"{size}B", "rate": f"{round(size * 8 / seconds)}bps"}


def is_due(gap_ms: float, timer_ms: float) -> bool:
    """Whether a timer ended when it should, to two ticks, of which its setting is rounded to."""
    return timer_ms - 1 <= gap_ms <= timer_ms * 9 / 8 + 2


def data(segments: list[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.payload]


def test_a_syn_is_repeated_each_second_five_times_and_then_after_twice_the_time(
    tmp_path: Path,
) -> None:
    """tcp_syn_linear_timeouts is 4, and tcp_syn_retries 6 further: the last after 67 s."""
    sent, _ = timeline(tmp_path, {"bytes": "1kB"}, stop="140s", lost=range(99))
    assert all(segment.flags == {"SYN"} for segment in sent)
    gaps = [later.ms - one.ms for one, later in pairwise(sent)]
    assert len(gaps) == 10
    for gap, seconds in zip(gaps, [1, 1, 1, 1, 1, 2, 4, 8, 16, 32], strict=True):
        assert is_due(gap, 1000 * seconds)


@pytest.mark.parametrize(("mode", "flags"), [(0, {"SYN"}), (1, {"SYN", "ECE", "CWR"})])
def test_ecn_is_asked_for_by_the_syn(mode: int, flags: set[str], tmp_path: Path) -> None:
    """RFC 3168 section 6.1.1; the answer has ECE alone."""
    sent, answered = timeline(tmp_path, {"bytes": "1kB"}, sysctls={"tcp_ecn": mode})
    assert sent[0].flags == flags
    assert answered[0].flags == {"SYN", "ACK"} | ({"ECE"} if mode else set())


def test_the_initial_window_is_ten_segments(tmp_path: Path) -> None:
    """RFC 6928."""
    sent, _ = timeline(tmp_path, {}, stop="100ms")
    first = data(sent)[0]
    assert len([one for one in data(sent) if one.ms < first.ms + RTT_MS]) == 10


def test_a_window_that_was_idle_for_a_timeout_is_ten_segments_again(tmp_path: Path) -> None:
    """RFC 2861 with tcp_slow_start_after_idle, which 0 turns off."""
    room = {"SndBufSize": 1_000_000, "RcvBufSize": 1_000_000}
    flights = []
    for restarts in (1, 0):
        sent, _ = timeline(
            tmp_path,
            bursts(40),
            stop="4s",
            sysctls={"tcp_slow_start_after_idle": restarts},
            tcp=room,
        )
        fourth = [one for one in data(sent) if one.ms > 3000]
        flights.append(len([one for one in fourth if one.ms < fourth[0].ms + RTT_MS]))
    assert flights == [10, 40]


def test_a_timeout_is_the_smoothed_rtt_and_200_ms_and_doubles(tmp_path: Path) -> None:
    """RFC 6298 section 5.5; tcp_rto_min_us is 200,000. Without a probe, tcp_early_retrans 0."""
    sent, _ = timeline(
        tmp_path, bursts(1), stop="5s", lost=range(2, 99), sysctls={"tcp_early_retrans": 0}
    )
    first = [one.ms for one in data(sent) if one.number == 0]
    gaps = [later - one for one, later in pairwise(first)]
    assert len(gaps) == 4
    for gap, times in zip(gaps, [1, 2, 4, 8], strict=True):
        assert is_due(gap, times * (RTT_MS + 200))


def test_a_lost_tail_is_probed_after_two_round_trips(tmp_path: Path) -> None:
    """RFC 8985 section 7.2: the last segment; its SACK shows what else is lost."""
    sent, answered = timeline(tmp_path, bursts(6), stop="1900ms", lost=[6, 7])
    acked = max(one.ms for one in answered if one.ms < data(sent)[0].ms + 2 * RTT_MS) + RTT_MS / 2
    assert [one.number for one in data(sent)] == [*range(6), 5, 4]
    probe, last = data(sent)[-2:]
    assert is_due(probe.ms - acked, 2 * RTT_MS)
    assert last.ms - probe.ms == pytest.approx(RTT_MS, abs=1 + RTT_MS / 4)


def test_a_segment_is_lost_when_three_later_ones_have_come(tmp_path: Path) -> None:
    """RFC 8985 section 6.2 step 4: no wait for reordering that was never seen."""
    sent, _ = timeline(tmp_path, bursts(10), stop="1900ms", lost=[4])
    assert [one.number for one in data(sent)] == [*range(10), 2]
    once, again = (one for one in data(sent) if one.number == 2)
    assert 0 <= again.ms - once.ms - RTT_MS < WIRE_MS


def test_in_a_bulk_transfer_every_second_segment_is_acknowledged(tmp_path: Path) -> None:
    """RFC 5681 section 4.2: at least every second one, once quick ACKs are used up."""
    sent, answered = timeline(tmp_path, {}, stop="1s", tcp={"RcvBufSize": 1_000_000})
    late = [len([one for one in side if one.ms > 500]) for side in (data(sent), answered)]
    assert 1.8 < late[0] / late[1] <= 2.1


def test_a_single_segment_is_acknowledged_after_40_ms(tmp_path: Path) -> None:
    """TCP_DELACK_MIN, within the 500 ms of RFC 1122 section 4.2.3.2.

    Five segments come at once, then nothing for a round trip of 100 ms. The first four are
    acknowledged at once: quick ACKs of a new connection, and a segment with PSH that has been read.
    """
    sent, answered = timeline(
        tmp_path, {}, stop="199ms", delay="50ms", tcp={"InitialCwnd": 5, "RcvBufSize": 8000}
    )
    wire_ms = (MSS + 54) * 8 / 100e3
    came = [data(sent)[0].ms + 50 + number * wire_ms for number in range(1, 6)]
    acked = {(one.ack - 1) / MSS: one.ms for one in answered if one.ack > 1}
    assert sorted(acked) == [1, 2, 3, 4, 5]
    for number in range(1, 5):
        assert 0 <= acked[number] - came[number - 1] < 0.1
    assert is_due(acked[5] - came[4], 40)


def test_a_window_that_stays_closed_is_probed_after_a_timeout_and_then_ever_more_rarely(
    tmp_path: Path,
) -> None:
    """RFC 9293 section 3.8.6.1; a probe has no data, and a number that was acknowledged.

    What fills a hole fills the receiver's whole buffer; the application reads at once, and the
    ACK that opens the window again is lost, as are all others behind it.
    """
    small = {"SegmentSize": 400, "InitialCwnd": 40, "RcvBufSize": 6000}
    _, answered = timeline(tmp_path, {}, stop="70ms", lost=[2], tcp=small)
    closed = next(i for i, one in enumerate(answered) if one.ack > 1)
    assert answered[closed + 1].ack == answered[closed].ack
    sent, answered = timeline(
        tmp_path, {}, stop="4s", lost=[2], lost_answers=range(closed + 1, 99), tcp=small
    )
    probes = [one for one in sent if one.ms > answered[closed].ms]
    assert {(one.payload, one.number * MSS + 1) for one in probes} == {
        (0, answered[closed].ack - 1)
    }
    times = [answered[closed].ms + RTT_MS / 2, *(one.ms for one in probes)]
    gaps = [later - one for one, later in pairwise(times)]
    assert len(gaps) == 4
    for gap, factor in zip(gaps, [1, 2, 4, 8], strict=True):
        assert is_due(gap, factor * (RTT_MS + 200))
