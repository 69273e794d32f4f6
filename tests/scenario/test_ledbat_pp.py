"""TcpLedbatPlusPlus in whole runs: the delay that it may add, equal shares, and who goes first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccperf.runs.backends import get
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

RATE, RTT_MS = 20.0, 40.0
#: 0.4 s of queue, far beyond any target.
BUFFER = "1000000B"


def run(stop: int, *flows: dict[str, Any]) -> Recording:
    path: dict[str, Any] = {
        "stop_time": f"{stop}s",
        "nodes": ["a", "r", "b"],
        "links": [
            {"name": "in", "ends": ["a", "r"], "rate": "10Gbps", "delay": "1us"},
            {
                "name": "bottleneck",
                "ends": ["r", "b"],
                "rate": f"{RATE}Mbps",
                "delay": f"{RTT_MS / 2}ms",
                "forward": {
                    "qdisc": {"type": "fifo", "attributes": {"MaxSize": BUFFER}},
                    "device_queue": "1p",
                },
            },
        ],
    }
    tcp = {"SegmentSize": 1448, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
    each = [{"source": "a", "destination": "b", "tcp": tcp, **flow} for flow in flows]
    return get("native").simulate(Scenario.model_validate({**path, "flows": each}))


def series(recording: Recording, flow: int) -> dict[str, Any]:
    """Of a flow: seconds, bytes acknowledged, window in segments, smoothed RTT in ms."""
    samples = recording.flow_samples
    of = samples["flow"] == flow
    return {
        "at": samples["time_ns"][of] / 1e9,
        "acked": samples["acked_bytes"][of].astype(float),
        "window": samples["cwnd_bytes"][of] / 1448,
        "srtt": samples["srtt_ns"][of] / 1e6,
    }


def rate(seen: dict[str, Any], since: float) -> float:
    """In Mbps, to the end."""
    late = seen["at"] >= since
    acked, at = seen["acked"][late], seen["at"][late]
    return float(8e-6 * (acked[-1] - acked[0]) / (at[-1] - at[0]))


@pytest.mark.parametrize("target", [20, 60])
def test_the_queue_is_the_target(target: int) -> None:
    """Section 4.3: growth by GAIN and decrease meet at TARGET (1 + GAIN / W), where GAIN is
    1 / ceil(2 TARGET / base) and W what the link holds. The smoothed RTT lags, by less than 2 %.
    """
    cc = {"type": "ledbat++", "attributes": {"TargetDelay": f"{target}ms", "Slowdowns": "false"}}
    seen = series(run(40, {"cc": cc}), 0)
    held = RATE * (RTT_MS + target) / 8 / 1.502
    gain = 1 / np.ceil(2 * target / RTT_MS)
    expected = RTT_MS + target * (1 + gain / held)
    settled = seen["srtt"][seen["at"] > 25]
    assert settled.mean() == pytest.approx(expected, rel=0.02)
    assert rate(seen, 25) > 0.99 * RATE * 1448 / 1502


def test_slowdowns_cost_a_tenth_of_the_link_at_most() -> None:
    """Section 4.4: nine times as long without as with one."""
    seen = series(run(60, {"cc": "ledbat++"}), 0)
    used = rate(seen, 10) / (RATE * 1448 / 1502)
    assert 0.9 < used < 0.98
    assert (seen["window"][seen["at"] > 10] <= 2).any()


def test_who_comes_late_gets_its_share_by_slowdowns_alone() -> None:
    """A second flow after 20 s takes the first one's queue for the path's delay, until a
    slowdown shows both the empty queue; LEDBAT never learns better, nor LEDBAT++ without.
    """
    without = {"type": "ledbat++", "attributes": {"Slowdowns": "false"}}
    share = {}
    for name, cc in {"ledbat": "ledbat", "ledbat++": "ledbat++", "without": without}.items():
        recording = run(120, {"cc": cc}, {"cc": cc, "start": "20s"})
        first, second = (rate(series(recording, flow), 60) for flow in (0, 1))
        share[name] = second / (first + second)
    assert share["ledbat++"] == pytest.approx(0.5, abs=0.05)
    assert share["ledbat"] > 0.95
    assert share["without"] > 0.95


def test_it_yields_to_cubic_by_halves() -> None:
    """Where the delay is more than 3/2 of TARGET, the window halves each round trip: W reaches two
    segments in log2(W / 2) of them, of the longest; one more for the feedback. A slowdown
    and its way back, which heeds no delay, may come between (section 4.4).
    """
    cc = {"type": "ledbat++", "attributes": {"Slowdowns": "false"}}
    background = series(run(40, {"cc": cc}, {"cc": "cubic", "start": "20s"}), 0)
    over = background["at"][(background["srtt"] > RTT_MS + 90) & (background["at"] > 20)][0]
    before = background["window"][background["at"] <= over][-1]
    small = background["at"][(background["window"] <= 2) & (background["at"] > over)][0]
    during = (background["at"] >= over) & (background["at"] <= small)
    halvings = (small - over) / (background["srtt"][during].max() / 1e3)
    assert before > 50
    assert halvings < np.log2(before / 2) + 1


def test_beside_cubic_hardly_anything_is_left_for_it() -> None:
    recording = run(60, {"cc": "ledbat++"}, {"cc": "cubic", "start": "20s"})
    background, cubic = (rate(series(recording, flow), 30) for flow in (0, 1))
    assert background < 0.05 * RATE
    assert cubic > 0.9 * RATE * 1448 / 1502
