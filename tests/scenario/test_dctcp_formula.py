"""Two DCTCP flows against the closed form of M. Alizadeh et al., ACM SIGCOMM 2010, section 3.3.

N flows in step over a link of C and a base round trip T, marked from K packets on:

    W* = (C T + K) / N
    alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2
    D = (W* + 1) alpha / 2

The queue is from K + N - N D to K + N, windows are from W* + 1 - D to W* + 1, and a period is D
round trips.
"""

from __future__ import annotations

import numpy as np
import pytest

import ccperf
from ccperf.experiments.topologies import FabricLink, SwitchPort, star
from ccperf.runs.result import Result

RATE, K, FLOWS = 10e9, 40, 2
#: Of a full packet: 1448 B of payload, 52 B of headers, PPP.
WIRE = 1502
LINK_DELAY_US = 12.5
#: There and back over two links, each of which sends the packet whole (the ACK of 54 B, too).
ROUND_TRIP = 4 * LINK_DELAY_US * 1e-6 + 2 * 8 * (WIRE + 54) / RATE


@pytest.fixture(scope="module")
def run() -> Result:
    red = {
        "type": "StepRedQueueDisc",
        "attributes": {"MarkingThreshold": f"{K}p", "MaxSize": "600p"},
    }
    fabric = star(
        FLOWS + 1,
        FabricLink("10Gbps", f"{LINK_DELAY_US}us"),
        port=SwitchPort(red, "1p"),
    )
    *senders, receiver = fabric.hosts
    flows = [{"source": sender, "destination": receiver, "stack": "dc"} for sender in senders]
    return ccperf.simulate(
        fabric.scenario(
            flows,
            stop_time="100ms",
            stacks=[{"name": "dc", "profile": "datacentre"}],
            recording={
                "interval": "10us",
                "queues": {"links": [f"{receiver}_reverse"], "interval": "5us"},
            },
        )
    )


def formula() -> tuple[float, float, float, float]:
    """W*, alpha, D, and what is queued on average, in packets."""
    window = (RATE * ROUND_TRIP / 8 / WIRE + K) / FLOWS
    # By bisection; the left side grows with alpha.
    low, high = 0.0, 1.0
    for _ in range(50):
        alpha = (low + high) / 2
        if alpha**2 * (1 - alpha / 4) < (2 * window + 1) / (window + 1) ** 2:
            low = alpha
        else:
            high = alpha
    depth = (window + 1) * alpha / 2
    return window, alpha, depth, K + FLOWS - FLOWS * depth / 2


def queue(run: Result) -> np.ndarray:
    samples = run.recording.queue_samples
    assert samples is not None
    lengths = samples.array("qdisc_packets")
    return lengths[len(lengths) // 5 :]


def test_the_queue_moves_between_the_bounds_of_the_formula_to_a_packet(run: Result) -> None:
    _, _, depth, _ = formula()
    low, high = np.percentile(queue(run), (1, 99))
    assert low == pytest.approx(K + FLOWS - FLOWS * depth, abs=1)
    assert high == pytest.approx(K + FLOWS, abs=1)


def test_windows_are_those_of_the_formula_to_a_segment(run: Result) -> None:
    window, _, depth, _ = formula()
    segments = run.recording.flow_samples.array("cwnd_bytes") / 1448
    low, high = np.percentile(segments[len(segments) // 5 :], (1, 99))
    assert high == pytest.approx(window + 1, abs=1.5)
    assert low == pytest.approx(window + 1 - depth, abs=1.5)


def test_the_period_is_as_many_round_trips_as_the_window_falls_by(run: Result) -> None:
    _, _, depth, mean_queue = formula()
    lengths = queue(run) - queue(run).mean()
    power = np.abs(np.fft.rfft(lengths)) ** 2
    period = len(lengths) * 5e-6 / (1 + np.argmax(power[1:]))
    round_trip = ROUND_TRIP + mean_queue * 8 * WIRE / RATE
    assert period == pytest.approx(depth * round_trip, rel=0.1)


def test_the_share_of_marked_packets_is_alpha(run: Result) -> None:
    _, alpha, _, _ = formula()
    links = run.recording.links
    marked = links.array("qdisc_marked").sum() / links.array("qdisc_enqueued").max()
    assert marked == pytest.approx(alpha, rel=0.1)
