"""CUBIC beyond Reno: the cubic region of RFC 9438 under random losses, by the law itself."""

from __future__ import annotations

import random
from math import sqrt
from statistics import fmean, stdev

import pytest

from catalogue.runs import NATIVE, SEGMENT_BITS
from ccperf import campaign
from ccperf.experiments.topologies.shorthand import dumbbell

C, BETA = 0.4, 0.7
#: In s, and the probability that a packet is lost.
RTT, P = 0.2, 1e-4


def epochs(fast_convergence: bool, count: int) -> list[tuple[float, float]]:
    """Packets sent and time taken between losses, by the law alone: RFC 9438, sections 4.2 (the
    curve), 4.3 (not below Reno), 4.6 and 4.7, round trip by round trip, with losses after
    exponentially many packets."""
    draw = random.Random(1)
    window = before = plateau = (RTT / P) ** 0.75
    found = []
    for _ in range(count):
        start = reno = BETA * window
        k = max(0.0, (plateau - start) / C) ** (1 / 3)
        left, time, window = draw.expovariate(P), 0.0, start
        packets = left
        while left > window:
            left -= window
            time += RTT
            reno += 3 * (1 - BETA) / (1 + BETA)
            window = max(window, reno, C * (time - k) ** 3 + plateau)
        time += RTT * left / window
        shrinks = fast_convergence and window < before
        plateau = window * (1 + BETA) / 2 if shrinks else window
        before = window
        found.append((packets, time))
    return found


def mean_window(found: list[tuple[float, float]]) -> float:
    """In segments."""
    return RTT * sum(packets for packets, _ in found) / sum(time for _, time in found)


def test_the_law_has_the_mean_that_is_published_for_random_losses() -> None:
    """S. Poojary, V. Sharma, "Asymptotic approximations for TCP CUBIC", 2015: without fast
    convergence 1.3004 (RTT / p)^(3/4), against 1.054 where losses come at equal distances. Three
    standard errors of a mean of exponential numbers of packets."""
    count = 4000
    assert mean_window(epochs(False, count)) == pytest.approx(
        1.3004 * (RTT / P) ** 0.75, rel=3 / sqrt(count)
    )


@pytest.mark.parametrize("fast_convergence", [True, False])
def test_cubic_above_reno_follows_its_curve_under_random_losses(fast_convergence: bool) -> None:
    """Three standard errors over the seeds, and what the law leaves out: a round trip of recovery
    at each loss, which is RTT / E[time between losses] of the packets at most."""
    cubic = {"type": "TcpCubic", "attributes": {"FastConvergence": str(fast_convergence).lower()}}
    windows = []
    for seed in range(1, 6):
        scenario = dumbbell(
            rate="1Gbps",
            qlen="20000p",
            rtts=["200ms"],
            cc=[cubic],
            loss=P,
            seed=seed,
            stop_time="200s",
        )
        result = campaign.simulate(campaign.Point(scenario), NATIVE)
        received = result.recording.flow_samples.array("received_bytes")
        # The last three quarters: slow start ends at the first loss, far above the mean.
        quarter = len(received) // 4
        segments = (received[-1] - received[quarter]) * 8 / SEGMENT_BITS
        windows.append(float(segments) / 150 * RTT)
    law = epochs(fast_convergence, 4000)
    theory = mean_window(law)
    recovery = RTT / fmean(time for _, time in law)
    error = 3 * stdev(windows) / sqrt(len(windows))
    assert theory * (1 - recovery) - error <= fmean(windows) <= theory + error
    # Reno's would be far below.
    assert theory > 2 * sqrt(1.5 / P)
