"""Slow starts that a scenario names, in whole runs."""

from __future__ import annotations

from typing import Any

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
