"""What a direction could have sent, at the rates that it had."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.metrics.capacity import capacities


def link(**own: Any) -> dict[str, Any]:
    direction = {"rate": None, "qdisc": None}
    return {"name": "btl", "rate": "10Mbps", "forward": direction, "reverse": direction, **own}


def bits(of_link: dict[str, Any], *changes: dict[str, Any]) -> float:
    scenario = {"stop_time": "10s", "links": [of_link], "changes": list(changes)}
    return capacities(scenario, ["btl_forward"])["btl_forward"]


def test_a_rate_counts_as_long_as_it_holds() -> None:
    def change(time: str, rate: str, direction: str = "both") -> dict[str, Any]:
        return {"time": time, "link": "btl", "direction": direction, "rate": rate}

    assert bits(link()) == 100e6
    assert bits(link(), change("4s", "20Mbps")) == 40e6 + 120e6
    assert bits(link(), change("4s", "20Mbps"), change("4s", "5Mbps")) == 40e6 + 30e6
    assert bits(link(), change("4s", "20Mbps", "reverse")) == 100e6
    assert bits(link(), change("40s", "20Mbps")) == 100e6


def test_rows_of_a_schedule_are_changes() -> None:
    schedule = {"direction": "forward", "times_ns": [2 * 10**9], "rates_bps": [1_000_000]}
    assert bits(link(schedules=[schedule])) == 20e6 + 8e6


def test_a_policer_lets_through_its_rate_and_a_bucket() -> None:
    qdisc = {"type": "PolicerQueueDisc", "attributes": {"Rate": "2Mbps", "Burst": "50000"}}
    assert bits(link(forward={"rate": None, "qdisc": qdisc})) == 20e6 + 400e3


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("parking_lot", {"n": 3}),
        ("cross_traffic", {"load": 0.4}),
        ("replay_rate_trace", {"trace_file": "wifi-like.csv"}),
        ("policer", {"burst": "200ms"}),
    ],
)
def test_no_bottleneck_is_used_beyond_what_it_has(name: str, point: dict[str, Any]) -> None:
    scenario = catalogue.get(name).scenario("TcpCubic", stop_time="5s", **point)
    tables = compute(scenario, backends.get("native").simulate(scenario))
    used = [values["used_capacity_l1"] for values in tables.link.values()]
    assert 50 < max(used) <= 100.01
