"""The engine's profile ``linux`` beside the kernel itself: where their segments part."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.runs.backends import get
from ccperf.runs.backends.linux import backend
from ccperf.scenario import Scenario
from ccperf.verify import linux

#: Rate, one-way delay and queue; of each, less than one bandwidth-delay product, one, and more.
PATHS = {
    "dumbbell": ("16Mbps", "7.5ms", "20p"),
    "fast": ("100Mbps", "10ms", "250000B"),
    "long": ("16Mbps", "50ms", "100p"),
}
SIZES = {"SegmentSize": 1448, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
OF_LINUX = {"Profile": "linux", "MinRto": "200ms", "ConnTimeout": "1s"}


def scenario(path: str, cc: str, stop: str, tcp: dict[str, Any], loss: float = 0) -> Scenario:
    rate, delay, queue = PATHS[path]
    forward = {"device_queue": "1p", "qdisc": {"type": "fifo", "attributes": {"MaxSize": queue}}}
    if loss:
        forward["loss"] = loss
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "nodes": ["a", "r", "b"],
            "links": [
                {"name": "in", "ends": ["a", "r"], "rate": "10Gbps", "delay": "1us"},
                {
                    "name": "bottleneck",
                    "ends": ["r", "b"],
                    "rate": rate,
                    "delay": delay,
                    "forward": forward,
                },
            ],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "cc": cc,
                    "recovery": "TcpPrrRecovery",
                    "tcp": {**SIZES, **tcp},
                }
            ],
        }
    )


def test_cubic_on_a_fast_path_loses_what_linux_loses_and_never_waits_for_a_timeout() -> None:
    """100 Mbps, 20 ms, 250 kB: Linux 6.12 retransmitted 29 segments in 60 s, ns-3's CUBIC 147 (the
    review of the field, section 2): HyStart ends slow start before the queue is full.
    """
    flows = get("native").simulate(scenario("fast", "TcpCubic", "60s", OF_LINUX)).flows
    assert flows["retransmissions"][0] < 45
    assert flows["rtos"][0] == 0


@pytest.mark.parametrize("cc", ["TcpCubic", "bbr"])
def test_lost_retransmissions_cost_no_timeout(cc: str) -> None:
    """RACK finds them (RFC 8985), which RFC 6675 does not: one segment in fifty is lost."""
    lossy = scenario("fast", cc, "5s", OF_LINUX, loss=0.02)
    flows = get("native").simulate(lossy).flows
    assert flows["retransmissions"][0] > 20
    assert flows["rtos"][0] == 0


@pytest.mark.kernel
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpLinuxReno"])
def test_segments_are_those_of_the_kernel_until_the_first_loss(cc: str, path: str) -> None:
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    sides = [
        linux.traced(scenario(path, cc, "1s", tcp), side)
        for tcp, side in ((OF_LINUX, get("native")), ({}, theirs))
    ]
    (found,) = linux.partings(*sides)
    (ours,), (kernels,) = (side.segments.values() for side in sides)
    repeated = [segment.seq for segment in kernels]
    first = next(
        (i for i, seq in enumerate(repeated) if seq < max(repeated[: i + 1])), len(repeated)
    )
    assert found.common >= min(first, len(ours))
