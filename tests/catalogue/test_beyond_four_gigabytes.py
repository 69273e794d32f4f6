"""Sequence numbers begin anew after 4 GiB, and comparisons of them turn round after 2: an algorithm
goes on as before.
"""

from __future__ import annotations

import numpy as np
import pytest

from ccperf.algorithms.registry import algorithms
from ccperf.runs.backends import get
from ccperf.scenario import Scenario

#: At 2.5 Gbps 2 GiB have been sent after 7 s, and 4 after 14.
END_S, LATER_S = 6.9, 10.5
#: When they have settled, in s.
SETTLED_S = {"TcpCopa": 5.6}
SIZES = {"SegmentSize": 8900, "SndBufSize": 100_000_000, "RcvBufSize": 100_000_000}
#: With an ACK for two segments these go up and down by more than the bound.
UNSTEADY = ("TcpCopa", "TcpLp")


def throughput(cc: str, profile: str) -> tuple[float, float]:
    """In bit/s, before and after."""
    link = {
        "name": "link",
        "ends": ["a", "b"],
        "rate": "2.5Gbps",
        "delay": "5ms",
        "forward": {"mtu": "9000B", "device_queue": "700p"},
    }
    tcp = SIZES | ({"DelAckCount": 1} if cc in UNSTEADY else {})
    flow = {"source": "a", "destination": "b", "cc": cc, "profile": profile, "tcp": tcp}
    scenario = Scenario.model_validate(
        {
            "stop_time": "18s",
            "nodes": ["a", "b"],
            "recording": {"interval": "100ms"},
            "links": [link],
            "flows": [flow],
        }
    )
    samples = get("native").simulate(scenario).flow_samples
    times, acked = samples["time_ns"] / 1e9, samples["acked_bytes"]
    period = np.array([SETTLED_S.get(cc, 4.0), END_S])
    ends = [np.interp(period + later, times, acked) for later in (0, LATER_S)]
    before, after = (float(8 * np.diff(end)[0] / np.diff(period)[0]) for end in ends)
    return before, after


@pytest.mark.parametrize("cc", algorithms("cc"))
def test_an_algorithm_goes_on_as_before(cc: str) -> None:
    before, after = throughput(cc, "linux")
    assert after == pytest.approx(before, rel=0.03)
