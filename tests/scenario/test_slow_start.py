"""Slow starts that a scenario names, in whole runs."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import pytest

from ccperf.runs.backends import get
from ccperf.scenario import Scenario

#: 100 Mbps, 20 ms and a queue of three bandwidth-delay products, which slow start overshoots.
PATH: dict[str, Any] = {
    "stop_time": "3s",
    "nodes": ["a", "r", "b"],
    "links": [
        {"name": "in", "ends": ["a", "r"], "rate": "10Gbps", "delay": "1us"},
        {
            "name": "bottleneck",
            "ends": ["r", "b"],
            "rate": "100Mbps",
            "delay": "10ms",
            "forward": {
                "qdisc": {"type": "fifo", "attributes": {"MaxSize": "750000B"}},
                "device_queue": "1p",
            },
        },
    ],
}


def run(cc: Any, **tcp: str) -> tuple[int, float]:
    """Segments retransmitted, and throughput in Mbps over the last second."""
    flow = {
        "source": "a",
        "destination": "b",
        "cc": cc,
        "recovery": "PrrRfc6937",
        "tcp": {"SegmentSize": 1448, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000, **tcp},
    }
    recording = get("native").simulate(Scenario.model_validate({**PATH, "flows": [flow]}))
    samples = recording.flow_samples
    late = samples["acked_bytes"][samples["time_ns"] >= 2_000_000_000]
    return recording.flows["retransmissions"][0], (late[-1] - late[0]) * 8 / 1e6


def test_hystart_pp_loses_a_fifth_of_what_plain_slow_start_does() -> None:
    """Both count bytes (RFC 9406 section 4.3; RFC 3465). A longer round trip, by
    4 ms or a fifth of the path's, is noticed long before the queue of 60 ms is full.
    """
    plain = {"type": "cubic", "attributes": {"HyStart": "false"}}
    lost, _ = run(plain)
    lost_after_all, throughput = run("cubic", SlowStart="HyStart++")
    assert lost > 500
    assert lost_after_all < lost / 4
    assert throughput > 90


def test_any_algorithm_can_have_it() -> None:
    assert run("newreno", SlowStart="HyStart++") != run("newreno", SlowStart="Standard")
    assert run("vegas", SlowStart="HyStart++") != run("vegas")


def test_the_algorithm_has_its_own_unless_another_is_named() -> None:
    own = run("cubic")
    assert own == run("cubic", SlowStart="Own") == run("cubic", SlowStart="HyStart")
    assert run("newreno") == run("newreno", SlowStart="Standard")


def test_an_algorithm_that_has_the_window_alone_keeps_its_own() -> None:
    assert run("bbr") == run("bbr", SlowStart="HyStart++")


#: Beyond the path above: rate in Mbps, RTT in ms, and jitter in ms on top.
PATHS = {
    "100 Mbps, 20 ms": (100, 20, 0),
    "100 Mbps, 200 ms": (100, 200, 0),
    "50 Mbps, 600 ms": (50, 600, 0),
    "100 Mbps, 60 ms, jitter of 12 ms": (100, 60, 12),
    "10 Mbps, 5 ms": (10, 5, 0),
}
#: In bandwidth-delay products.
BUFFER = 8
#: Of a sample, as the recording has them for runs as long as these.
SAMPLED_MS = 30


class Exit(NamedTuple):
    """Where slow start ended: `window` and `queue` in bandwidth-delay products."""

    at_ms: float
    window: float
    queue: float
    lost: int


def exit_of(start: str, rate: int, rtt: int, jitter: int) -> Exit:
    bdp = rate * rtt * 125
    path: dict[str, Any] = copy.deepcopy(PATH) | {"stop_time": f"{max(3000, 60 * rtt)}ms"}
    link = path["links"][1] | {"rate": f"{rate}Mbps", "delay": f"{rtt / 2}ms"}
    link["forward"]["qdisc"]["attributes"]["MaxSize"] = f"{BUFFER * bdp}B"
    if jitter:
        delay = f"Uniform(min=0s,max={jitter}ms)"
        link["forward"]["jitter"] = {"delay": delay, "keep_order": True}
    path["links"][1] = link
    buffers = {"SegmentSize": 1448, "SndBufSize": 1 << 27, "RcvBufSize": 1 << 27}
    flow: dict[str, Any] = {"source": "a", "destination": "b", "cc": "newreno"}
    flow |= {"recovery": "PrrRfc6937", "tcp": buffers | {"SlowStart": start}}
    recording = get("native").simulate(Scenario.model_validate({**path, "flows": [flow]}))
    samples = recording.flow_samples
    ssthresh = samples["ssthresh_bytes"]
    at = int(((ssthresh > 0) & (ssthresh < 1 << 31)).argmax())
    window = samples["cwnd_bytes"][at] * 1502 / 1448 / bdp
    queue = samples["srtt_ns"][at] / (rtt * 1e6) - 1
    lost = int(recording.flows["retransmissions"][0])
    return Exit(samples["time_ns"][at] / 1e6, float(window), float(queue), lost)


def fluid_exit() -> float:
    """The window, in bandwidth-delay products, at which SEARCH ends slow start without a limit of
    the queue: everything is fluid, what is delivered doubles each round trip until the link
    is full at time 0 (in round trips), and two bytes leave for each that is delivered. Then
    D(t) = 1 / ln 2 + t is delivered and S(t) = 2 D(t) sent, before it 2^t / ln 2 and twice that. An
    ACK at t is of what was sent at S^-1(D(t)).
    """

    def delivered(t: float) -> float:
        return (2**t if t < 0 else 1 + t * math.log(2)) / math.log(2)

    def difference(t: float) -> float:
        half = delivered(t) / 2
        left = math.log2(half * math.log(2)) if half < 1 / math.log(2) else half - 1 / math.log(2)
        sent = 2 * (delivered(left) - delivered(left - 3.5))
        return 1 - (delivered(t) - delivered(t - 3.5)) / sent

    t = 0.0
    while difference(t) < 0.26:
        t += 1e-3
    return delivered(t)


def test_search_ends_slow_start_where_the_fluid_says() -> None:
    """At 5.3 bandwidth-delay products; a bin of 0.35 RTT and a sample later at most, while the
    window grows by one a round trip. Windows double in steps: so rates at which the link is full at
    several moments of a step.
    """
    law = fluid_exit()
    assert law == pytest.approx(5.3, abs=0.05)
    windows = [exit_of("Search", rate, 600, 0).window for rate in (40, 46, 53, 60, 70, 80)]
    assert law < sum(windows) / len(windows) < law + 0.35 + SAMPLED_MS / 600


def test_search_beside_hystart() -> None:
    """SEARCH is meant to end it after the link is full, and before a loss, where HyStart ends it
    early: with Linux's thresholds on a long path, at 0.7 of the bandwidth-delay product. Where
    the first window alone is more than two of these, nothing doubles, and SEARCH sees nothing.
    """
    found = {
        name: {start: exit_of(start, *path) for start in ("HyStartLinux", "HyStart++", "Search")}
        for name, path in PATHS.items()
    }
    for name, exits in found.items():
        for start, seen in exits.items():
            numbers = f"{seen.at_ms:.0f} | {seen.window:.1f} | {seen.queue:.1f} | {seen.lost}"
            print(f"| {name} | {start} | {numbers} |")
    small = found.pop("10 Mbps, 5 ms")
    assert small["Search"].lost > small["HyStart++"].lost > 0
    for name, exits in found.items():
        assert exits["Search"].lost == 0, name
        assert exits["Search"].window > 4, name
        assert exits["HyStartLinux"].at_ms < exits["Search"].at_ms < exits["HyStart++"].at_ms, name
    assert found["100 Mbps, 200 ms"]["HyStartLinux"].window < 0.8
