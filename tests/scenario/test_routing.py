"""Several ways between two nodes, and links that fail."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import leaf_spine
from ccperf.runs import backends
from ccperf.scenario import Scenario

NATIVE = backends.get("native")
FABRIC = leaf_spine(2, 4, 4)


def scenario(**settings: Any) -> Scenario:
    """Sixteen flows from the hosts of a rack to those of the other."""
    flows = [
        {"source": f"h_0_{i}", "destination": f"h_1_{j}", "cc": "TcpNewReno"}
        for i in range(4)
        for j in range(4)
    ]
    return FABRIC.scenario(flows, **{"stop_time": "3ms", "routing": "ecmp", **settings})


def used(scenario: Scenario, folder: Path) -> dict[str, set[str]]:
    """The links out of the first leaf that each flow's data takes."""
    path = folder / "packets.csv"
    NATIVE.simulate(scenario, packets=path)
    taken: dict[str, set[str]] = {}
    for row in path.read_text().splitlines()[1:]:
        _, link, event, flow, *_ = row.split(",")
        if event == "tx" and link.startswith("leaf_0_spine_") and link.endswith("_forward"):
            taken.setdefault(flow, set()).add(link)
    return taken


def problems(**settings: Any) -> dict[str, str]:
    with pytest.raises(ScenarioError) as refused:
        scenario(**settings).lowered()
    return {problem.path: problem.message for problem in refused.value.problems}


def test_what_most_scenarios_lack_is_not_in_their_canonical_form() -> None:
    assert not {"routing", "failures"} & scenario(routing="static").canonical().keys()
    assert scenario().canonical()["routing"]["type"] == "ecmp"


def test_the_first_path_is_taken_unless_routing_says_otherwise(tmp_path: Path) -> None:
    taken = used(scenario(routing="static"), tmp_path)
    assert set.union(*taken.values()) == {"leaf_0_spine_0_forward"}


def test_flows_spread_over_the_spines_and_each_keeps_to_its_own(tmp_path: Path) -> None:
    taken = used(scenario(), tmp_path)
    assert len(taken) == 16
    assert all(len(links) == 1 for links in taken.values())
    shares = Counter(link for links in taken.values() for link in links)
    assert len(shares) == 4
    assert max(shares.values()) <= 8


def test_another_seed_is_another_choice_of_ways(tmp_path: Path) -> None:
    by_default = used(scenario(seed=5), tmp_path)
    assert by_default != used(scenario(seed=6), tmp_path)
    fixed = {"type": "ecmp", "attributes": {"Seed": 5}}
    assert by_default == used(scenario(seed=6, routing=fixed), tmp_path)


def test_packets_at_random_take_every_way(tmp_path: Path) -> None:
    taken = used(scenario(routing="random"), tmp_path)
    assert all(len(links) == 4 for links in taken.values())


def test_nothing_goes_over_a_link_while_it_is_down(tmp_path: Path) -> None:
    failures = [
        {"link": "leaf_0_spine_1", "down": "1ms", "up": "2ms"},
        {"node": "spine_3", "down": "1ms"},
    ]
    path = tmp_path / "packets.csv"
    recording = NATIVE.simulate(scenario(failures=failures), packets=path)
    rows = [row.split(",") for row in path.read_text().splitlines()[1:]]
    sent = [(int(time), link) for time, link, event, *_ in rows if event == "tx"]
    is_down = {
        "leaf_0_spine_1": range(1_000_000, 2_000_000),
        "leaf_0_spine_3": range(1_000_000, 3_000_000),
    }
    for link, times in is_down.items():
        during = [at for at, name in sent if name.startswith(link) and at in times]
        before = [at for at, name in sent if name.startswith(link) and at < times.start]
        assert before
        assert not during
    assert any(at >= 2_000_000 and link.startswith("leaf_0_spine_1") for at, link in sent)
    lost = Counter(row[1] for row in rows if row[2] == "drop" and row[-1] == "Link down")
    counted = dict(zip(recording.links["name"], recording.links["failure_dropped"], strict=True))
    assert lost
    assert {link: count for link, count in counted.items() if count} == lost


def test_a_host_that_is_cut_off_sends_into_the_void(tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    NATIVE.simulate(scenario(failures=[{"link": "h_1_2", "down": "1ms"}]), packets=path)
    rows = [row.split(",") for row in path.read_text().splitlines()[1:]]
    nowhere = {row[1] for row in rows if row[-1] == "No route"}
    assert nowhere <= {f"h_{i}_{j}_forward" for i in (0, 1) for j in range(4)} | {
        row[1] for row in rows if row[1].startswith("leaf_")
    }
    assert nowhere


def test_overlapping_failures_are_lowered_to_what_changes() -> None:
    failures = [
        {"link": "leaf_0_spine_0", "down": "1ms", "up": "2ms"},
        {"node": "leaf_0", "down": "1500us", "up": "2500us"},
    ]
    lowered = json.loads(scenario(failures=failures).lowered())["failures"]
    links = [link["name"] for link in FABRIC.links]
    at_leaf = {i for i, link in enumerate(FABRIC.links) if "leaf_0" in link["ends"]}
    first = links.index("leaf_0_spine_0")
    assert [step["time_ns"] for step in lowered] == [1_000_000, 1_500_000, 2_500_000]
    assert (lowered[0]["down"], lowered[0]["up"]) == ([first], [])
    assert set(lowered[1]["down"]) == at_leaf - {first}
    assert set(lowered[2]["up"]) == at_leaf


def test_mistakes_are_named_with_what_to_do() -> None:
    assert "did you mean `ecmp`?" in problems(routing="ecnp")["routing.type"]
    wrong = [
        {"link": "leaf_0_spine_9", "down": "1ms"},
        {"down": "1ms"},
        {"node": "spine_0", "down": "2ms", "up": "1ms"},
        {"node": "spine_0", "down": "3ms"},
    ]
    found = problems(failures=wrong)
    assert "there is no link `leaf_0_spine_9`" in found["failures[0].link"]
    assert found["failures[1]"] == "give either link or node, which fails"
    assert "not after down" in found["failures[2].up"]
    assert "not before stop_time" in found["failures[3].down"]


def test_what_cannot_be_emptied_cannot_fail() -> None:
    shaped = {"type": "TbfQueueDisc", "attributes": {"Rate": "1Mbps"}}
    links = [{**link} for link in FABRIC.links]
    links[0]["forward"] = {**links[0]["forward"], "qdisc": shaped}
    failing = [{"link": links[0]["name"], "down": "1ms"}]
    message = problems(links=links, failures=failing)["failures[0]"]
    assert "TbfQueueDisc, which holds packets back" in message


def test_hosts_with_several_links_have_one_way() -> None:
    extra = {"name": "second", "ends": ["h_0_0", "leaf_1"], "rate": "1Gbps", "delay": "1us"}
    found = problems(links=[*FABRIC.links, extra])
    assert "`h_0_0` has several links" in found["flows[0].source"]
    scenario(links=[*FABRIC.links, extra], routing="static").lowered()
