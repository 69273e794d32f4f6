"""TcpCopa in whole runs: the queue of its analysis, equal shares, its modes beside CUBIC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf.runs.recording import Recording

EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "copa.py"
PATH = {"rate": "20Mbps", "rtt": "40ms", "buffer": "400p", "stop_time": "20s"}


def late(recording: Recording, flow: int, since: float = 5.0) -> tuple[float, float]:
    """Goodput in Mbps and mean smoothed RTT in ms of a flow."""
    samples = recording.flow_samples
    of = (samples["flow"] == flow) & (samples["time_ns"] > since * 1e9)
    acked, at = samples["acked_bytes"][of], samples["time_ns"][of]
    rate = 8e3 * float(acked[-1] - acked[0]) / float(at[-1] - at[0])
    return rate, float(np.mean(samples["srtt_ns"][of])) / 1e6


@pytest.mark.parametrize("delta", [0.5, 0.1])
def test_the_queue_is_that_of_the_analysis(delta: float) -> None:
    """Section 3: 1.25 / delta segments on average, at a full link; a segment takes 0.6 ms."""
    rate, srtt = late(ccperf.run("dumbbell", cc=f"copa:Delta={delta}", **PATH).recording, 0)
    assert rate > 0.98 * 20 * 1448 / 1502
    queued = (srtt - 40) / 0.6
    assert 0.5 < queued / (1.25 / delta) < 2, queued


def test_five_flows_share_alike() -> None:
    """Section 3: the target rate is the same for all, whatever they begin with."""
    recording = ccperf.run("dumbbell", cc="copa", flows=5, **PATH).recording
    rates = np.array([late(recording, flow)[0] for flow in range(5)])
    assert rates.sum() > 0.98 * 20 * 1448 / 1502
    assert rates.sum() ** 2 / (5 * (rates**2).sum()) > 0.98


def test_beside_cubic_it_competes_only_if_it_may() -> None:
    """Section 2.2: in default mode it would leave the queue to CUBIC."""
    shares = []
    for switching in ("true", "false"):
        recording = ccperf.run(
            "competition",
            cc=f"copa:ModeSwitching={switching}",
            against="cubic",
            stop_time="60s",
        ).recording
        copa, cubic = (late(recording, flow, 10.0)[0] for flow in (0, 1))
        shares.append(copa / (copa + cubic))
    assert shares[0] > 0.25
    assert shares[1] < 0.15


def test_the_example_in_python_is_the_same_without_modes() -> None:
    """Another writing of the same paper: `examples/python/copa.py`."""
    ours = late(ccperf.run("dumbbell", cc="copa:ModeSwitching=false", **PATH).recording, 0)
    theirs = late(ccperf.run("dumbbell", cc=f"{EXAMPLE}:Copa", **PATH).recording, 0)
    assert ours[0] == pytest.approx(theirs[0], rel=0.01)
    assert ours[1] == pytest.approx(theirs[1], rel=0.02)
