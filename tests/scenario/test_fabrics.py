"""Networks of a data centre: as many of everything as there should be, and every pair connected."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import Fabric, FabricLink, fat_tree, leaf_spine, star
from ccperf.runs import backends


def hops(fabric: Fabric, source: str, destination: str) -> int:
    flow = {"source": source, "destination": destination, "cc": "TcpDctcp"}
    lowered = json.loads(fabric.scenario([flow], stop_time="1ms").lowered())
    return len(lowered["flows"][0]["path"])


def test_a_leaf_meets_every_spine() -> None:
    fabric = leaf_spine(4, 3, 8, parallel=2)
    assert len(fabric.hosts) == 32
    assert len(fabric.switches) == 7
    between = [link["ends"] for link in fabric.links if str(link["ends"][1]).startswith("spine")]
    assert len(between) == 4 * 3 * 2
    assert set(between) == {(f"leaf_{i}", f"spine_{j}") for i in range(4) for j in range(3)}
    assert len({link["name"] for link in fabric.links}) == len(fabric.links)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_a_fat_tree_has_the_paper_s_numbers(k: int) -> None:
    fabric = fat_tree(k)
    assert len(fabric.hosts) == k**3 // 4
    assert len(fabric.switches) == k * k + (k // 2) ** 2
    for switch in fabric.switches:
        assert sum(switch in link["ends"] for link in fabric.links) == k


def test_a_fat_tree_can_have_more_servers_than_ports_above() -> None:
    fabric = fat_tree(4, servers=8)
    assert (len(fabric.hosts), len(fabric.racks)) == (64, 8)
    assert fabric.links[:64] != fat_tree(4).links
    with pytest.raises(ScenarioError):
        fat_tree(4, servers=0)


def test_paths_have_as_many_links_as_layers_are_crossed() -> None:
    leaves = leaf_spine(2, 2, 2)
    assert hops(leaves, "h_0_0", "h_0_1") == 2
    assert hops(leaves, "h_0_0", "h_1_1") == 4
    tree = fat_tree(4)
    assert hops(tree, "h_0_0_0", "h_0_0_1") == 2
    assert hops(tree, "h_0_0_0", "h_0_1_0") == 4
    assert hops(tree, "h_0_0_0", "h_3_1_1") == 6


def test_every_pair_of_a_star_is_connected() -> None:
    fabric = star(4, delays=["1us", "2us", "3us", "4us"])
    assert [link["delay"] for link in fabric.links] == ["1us", "2us", "3us", "4us"]
    for source, destination in permutations(fabric.hosts, 2):
        assert hops(fabric, source, destination) == 2


def test_an_empty_fabric_carries_a_window_in_one_round_trip() -> None:
    """Ten segments over four links of 10 Gbps and 10 us, each sent on when it has come."""
    flow = {
        "source": "h_0_0",
        "destination": "h_1_0",
        "cc": "TcpDctcp",
        "application": {"type": "Greedy", "bytes": "14480B"},
        "tcp": {"SegmentSize": 1448, "InitialCwnd": 10, "DelAckCount": 1},
    }
    scenario = leaf_spine(2, 2, 2).scenario([flow], stop_time="10ms", seed=1)
    flows = backends.get("native").simulate(scenario).flows
    # SYN and SYN-ACK, then the data and the last ACK: two round trips of 80 us and what is sent.
    done = float(flows.array("completion_ns")[0])
    assert 160_000 < done < 180_000


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: fat_tree(3), "k"),
        (lambda: leaf_spine(2, 1, 1, parallel=0), "parallel"),
        (lambda: star(1), "hosts"),
        (lambda: star(3, FabricLink(), delays=["1us"]), "delays"),
    ],
)
def test_what_makes_no_network_is_refused(make: object, field: str) -> None:
    with pytest.raises(ScenarioError, match=field):
        make()  # type: ignore[operator]
