"""Faults of switches, slow links and failures in the fabric's own words."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import SlowLinks, fat_tree, leaf_spine
from ccperf.runs import backends
from ccperf.scenario import Scenario


def run(faults: list[dict[str, Any]], **settings: Any) -> Any:
    flows = [
        {
            "source": f"h_0_{i}",
            "destination": f"h_1_{i}",
            "cc": "newreno",
            "application": {"type": "Greedy", "bytes": "30000B"},
            "tcp": {"MinRto": "5ms", "ConnTimeout": "5ms"},
        }
        for i in range(2)
    ]
    fields = {"stop_time": "100ms", "faults": faults, "recording": {"completions": True}}
    return leaf_spine(2, 1, 2).scenario(flows, **{**fields, **settings})


def finished(scenario: Scenario) -> list[str]:
    recording = backends.get("native").simulate(scenario)
    table = recording.completions
    assert table is not None
    names = recording.flows.strings("name")
    return sorted(
        names[flow]
        for flow, done in zip(table.array("flow"), table.array("finished"), strict=True)
        if done
    )


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        ({"sources": ["h_0_0"]}, ["flow_2"]),
        ({"destinations": ["h_1_1"]}, ["flow_1"]),
        ({"destinations": ["h_0_1"]}, ["flow_1"]),
        ({"sources": ["h_0_0"], "destinations": ["h_1_0"]}, ["flow_2"]),
        ({"sources": ["h_0_0"], "destinations": ["h_1_1"]}, ["flow_1", "flow_2"]),
        ({}, []),
        ({"stop": "20ms"}, ["flow_1", "flow_2"]),
        ({"start": "50ms"}, ["flow_1", "flow_2"]),
        ({"loss": 0.01}, ["flow_1", "flow_2"]),
    ],
)
def test_a_black_hole_takes_what_it_is_given(fault: dict[str, Any], left: list[str]) -> None:
    assert finished(run([{"node": "spine_0", **fault}])) == left


def test_a_share_is_lost_and_counted() -> None:
    recording = backends.get("native").simulate(run([{"node": "spine_0", "loss": 0.2}]))
    links = recording.links
    lost = dict(zip(links.strings("name"), links.array("loss_dropped").tolist(), strict=True))
    into = {name for name, count in lost.items() if count}
    assert into <= {"leaf_0_spine_0_forward", "leaf_1_spine_0_forward"}
    assert sum(lost.values()) > 5


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"node": "spine_9"}, r"faults\[0\].node: there is no node `spine_9`"),
        ({"loss": 1.5}, r"faults\[0\].loss: 1.5 is not a probability"),
        ({"loss": 0.0}, r"faults\[0\].loss: 0 loses nothing"),
        ({"sources": []}, r"faults\[0\].sources: names no node"),
        ({"sources": ["h_9"]}, r"faults\[0\].sources\[0\]: there is no node `h_9`"),
        ({"stop": "0s"}, r"faults\[0\].stop"),
        ({"start": "2s"}, r"faults\[0\].start"),
    ],
)
def test_what_makes_no_sense_is_named(fault: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        run([{"node": "spine_0", **fault}]).lowered()


def test_failures_are_named_in_the_fabric_s_own_words() -> None:
    fabric = leaf_spine(2, 2, 2, parallel=2)
    for words, name in {
        "leaf0-spine1": "leaf_0_spine_1",
        "spine1-leaf0": "leaf_0_spine_1",
        "Leaf 1 / Spine 0 / 1": "leaf_1_spine_0_1",
        "h_0_1-leaf0": "h_0_1",
    }.items():
        assert fabric.failure(words, "1ms")["link"] == name
    assert fabric.failure("spine1", "1ms", "2ms") == {"node": "spine_1", "down": "1ms", "up": "2ms"}
    assert fat_tree(4).failure("core0", "1ms")["node"] == "core_0"
    with pytest.raises(ScenarioError, match=r"leaf0-spine7.*did you mean"):
        fabric.failure("leaf0-spine7", "1ms")
    with pytest.raises(ScenarioError, match="is a link"):
        fabric.node("leaf0-spine1")


def test_a_share_of_the_fabric_is_slow_and_the_seed_says_which() -> None:
    def slow(seed: int) -> list[str]:
        fabric = leaf_spine(4, 5, 2, slow=SlowLinks(0.2, "2Gbps", seed))
        return [link["name"] for link in fabric.links if link["rate"] == "2Gbps"]

    assert len(slow(1)) == 4
    assert slow(1) == slow(1) != slow(2)
    assert all("spine" in name for name in slow(1))
    with pytest.raises(ScenarioError, match="share"):
        leaf_spine(2, 2, 2, slow=SlowLinks(1.5, "2Gbps"))
