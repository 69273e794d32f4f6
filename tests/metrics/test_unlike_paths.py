"""What needs the path of a flow is absent where a balancer chooses among unlike ones."""

from __future__ import annotations

from typing import Any

import pytest

import ccperf
from ccperf.runs.metrics.pairs import Named
from ccperf.runs.metrics.unlike_paths import unlike
from ccperf.scenario import Scenario

#: Racks of two hosts, each rack at a switch that two spines connect.
RACKS = 3


def fabric(
    odd: dict[str, Any] | None = None, routing: Any = "ecmp", **fields: Any
) -> dict[str, Any]:
    """`odd`: what the link from the first rack to the second spine has otherwise."""
    links = [
        {"name": f"h{i}", "ends": [f"h{i}", f"t{i // 2}"], "rate": "100Mbps", "delay": "10us"}
        for i in range(2 * RACKS)
    ]
    for rack in range(RACKS):
        for spine in range(2):
            name, ends = f"up{rack}{spine}", [f"t{rack}", f"s{spine}"]
            own = (odd or {}) if name == "up01" else {}
            links.append({"name": name, "ends": ends, "rate": "50Mbps", "delay": "20us", **own})
    nodes = [*(f"h{i}" for i in range(2 * RACKS)), *(f"t{i}" for i in range(RACKS)), "s0", "s1"]
    return {
        "stop_time": "1s",
        "nodes": nodes,
        "links": links,
        "routing": routing,
        "stacks": [{"name": "dc", "cc": "newreno", "profile": "datacentre"}],
        **fields,
    }


def flow(name: str, source: str, destination: str) -> dict[str, Any]:
    return {"name": name, "source": source, "destination": destination, "stack": "dc"}


def workload(name: str, **own: Any) -> dict[str, Any]:
    return {
        "name": name,
        "stack": "dc",
        "arrivals": {"type": "Times", "times": ["1ms", "2ms", "3ms"]},
        "sizes": {"type": "Constant", "bytes": "20kB"},
        **own,
    }


FLOWS = [flow("beside", "h0", "h1"), flow("over", "h0", "h3"), flow("past", "h2", "h5")]
WORKLOADS = [
    workload("any"),
    workload("listed", pairs={"type": "Listed", "pairs": [["h2", "h4"], ["h4", "h3"]]}),
    workload("near", sources=["h0"], destinations=["h1", "h2"], apart=[["h0", "h2"]]),
    workload("back", sources=["h4"], destinations=["h0"]),
    workload("answer", pairs="Random", arrivals={"type": "Answers", "to": "back"}),
]


def found(what: Any, *args: Any) -> Named:
    scenario = Scenario.model_validate(fabric(*args, flows=FLOWS, workloads=WORKLOADS))
    return unlike(scenario.parsed, what)


@pytest.mark.parametrize("what", ["rate", "delay"])
def test_where_all_shortest_paths_are_alike_every_path_is_known(what: Any) -> None:
    assert found(what) == Named()


@pytest.mark.parametrize(
    ("what", "odd"),
    [
        ("rate", {"rate": "10Mbps"}),
        ("rate", {"schedules": [{"times_ns": [5], "rates_bps": [10**6], "direction": "both"}]}),
        ("delay", {"delay": "1ms"}),
        ("delay", {"schedules": [{"times_ns": [5], "delays_ns": [10**6], "direction": "both"}]}),
    ],
)
def test_those_that_may_come_over_an_odd_link_are_not_known(what: Any, odd: Any) -> None:
    odd_ones = Named(frozenset({"over"}), frozenset({"any", "back", "answer"}))
    assert found(what, odd) == odd_ones
    assert found("delay" if what == "rate" else "rate", odd) == Named()
    assert found(what, odd, "static") == Named()


def test_a_rate_counts_in_its_direction() -> None:
    assert found("rate", {"forward": {"rate": "10Mbps"}}).workloads == {"any", "answer"}
    assert found("rate", {"reverse": {"rate": "10Mbps"}}).workloads == {"any", "back"}


def metrics(odd: dict[str, Any] | None, routing: str) -> tuple[set[str], set[str]]:
    """Of the flow over the odd link, and of transfers over it."""
    transfers = workload("back", sources=["h4"], destinations=["h0"])
    made = fabric(odd, routing, flows=FLOWS[1:2], workloads=[transfers])
    result = ccperf.simulate(Scenario.model_validate(made))
    return set(result.flow_metrics["over"]), set(result.class_metrics["back"])


def test_metrics_of_such_a_path_are_absent() -> None:
    of_flow, of_class = metrics(None, "ecmp")
    assert (of_flow, of_class) == metrics({"rate": "10Mbps", "delay": "1ms"}, "static")
    slowdowns = {f"{which}_slowdown_l4" for which in ("mean", "p50", "p95", "p99")}
    base_rtts = {f"{which}_base_rtt_l4" for which in ("mean", "p50", "p90")}
    by_rate = {
        "mean_utilization_bw_l4",
        "mean_utilization_bdp_l4",
        "harm_throughput_l4",
        "mean_goodput_share_l7",
    }
    by_delay = {"mean_est_qdelay_l4", "mean_utilization_bdp_l4"}
    for odd, lost_flow, lost_class in (
        ({"rate": "10Mbps"}, by_rate, slowdowns),
        ({"delay": "1ms"}, by_delay, slowdowns | base_rtts),
    ):
        assert slowdowns | base_rtts <= of_class
        left_of_flow, left_of_class = metrics(odd, "ecmp")
        assert {name.removeprefix("steady_") for name in of_flow - left_of_flow} == lost_flow
        assert of_class - left_of_class == lost_class


@pytest.mark.parametrize("scheme", ["random", "drb", "letflow", "hermes"])
def test_paths_that_a_flow_may_take_at_once_are_not_known_if_they_are_slower_than_its_hosts(
    scheme: str,
) -> None:
    assert found("rate", None, scheme) == Named(
        frozenset({"over", "past"}), frozenset({"any", "listed", "back", "answer"})
    )
    assert found("delay", None, scheme) == Named()
    assert found("rate", None, "ecmp") == Named()
    made = fabric(None, scheme, flows=FLOWS, workloads=WORKLOADS)
    # No faster than one path: the other host of `over`, of `back` and of its answers.
    made["links"][0]["rate"] = "50Mbps"
    assert unlike(Scenario.model_validate(made).parsed, "rate") == Named(
        frozenset({"past"}), frozenset({"any", "listed"})
    )
    for host in made["links"][: 2 * RACKS]:
        host["rate"] = "50Mbps"
    assert unlike(Scenario.model_validate(made).parsed, "rate") == Named()


def test_no_share_of_a_path_is_above_1_and_no_transfer_faster_than_its_ideal() -> None:
    transfers = workload("back", sources=["h4"], destinations=["h0"])
    patient = {"tcp": {"ResequencingTimeout": "1ms"}, **fabric()["stacks"][0]}
    given = {"flows": FLOWS[1:2], "workloads": [transfers], "stacks": [patient]}
    result = ccperf.simulate(Scenario.model_validate(fabric(None, "drb", **given)))
    # Over two paths of 50 Mbps, of which each counts as the bottleneck.
    assert result.flow_metrics["over"]["mean_throughput_l4"] > 90
    assert "mean_utilization_bw_l4" not in result.flow_metrics["over"]
    assert "mean_slowdown_l4" not in result.class_metrics["back"]
