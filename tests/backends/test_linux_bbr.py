"""Linux's BBR in the profile ``linux`` beside the kernel's. Where it begins to probe is drawn on
both sides: `tools/bbr_draws.py` has looked for a random stream that draws what the kernel drew, and
all else has to follow.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from tools import bbr_draws, linux_and_ns3

from ccperf.runs.backends import get
from ccperf.runs.backends.linux import backend
from ccperf.scenario import Scenario
from ccperf.verify import linux

FOUND = json.loads(linux_and_ns3.RECORD.read_text())["profile"]["TcpBbr"]


def both(name: str, streams: dict[str, int]) -> list[linux.Traced]:
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    profile = linux_and_ns3.PROFILE
    ours = linux_and_ns3.scenario("TcpBbr", name, profile["TcpBbr"], profile)
    return [
        linux.traced(bbr_draws.with_streams(ours, streams), get("native")),
        linux.traced(linux_and_ns3.scenario("TcpBbr", name), theirs),
    ]


@pytest.mark.kernel
@pytest.mark.parametrize(
    "name",
    [
        "steady_state_single_flow",
        "ecn",  # marks, CWR and losses in Startup
        "ack_compression",
        "policer",  # the rate of a policed path
        "reordering",
        "cross_traffic",
        "replay_rate_trace",
    ],
)
def test_experiments_are_the_kernels(name: str) -> None:
    """Each segment to the end, at its nanosecond."""
    sides = both(name, FOUND[name]["streams"])
    assert bbr_draws.first_apart(*sides) is None
    assert len(sides[0].segments["flow_1"]) == FOUND[name]["of"] > 500


@pytest.mark.kernel
def test_what_is_drawn_otherwise_differs_from_the_first_draw_on() -> None:
    """So that the streams of the record say something."""
    sides = both("steady_state_single_flow", {"flow_1": 4})
    found = bbr_draws.first_apart(*sides)
    assert found is not None
    assert 0.2e9 < found.time_ns < 0.22e9


def test_flows_that_begin_to_probe_at_other_times_draw_for_themselves() -> None:
    """Of ns-3's class all draw the same."""
    flow = {"source": "a", "destination": "b", "cc": "TcpBbr"}
    flow["profile"] = "linux"
    run = Scenario.model_validate(
        {
            "stop_time": "3s",
            "nodes": ["a", "b"],
            "links": [{"name": "link", "ends": ["a", "b"], "rate": "40Mbps", "delay": "10ms"}],
            "flows": [{**flow, "start": f"{100 * n}ms"} for n in range(4)],
            "recording": {"interval": "5ms"},
        }
    )
    samples = get("native").simulate(run).flow_samples
    rate, time = samples.array("pacing_rate_bps"), samples.array("time_ns")
    late = [(samples.array("flow") == n) & (time > 1.5e9) for n in range(4)]
    probes = [frozenset(time[of][rate[of] > 1.2 * np.median(rate[of])]) for of in late]
    assert all(probes)
    assert len(set(probes)) > 1
