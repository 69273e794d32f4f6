"""What the engine's speed is set beside describes the same network, and measures something."""

from __future__ import annotations

import json

from benchmarks.peers import heap_ns, htsim
from benchmarks.scenarios import cases


def test_the_yardstick_is_a_few_dozen_nanoseconds_on_any_machine() -> None:
    assert 2 < heap_ns() < 2000


def test_htsim_is_given_every_flow_by_a_shortest_way_there_and_back() -> None:
    tree = cases("TcpNewReno")[-1].scenario.lowered()
    scenario = json.loads(tree)
    ends = [tuple(link["ends"][::way]) for link in scenario["links"] for way in (1, -1)]
    numbers = [
        [int(word) for word in line.split()] for line in htsim._description(tree).split("\n")
    ]
    (packet_bytes, is_dctcp, stop_ps, link_count), *rest = numbers
    assert (packet_bytes, is_dctcp, stop_ps) == (1500, 1, 20_000_000_000)
    links, ((flow_count,), *flows) = rest[:link_count], rest[link_count:-1]
    assert len(links) == len(ends)
    assert {tuple(link) for link in links} == {
        (10**10, 10**6, 10_000 * 1500, 0),  # from a host
        (10**10, 10**6, 1000 * 1500, 65 * 1500),  # from a switch, marking
    }
    workload = scenario["workloads"][0]
    assert flow_count == len(flows) == len(workload["bytes"])
    ways = set()
    for (_, size, *routes), pair, bytes_ in zip(
        flows, workload["pair"], workload["bytes"], strict=True
    ):
        assert size == bytes_
        out, back = routes[1 : 1 + routes[0]], routes[2 + routes[0] :]
        assert len(back) == routes[1 + routes[0]]
        hosts = scenario["pairs"][pair]
        for route, source, destination in (
            (out, hosts["source"], hosts["destination"]),
            (back, hosts["destination"], hosts["source"]),
        ):
            nodes = [source, *(ends[link][1] for link in route)]
            assert [ends[link][0] for link in route] == nodes[:-1]
            assert nodes[-1] == destination
            assert len(route) in (2, 4, 6)
            assert len(route) == len(hosts["path"])
        ways.add(out[1])
    assert len(ways) > 100, "equal ways are all used"
