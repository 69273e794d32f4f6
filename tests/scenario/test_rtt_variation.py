"""RTT variation: what is added to a flow's way, how it is drawn, and what of it is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.scenario import Scenario

CLASSES = ["1us", "20us", "50us", "80us", "160us"]


def scenario(delay: Any, cc: str = "dctcp", load: float = 0.3, **settings: Any) -> Scenario:
    workload = {
        "name": "w",
        "stack": "dc",
        "sizes": {"type": "Constant", "bytes": "14480B"},
        "arrivals": {"type": "Poisson", "load": load, "count": 400},
        "added_delay": delay,
    }
    stacks = [{"name": "dc", "cc": cc, "tcp": {"SegmentSize": 1448}}]
    fields = {"stop_time": "200ms", "stacks": stacks, "workloads": [workload], **settings}
    return star(4, FabricLink("1Gbps", "10us")).scenario([], **fields)


def added(scenario: Scenario) -> list[int]:
    delays: list[int] = json.loads(scenario.lowered())["workloads"][0]["added_delay_ns"]
    return delays


def test_what_is_drawn_depends_neither_on_the_scheme_nor_on_the_load() -> None:
    drawn = added(scenario({"type": "Classes", "delays": CLASSES}))
    assert added(scenario({"type": "Classes", "delays": CLASSES}, "cubic", 0.6)) == drawn
    assert added(scenario({"type": "Classes", "delays": CLASSES}, seed=2)) != drawn
    assert set(drawn) == {1_000, 20_000, 50_000, 80_000, 160_000}


def test_the_realised_distribution_is_reported() -> None:
    run = scenario({"type": "Classes", "delays": CLASSES})
    recording = backends.get("native").simulate(run)
    delays = np.array(added(run))
    table = recording.completions
    assert table is not None
    rtts = recording.flows.array("base_rtt_ns")
    assert (rtts == 40_000 + delays).all()
    found = compute(run, recording).classes["w"]
    assert found["mean_base_rtt_l4"] == pytest.approx(0.04 + delays.mean() / 1e6)
    assert found["p90_base_rtt_l4"] == pytest.approx(0.2)


def test_alone_a_transfer_takes_what_its_way_takes() -> None:
    def time_with(delay: str) -> int:
        run = star(2, FabricLink("1Gbps", "10us")).scenario(
            [
                {
                    "source": "h_0",
                    "destination": "h_1",
                    "cc": "newreno",
                    "added_delay": delay,
                    "application": {"type": "Greedy", "bytes": "1000B"},
                }
            ],
            stop_time="1s",
            recording={"completions": True},
        )
        table = backends.get("native").simulate(run).completions
        assert table is not None
        # Both connect and send once: two round trips.
        return int(table.array("end_ns")[0] - table.array("ideal_ns")[0])

    assert time_with("0s") == time_with("150us") == time_with("3ms")


def test_an_idle_host_holds_nothing_back() -> None:
    """Packets of the reference's delay queue leave when the next one comes (its defect D1)."""
    run = scenario("160us", load=0.001)
    found = compute(run, backends.get("native").simulate(run)).classes["w"]
    # 14 kB fit into the initial window: one round trip to connect and one for the data.
    assert found["p99_slowdown_l4"] < 1.5


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        (40, r"delay: `40` has no unit"),
        ("40", r"delay: .*40"),
        ("90000s", r"delay: .*more than a day"),
        ({"type": "Clases"}, r"type: .*Clases.*Classes"),
        ({"type": "Classes", "delays": []}, r"delays: are none"),
        ({"type": "Classes", "delays": ["1us"], "weights": [1, 2]}, r"weights: are 2 for 1"),
        ({"type": "Classes", "delays": ["1us"], "weights": [0]}, r"weights: are all 0"),
        ({"type": "Classes", "delays": ["1us"], "weights": [-1]}, r"weights\[0\]: -1 is not"),
        ({"type": "Uniform", "min": "2us", "max": "1us"}, r"max: 1us is below min \(2us\)"),
        ({"type": "Cdf", "points": []}, r"points: there are no points"),
        ({"type": "Cdf", "points": [["1us", 0.5]]}, r"points\[0\]: the last .* 0.5, not 1"),
        ({"type": "Cdf", "points": [["2us", 0.5], ["1us", 1]]}, r"points\[1\]: .*neither may"),
        ({"type": "Cdf", "points": [["2us", 1.5]]}, r"points\[0\]\[1\]: 1.5 is not a prob"),
    ],
)
def test_what_makes_no_sense_is_named(delay: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=r"workloads\[0\]\.added_delay.*" + message):
        scenario(delay).lowered()
