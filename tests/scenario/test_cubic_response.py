"""CUBIC's response function under random losses (RFC 9438, section 5.1, table 1).

The table (38, 187 and 1,054 segments at p = 1e-3, 1e-4 and 1e-5 with a round trip of 100 ms) is of
losses at equal distances, every 1 / p segments. Random ones are geometric in their distance, and
the window at a loss is another each time. With W = (RTT / p)^(3/4) w and t = (RTT / p)^(1/4) s the
law of the window, W(t) = C (t - K)^3 + W_max, has neither RTT nor p in it, so that the correction
is one number for all: 1.12 with fast convergence. Where Reno's window is larger, as at 1e-3, the
law is the larger of both (section 4.3), and the correction that of both.
"""

from __future__ import annotations

import numpy as np
import pytest

from ccperf.runs.backends import get
from ccperf.scenario import Scenario

BETA, C = 0.7, 0.4
RTT = 0.1
SEGMENT = 1448
TABLE = {1e-3: 38, 1e-4: 187, 1e-5: 1054}


def law(p: float, *, is_friendly: bool = True) -> tuple[float, float]:
    """The mean window in segments under random losses, and the coefficient of variation of the time
    between two: 500 flows, round trip by round trip.
    """
    rng = np.random.default_rng(1)
    flows = 500
    plateau = np.full(flows, (RTT / p) ** 0.75)
    start = BETA * plateau
    last = plateau.copy()
    t = np.zeros(flows)
    left = rng.exponential(1 / p, flows)
    sent = rounds = 0.0
    times = []
    between = 1.13 * (RTT / p) ** 0.25 / RTT  # round trips, about
    for n in range(int(60 * between)):
        k = np.cbrt(np.maximum(plateau - start, 0) / C)
        window = C * (t - k) ** 3 + plateau
        if is_friendly:  # section 4.3
            window = np.maximum(window, start + 3 * (1 - BETA) / (1 + BETA) * t / RTT)
        is_lost = left <= window
        left -= window
        t += RTT
        if n > 10 * between:
            sent += window.sum()
            rounds += flows
            times.append(t[is_lost])
        now = window[is_lost]
        # Section 4.7: fast convergence.
        plateau[is_lost] = np.where(now < last[is_lost], now * (1 + BETA) / 2, now)
        last[is_lost] = now
        start[is_lost] = BETA * now
        t[is_lost] = 0
        left[is_lost] = rng.exponential(1 / p, int(is_lost.sum()))
    length = np.concatenate(times)
    return float(sent / rounds), float(length.std() / length.mean())


def measured(p: float, stop: int, seed: int) -> float:
    """The mean window of the engine's CUBIC: what is acknowledged in a round trip, in segments."""
    tcp = {"SegmentSize": SEGMENT, "DelAckCount": 1, "SndBufSize": 64_000_000}
    scenario = {
        "stop_time": f"{stop}s",
        "seed": seed,
        "nodes": ["a", "b"],
        "recording": {"interval": "100ms"},
        "links": [
            {
                "name": "link",
                "ends": ["a", "b"],
                "rate": "10Gbps",
                "delay": "50ms",
                "forward": {"loss": p},
            }
        ],
        "flows": [
            {
                "source": "a",
                "destination": "b",
                "cc": "cubic",
                "recovery": "PrrRfc6937",
                "tcp": {**tcp, "RcvBufSize": 64_000_000},
            }
        ],
    }
    samples = get("native").simulate(Scenario.model_validate(scenario)).flow_samples
    acked = np.asarray(samples["acked_bytes"], float)
    begin = len(acked) // 5
    return float((acked[-1] - acked[begin]) / SEGMENT / (len(acked) - 1 - begin))


@pytest.mark.parametrize("p", [1e-4, 1e-5, 1e-6])
def test_the_correction_for_random_losses_is_one_number(p: float) -> None:
    mean, _ = law(p, is_friendly=False)
    # The RFC's equation (5), of which the table is the rounded value.
    assert mean / (1.054 * (RTT / p) ** 0.75) == pytest.approx(1.12, rel=0.01)


@pytest.mark.parametrize(
    ("p", "stop"), [(1e-3, 600), (1e-4, 900), pytest.param(1e-5, 900, marks=pytest.mark.sweep)]
)
def test_cubic_has_the_published_window_so_corrected(p: float, stop: int) -> None:
    expected, variation = law(p)
    assert 1 < expected / TABLE[p] < 1.2
    means = [measured(p, stop, seed) for seed in (1, 2, 3)]
    losses = 3 * 0.8 * stop * expected / RTT * p
    # Three standard errors; the window after a loss depends on the two or three before it.
    tolerance = 3 * 2 * variation / np.sqrt(losses)
    assert tolerance < 0.4
    assert np.mean(means) == pytest.approx(expected, rel=tolerance)
