"""Whose path changes in a run: they have no ideal time, nor what needs the path of time 0."""

from __future__ import annotations

from typing import Any

import pytest

import ccperf
from ccperf.runs.metrics.changing_paths import changing, rerouted
from ccperf.runs.metrics.pairs import Named
from ccperf.scenario import Scenario

#: Hosts `a` to `d`; `a` and `b` at one switch, `c` and `d` at another, two switches between them
#: and a longer way by two others.
LINKS = [
    ("a", "s"),
    ("b", "s"),
    ("s", "u"),
    ("s", "v"),
    ("u", "t"),
    ("v", "t"),
    ("s", "x"),
    ("x", "y"),
    ("y", "t"),
    ("t", "c"),
    ("t", "d"),
]
BESIDE, OVER = frozenset({"beside"}), frozenset({"over"})
BOTH = BESIDE | OVER


def scenario(**fields: Any) -> Scenario:
    """A flow from `a` to `c` and one from `a` to `b`; a workload `to_d`."""
    own = {"cc": "newreno", "application": {"type": "Greedy", "bytes": "20kB"}}
    return Scenario.model_validate(
        {
            "stop_time": "1s",
            "nodes": list("abcdstuvxy"),
            "links": [
                {"name": one + other, "ends": [one, other], "rate": "10Mbps", "delay": "1ms"}
                for one, other in LINKS
            ],
            "flows": [
                {"name": "over", "source": "a", "destination": "c", **own},
                {"name": "beside", "source": "a", "destination": "b", **own},
            ],
            "stacks": [{"name": "dc", "cc": "newreno", "profile": "datacentre"}],
            "workloads": [
                {
                    "name": "to_d",
                    "stack": "dc",
                    "sources": ["b", "c"],
                    "destinations": ["d"],
                    "arrivals": {"type": "Times", "times": ["1ms"]},
                    "sizes": {"type": "Constant", "bytes": "20kB"},
                }
            ],
            "recording": {"completions": True, "interval": "10ms"},
            **fields,
        }
    )


def change(link: str, **to: Any) -> dict[str, Any]:
    return {"changes": [{"time": "500ms", "link": link, **to}]}


def down(*links: str) -> dict[str, Any]:
    return {"failures": [{"link": link, "down": "100ms", "up": "200ms"} for link in links]}


@pytest.mark.parametrize(
    ("routing", "fields", "flows", "workloads"),
    [
        ("static", {}, frozenset(), False),
        ("static", change("su", rate="20Mbps"), OVER, True),
        ("static", change("su", rate="10Mbps"), frozenset(), False),
        ("static", change("su", rate="20Mbps", direction="reverse"), frozenset(), False),
        ("static", change("su", delay="2ms"), OVER, True),
        ("static", change("su", loss=0.1), frozenset(), False),
        # A static path is the first of those that are as short.
        ("static", change("sv", rate="20Mbps"), frozenset(), False),
        ("ecmp", change("sv", rate="20Mbps"), OVER, True),
        ("static", change("as", rate="20Mbps"), BOTH, False),
        ("static", change("bs", rate="20Mbps", direction="reverse"), BESIDE, False),
        ("ecmp", change("td", rate="20Mbps"), frozenset(), True),
        ("ecmp", change("xy", rate="20Mbps"), frozenset(), False),
        ("static", down("su"), OVER, True),
        ("static", down("sv"), frozenset(), False),
        ("ecmp", down("su"), frozenset(), False),
        ("ecmp", down("su", "vt"), OVER, True),
        ("ecmp", down("td"), frozenset(), True),
        ("ecmp", down("as"), BOTH, False),
        ("ecmp", {"failures": [{"node": "t", "down": "1ms", "up": "2ms"}]}, OVER, True),
    ],
)
def test_of_those_whose_path_changes_nobody_knows_the_ideal_time(
    routing: str, fields: dict[str, Any], flows: frozenset[str], workloads: bool
) -> None:
    found = changing(scenario(routing=routing, **fields).parsed)
    assert found == Named(flows, frozenset({"to_d"} if workloads else ()))


def test_where_a_failure_leaves_another_path_that_is_taken() -> None:
    def of(routing: str, *links: str) -> frozenset[str]:
        return rerouted(scenario(routing=routing, **down(*links)).parsed).flows

    assert of("static", "su") == of("ecmp", "su", "vt") == OVER
    assert of("static", "as") == of("ecmp", "su") == frozenset()


def test_a_slowdown_is_absent_where_its_ideal_time_is_not_that_of_later() -> None:
    """Ten times the rate from 500 ms on: 20 kB from then on are faster than the ideal of 0."""
    late = {"source": "a", "cc": "newreno", "start": "600ms"}
    sizes = {"application": {"type": "Greedy", "bytes": "20kB"}}
    made = scenario(
        flows=[
            {**late, **sizes, "destination": "c", "group": "over"},
            {**late, **sizes, "destination": "b", "group": "beside"},
        ],
        workloads=[],
        **change("su", rate="100Mbps", delay="2ms"),
    )
    classes = ccperf.simulate(made).class_metrics
    assert "mean_fct_l4" in classes["over"]
    assert "mean_slowdown_l4" not in classes["over"]
    assert classes["all"]["mean_slowdown_l4"] == classes["beside"]["mean_slowdown_l4"]


@pytest.mark.parametrize(("link", "is_known"), [("su", False), ("sv", True)])
def test_what_needs_the_path_is_absent_where_a_failure_leaves_another(
    link: str, is_known: bool
) -> None:
    found = ccperf.simulate(scenario(workloads=[], **down(link))).flow_metrics["over"]
    assert "mean_srtt_l4" in found
    assert ("mean_est_qdelay_l4" in found) == is_known
    assert ("mean_utilization_bw_l4" in found) == is_known
