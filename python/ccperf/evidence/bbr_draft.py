"""Whether an algorithm passes the test cases of BBR's draft (draft-ietf-ccwg-bbr-06, appendix A).

The draft asks for values of BBR's variables. What is looked at here are their consequences, which
any algorithm has: the estimate of the bandwidth is the pacing rate, or cwnd over sRTT of what does
not pace; a phase is where that is a certain multiple of what the path carries.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ccperf.runs.recording import Recording

    Floats = npt.NDArray[np.float64]

SEGMENT = 1448
#: Payload of what a link carries: 1448 of 1502 bytes (PPP, IP, TCP with timestamps).
GOODPUT = SEGMENT / 1502
#: BBR paces at so much of its estimate (section 2.5, PacingMarginPercent).
MARGIN = 0.99
#: At it, ns-3's default of the highest rate, nobody paces; in Mbps.
_UNPACED = 3000.0


class Verdict(NamedTuple):
    passed: bool
    #: What was measured, in words.
    figure: str


@dataclass(frozen=True)
class Case:
    #: What has to be seen for it to be passed.
    asks: str
    judge: Callable[[Seen], Verdict]


class Seen:
    """What a run shows of its flow: times in s, rates in Mbps, data in bytes."""

    def __init__(self, recording: Recording, rate: float = 100.0, rtt: float = 0.020) -> None:
        samples = recording.flow_samples

        def column(name: str) -> Floats:
            return np.asarray(samples[name], float)

        self.time = column("time_ns") / 1e9
        self.cwnd = column("cwnd_bytes")
        self.in_flight = column("in_flight_bytes")
        self.srtt = column("srtt_ns") / 1e9
        self.acked = column("acked_bytes")
        self.sent = column("sent_bytes")
        self.lost = column("retransmissions")
        pace = column("pacing_rate_bps") / 1e6
        by_window = 8e-6 * self.cwnd / np.maximum(self.srtt, rtt)
        self.paces = bool(0 < np.median(pace) < _UNPACED)
        #: The estimate times the gain of the phase.
        self.rate: Floats = pace / MARGIN if self.paces else by_window
        self.carried = rate * GOODPUT
        self.rtt = rtt
        self.bdp = 1e6 / 8 * self.carried * rtt
        #: What leaves together under the profile `linux`: what the rate carries in a 1024th of a
        #: second; of a BDP.
        self.burst = 1 / 1024 / rtt

    def between(self, begin: float, end: float) -> npt.NDArray[np.bool_]:
        return (self.time >= begin) & (self.time < end)

    def goodput(self, begin: float, end: float) -> float:
        acked = self.acked[self.between(begin, end)]
        return float(acked[-1] - acked[0]) * 8e-6 / (end - begin)

    def lost_share(self, begin: float, end: float) -> float:
        """Of what was sent."""
        within = self.between(begin, end)
        sent, lost = (float(np.ptp(of[within])) for of in (self.sent, self.lost))
        return lost * SEGMENT / sent

    def median(self, values: Floats, begin: float, end: float) -> float:
        return float(np.median(values[self.between(begin, end)]))

    def phases(
        self, low: float, high: float, begin: float = 0.0, end: float = np.inf
    ) -> list[tuple[float, float]]:
        """When the rate is between these multiples of what the path carries: begin and end."""
        gain = self.rate / self.carried
        is_in = (gain > low) & (gain < high) & self.between(begin, end)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], is_in, [False])).astype(int)))
        return [
            (float(self.time[i]), float(self.time[min(j, len(self.time) - 1)]))
            for i, j in edges.reshape(-1, 2)
        ]


def _startup(seen: Seen) -> Verdict:
    estimate = seen.median(seen.rate, 2, 4) / seen.carried
    starts = seen.phases(1.5, 10)
    end = max((end for _, end in starts), default=0.0)
    figure = f"estimate {100 * (estimate - 1):+.1f} %, start-up ends at {end:.2f} s"
    return Verdict(abs(estimate - 1) <= 0.02 and end < 2, figure)


def _startup_loss(seen: Seen) -> Verdict:
    before, after = seen.median(seen.rate, 0.5, 1), seen.median(seen.rate, 1.4, 2)
    return Verdict(after < 0.6 * before, f"pacing rate {before:.0f} to {after:.0f} Mbps")


def _drain(seen: Seen) -> Verdict:
    slow = [(b, e) for b, e in seen.phases(0.3, 0.65, 0, 2) if e - b >= 0.004]
    least = float(seen.in_flight[seen.between(0.2, 1)].min()) / seen.bdp
    length = 1e3 * sum(e - b for b, e in slow)
    figure = f"{length:.0f} ms at half the estimate, in flight down to {least:.2f} BDP"
    return Verdict(bool(slow) and least <= 1.05, figure)


def _drain_time(seen: Seen) -> Verdict:
    slow = [(b, e) for b, e in seen.phases(0.3, 0.65, 0.1, 2) if e - b >= 0.004]
    length = max((e - b for b, e in slow), default=0.0)
    # Round trips with the queue that start-up has left.
    rounds = length / seen.median(seen.srtt, 0.25, 0.35)
    return Verdict(0 < rounds <= 4, f"{rounds:.1f} round trips at half the estimate")


def _probe_up(seen: Seen) -> Verdict:
    ups = [(b, e) for b, e in seen.phases(1.15, 1.4, 1.5) if e - b >= 0.01]
    longest = max((e - b for b, e in ups), default=0.0) / seen.rtt
    lost = int(seen.lost[-1] - seen.lost[seen.between(1.5, 2)][0])
    figure = f"{len(ups)} probes, the longest {longest:.1f} round trips, {lost} retransmissions"
    return Verdict(0 < longest <= 10 and lost == 0, figure)


def _probe_up_loss(seen: Seen) -> Verdict:
    before, after = seen.median(seen.rate, 9.5, 10), seen.median(seen.rate, 10.3, 10.6)
    return Verdict(after < 0.85 * before, f"pacing rate {before:.0f} to {after:.0f} Mbps")


def _stays(seen: Seen) -> Verdict:
    rates = [seen.median(seen.rate, second, second + 1) for second in range(1, 11)]
    figure = f"pacing rate {rates[0]:.0f} Mbps at first, then {min(rates):.0f} to {max(rates):.0f}"
    return Verdict(min(rates) > 0.9 * rates[0] and min(rates) > 2 * 40, figure)


def _probe_down(seen: Seen) -> Verdict:
    downs = [(b, e) for b, e in seen.phases(0.85, 0.95, 1.5, 5) if e - b >= 0.01]
    ends = [float(seen.in_flight[seen.between(e - 0.002, e + 0.004)].min()) for _, e in downs]
    most = max(ends, default=0.0) / seen.bdp
    figure = f"{len(downs)} times, in flight {most:.2f} BDP at the end"
    return Verdict(bool(downs) and most <= 1.02 + seen.burst, figure)


def _probe_down_time(seen: Seen) -> Verdict:
    ups = [b for b, e in seen.phases(1.12, 1.5, 1.7) if e - b >= 0.004]
    if not ups:
        return Verdict(False, "no further probe")
    level = sum(e - b for b, e in seen.phases(0.96, 1.06, 1.64, ups[0]))
    figure = f"next probe {ups[0] - 1.63:.2f} s later, {1e3 * level:.0f} ms of that level"
    # Refilling is a round trip at the estimate, with a queue.
    return Verdict(level <= 3 * seen.rtt, figure)


def _low_phases(seen: Seen, begin: float, end: float) -> list[tuple[float, float]]:
    """When in flight is at half of what is usual, for 100 ms at least."""
    usual = float(np.median(seen.in_flight[seen.between(begin, end)]))
    is_low = (seen.in_flight < 0.65 * usual) & seen.between(begin, end)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_low, [False])).astype(int)))
    pairs = [(float(seen.time[i]), float(seen.time[j - 1])) for i, j in edges.reshape(-1, 2)]
    return [(b, e) for b, e in pairs if e - b >= 0.1]


def _probe_rtt(seen: Seen) -> Verdict:
    low = _low_phases(seen, 2, 20)
    gaps = [b - a for (a, _), (b, _) in itertools.pairwise(low)]
    lengths = [e - b for b, e in low]
    passed = len(low) >= 3 and all(5 <= gap <= 5.6 for gap in gaps)
    passed = passed and all(0.18 <= length <= 0.3 for length in lengths)
    if not low:
        return Verdict(False, "never")
    figure = f"{len(low)} times, {min(gaps or [0]):.1f} to {max(gaps or [0]):.1f} s apart, "
    return Verdict(passed, figure + f"{1e3 * max(lengths):.0f} ms at most")


def _skips_probe_rtt(seen: Seen) -> Verdict:
    low = _low_phases(seen, 15.2, 18)
    return Verdict(not low, f"{len(low)} times at half after 6 s of silence")


def _aggregation(begin: float, end: float) -> Callable[[Seen], Verdict]:
    def judge(seen: Seen) -> Verdict:
        used = seen.goodput(begin, end) / seen.carried
        window = seen.median(seen.cwnd, begin, end) / seen.bdp
        return Verdict(used > 0.95, f"{100 * used:.1f} % of the link, cwnd {window:.1f} BDP")

    return judge


def _sub_packet(seen: Seen) -> Verdict:
    seen.carried = 0.5 * GOODPUT
    least = float(seen.cwnd[seen.between(1, 12)].min()) / SEGMENT
    used = seen.goodput(4, 12) / seen.carried
    figure = f"cwnd at least {least:.0f} segments, {100 * used:.0f} % of the link"
    return Verdict(least >= 4 and used > 0.95, figure)


def _up(seen: Seen) -> Verdict:
    found = next(
        (t for t in np.arange(8, 11.8, 0.05) if seen.goodput(t, t + 0.2) > 0.9 * seen.carried),
        np.inf,
    )
    # At most 63 rounds until the next probe, and log2 of the ratio of windows, twice.
    return Verdict(found - 8 <= 2, f"90 % of the new rate after {found - 8:.2f} s")


def _down(seen: Seen) -> Verdict:
    estimate = seen.median(seen.rate, 18, 20) / (seen.carried / 10)
    late = seen.time[(seen.rate > 0.15 * seen.carried) & seen.between(4, 18)]
    last = float(late[-1]) - 4 if len(late) else 0.0
    figure = f"estimate {100 * (estimate - 1):+.0f} %, no more above 1.5 times after {last:.1f} s"
    return Verdict(abs(estimate - 1) <= 0.05, figure)


def _policer(seen: Seen) -> Verdict:
    share = seen.lost_share(5, 20)
    used = seen.goodput(5, 20) / (10 * GOODPUT)
    figure = f"{100 * used:.0f} % of the token rate, {100 * share:.1f} % lost"
    return Verdict(used > 0.8 and share < 0.05, figure)


def _spurious(begin: float) -> Callable[[Seen], Verdict]:
    def judge(seen: Seen) -> Verdict:
        before, after = seen.goodput(5, 6), seen.goodput(begin, begin + 1)
        figure = f"{before:.1f} Mbps before, {after:.1f} after"
        return Verdict(after > 0.95 * before, figure)

    return judge


def _probe_rtt_in_startup(seen: Seen) -> Verdict:
    before, after = seen.median(seen.rate, 3, 4.5), seen.median(seen.rate, 6, 8)
    low = float(seen.cwnd[seen.between(4.8, 5.8)].min()) / seen.median(seen.cwnd, 3, 4.5)
    figure = (
        f"cwnd {low:.2f} of what it was; pacing rate {before:.0f} Mbps before, {after:.0f} after"
    )
    return Verdict(low < 0.6 and after > 0.9 * before, figure)


def _probe_up_shallow(seen: Seen) -> Verdict:
    ups = [(b, e) for b, e in seen.phases(1.15, 1.4, 1.5) if e - b >= 0.004]
    longest = max((e - b for b, e in ups), default=0.0) / seen.rtt
    share = seen.lost_share(1.5, 12)
    figure = f"{len(ups)} probes, the longest {longest:.1f} round trips, {100 * share:.2f} % lost"
    return Verdict(0 < longest <= 5 and 0 < share < 0.02, figure)


def _refill(seen: Seen) -> Verdict:
    estimate = seen.median(seen.rate, 2, 12) / seen.carried
    return Verdict(abs(estimate - 1) < 0.05, f"estimate {100 * (estimate - 1):+.1f} %")


CASES: dict[str, Case] = {
    "1": Case(
        "estimate within 2 %; no rate above 1.5 times the link's after 2 s",
        _startup,
    ),
    "2": Case(
        "20 % lost for 200 ms: the pacing rate falls to less than 0.6",
        _startup_loss,
    ),
    "3": Case(
        "a phase at half the estimate, until in flight is a BDP",
        _drain,
    ),
    "4": Case(
        "10 % less bandwidth: that phase lasts three round trips, four with the sampling",
        _drain_time,
    ),
    "5": Case(
        "probes in a deep buffer end after ten round trips at most, without a loss",
        _probe_up,
    ),
    "6": Case(
        "20 % lost for 200 ms: the pacing rate falls to less than 0.85",
        _probe_up_loss,
    ),
    "7": Case(
        "paces at more than twice what the application writes, for 10 s",
        _stays,
    ),
    "8": Case(
        "phases at 0.9 of the estimate end with a BDP and a burst in flight",
        _probe_down,
    ),
    "9": Case(
        "10 % less bandwidth: no more than three round trips at the estimate before the next probe",
        _probe_down_time,
    ),
    "10": Case(
        "half in flight every 5 s, for 200 ms and a round trip",
        _probe_rtt,
    ),
    "11": Case(
        "no such phase in 3 s after 6 s of silence",
        _skips_probe_rtt,
    ),
    "12": Case(
        "ACKs in bursts of 10 ms: 95 % of the link from 1 to 4 s",
        _aggregation(1, 4),
    ),
    "13": Case(
        "the same from 4 to 12 s",
        _aggregation(4, 12),
    ),
    "14": Case(
        "500 kbps, 4 ms: four segments at least, 95 % of the link",
        _sub_packet,
    ),
    "15": Case(
        "90 % within 2 s: 63 round trips, and a few that grow with log(BDP)",
        _up,
    ),
    "16": Case(
        "estimate within 5 % after two cycles: 14 s, as PROBE_RTT makes a probe wait anew",
        _down,
    ),
    "17": Case(
        "80 % of 10 Mbps, less than 5 % lost",
        _policer,
    ),
    "18": Case(
        "a path that becomes 5 ms shorter: 95 % of the throughput a second later",
        _spurious(7),
    ),
    "19": Case(
        "100 ms of packets that come 400 ms late: the same two seconds later",
        _spurious(8),
    ),
    "20": Case(
        "application-limited: a low phase after 5 s, then the rate of start-up again",
        _probe_rtt_in_startup,
    ),
    "21": Case(
        "a buffer of a tenth of the BDP: probes lose, and end within five round trips; 2 % lost "
        "at most",
        _probe_up_shallow,
    ),
    "22": Case(
        "pauses of 60 ms everywhere: the estimate stays within 5 %",
        _refill,
    ),
}


def judge(case: str, recording: Recording) -> Verdict:
    """Whether a run of the experiment `bbr_draft` passes its case."""
    passed, figure = CASES[case].judge(Seen(recording))
    return Verdict(bool(passed), figure)
