"""What a direction could have sent, at the rates that it had."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.metrics.capacity import Capacity, capacities, means_within
from ccperf.scenario import Scenario


def link(**own: Any) -> dict[str, Any]:
    direction = {"rate": None, "qdisc": None, "mtu": "1000B"}
    return {"name": "btl", "rate": "10Mbps", "forward": direction, "reverse": direction, **own}


def capacity(of_link: dict[str, Any], *changes: dict[str, Any]) -> Capacity:
    scenario = {"stop_time": "10s", "links": [of_link], "changes": list(changes)}
    return capacities(scenario, ["btl_forward"])["btl_forward"]


def bits(of_link: dict[str, Any], *changes: dict[str, Any]) -> float:
    return capacity(of_link, *changes).wire


def through(name: str, children: list[dict[str, Any]] | None = None, **attributes: str) -> float:
    """Bits that a discipline in front of the link lets through."""
    qdisc = {"type": name, "attributes": attributes, "children": children or []}
    direction = {"rate": None, "qdisc": qdisc, "mtu": "1000B"}
    return capacity(link(forward=direction)).packets


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


def test_what_many_rates_give_is_the_nearest_number_whatever_adds_it_up() -> None:
    """Python 3.12 adds floats with compensation, older ones without: other last digits."""
    times = range(10**8, 10**10, 10**8)
    rates = [3_000_001 + 7 * row for row in range(len(times))]
    schedule = {"direction": "forward", "times_ns": list(times), "rates_bps": rates}
    exact = Fraction(10**7, 10) + Fraction(sum(rates), 10)
    assert bits(link(schedules=[schedule])) == float(exact)


def test_a_bucket_lets_through_its_rate_and_what_it_holds_at_first() -> None:
    assert through("FifoQueueDisc") == float("inf")
    for name in ("PolicerQueueDisc", "TbfQueueDisc"):
        assert through(name, Rate="2Mbps", Burst="50000") == 20e6 + 400e3


def test_a_bucket_has_the_engine_s_attributes_where_none_are_given() -> None:
    for name in ("PolicerQueueDisc", "TbfQueueDisc"):
        assert through(name) == 10e6 + 1e6
        assert through(name, Rate="2Mbps") == 20e6 + 1e6
        assert through(name, Burst="50000") == 10e6 + 400e3


def test_a_second_bucket_counts_and_so_does_one_around_or_inside_another() -> None:
    assert through("TbfQueueDisc", Rate="2Mbps", PeakRate="1Mbps", Mtu="3000") == 10e6 + 24e3
    assert through("TbfQueueDisc", Rate="2Mbps", PeakRate="1Mbps") == 10e6 + 8e3
    policer = {"type": "PolicerQueueDisc", "attributes": {"Rate": "500kbps"}}
    assert through("TbfQueueDisc", [policer]) == 5e6 + 1e6
    # Others go past it.
    assert through("PrioQueueDisc", [policer, policer]) == float("inf")


def used(qdisc: Any, rate: str, write: str) -> float:
    """Percent of what it could have let through of such datagrams."""
    scenario = Scenario(
        stop_time="5s",
        nodes=["a", "b"],
        links=[
            {
                "name": "btl",
                "ends": ["a", "b"],
                "rate": "10Mbps",
                "delay": "1ms",
                "forward": {"qdisc": qdisc},
            }
        ],
        flows=[
            {
                "source": "a",
                "destination": "b",
                "transport": "UDP",
                "application": {"type": "CBR", "rate": rate, "write": write},
            }
        ],
    )
    return ccperf.simulate(scenario).link_metrics["btl_forward"]["used_capacity_l1"]


@pytest.mark.parametrize(("rate", "write"), [("100kbps", "1B"), ("3Mbps", "1kB")])
@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("police", {}),
        ("tbf", {}),
        ("tbf", {"Rate": "1Mbps", "Burst": "125000"}),
        ("tbf", {"Rate": "5Mbps", "PeakRate": "1Mbps"}),
    ],
)
def test_what_a_bucket_holds_back_is_used_up(
    kind: str, attributes: dict[str, str], rate: str, write: str
) -> None:
    """Tokens are for IP packets: those of 1 B have 2 of 31 B on the wire beyond theirs."""
    assert 99 < used({"type": kind, "attributes": attributes}, rate, write) <= 100


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
    found = [values["used_capacity_l1"] for values in tables.link.values()]
    assert 50 < max(found) <= 100.01


def test_a_rate_that_changes_within_an_interval_has_its_mean_there() -> None:
    """And only there: a step at an end of an interval is none within it."""
    steps = [(0, 10), (10, 30), (14, 50), (14, 70), (30, 0)]
    starts, ends = np.arange(0, 40, 10), np.arange(10, 50, 10)
    means = means_within(steps, starts, ends)
    assert np.isnan(means).tolist() == [True, False, True, True]
    assert means[1] == pytest.approx((4 * 30 + 6 * 70) / 10)


@pytest.mark.parametrize("trace", ["3.04mbps-poisson.trace", "lte-like.csv"])
def test_nothing_is_used_beyond_what_a_trace_lets_through(trace: str) -> None:
    """Opportunities of Mahimahi's are some milliseconds apart, and intervals are 30 ms long."""
    run = ccperf.run("replay_rate_trace", cc="cubic", trace_file=trace)
    found = run.link_metrics["btl_forward"]
    assert found["used_capacity_l1"] > 94
    assert found["mean_utilization_l1"] == pytest.approx(found["used_capacity_l1"], abs=1)
