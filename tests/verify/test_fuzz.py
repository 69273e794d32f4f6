"""Random scenarios are valid and repeatable, and what they find is made small."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ccperf import _native
from ccperf.runs import backends
from ccperf.scenario.profiles import WHOLE
from ccperf.verify.counting import parts
from ccperf.verify.fuzz import Draw, draws, dumbbells, fabrics
from ccperf.verify.fuzz_fabrics import FabricDraw
from ccperf.verify.many import compare_all, fuzz_all
from ccperf.verify.matrix import MAX_HOPS, cases
from ccperf.verify.shrinking import examine, shrink

from .mutant import Mutant

NATIVE = backends.get("native")


def test_the_same_seed_draws_the_same() -> None:
    assert list(islice(draws(1), 20)) == list(islice(draws(1), 20))
    assert list(islice(draws(1), 20)) != list(islice(draws(2), 20))


def test_draws_are_valid_small_and_run() -> None:
    for drawn in islice(dumbbells(3), 60):
        recording = NATIVE.simulate(drawn.scenario())
        assert int(recording.links.array("tx_packets").sum()) <= MAX_HOPS
        # With windows of thousands of segments ns-3 takes minutes.
        assert drawn.path["buffer"] <= 250 * drawn.path.get("mss", 1448)


def test_draws_are_diverse() -> None:
    drawn = list(islice(dumbbells(4), 400))
    keys = {key for one in drawn for key in one.path}
    assert keys >= {"loss", "drop", "reverse", "changes", "tcp", "mss", "qdisc_attributes"}
    assert keys >= {"pings", "forward"}
    for name in ("stops", "receiver_stops", "applications"):
        assert any(name in flow for one in drawn for flow in one.flows)
    models = [flow.get("applications") for one in drawn for flow in one.flows]
    assert {model["type"] for model in models if model} == {"Greedy", "CBR", "Poisson", "OnOff"}
    assert {len(one.flows) for one in drawn} >= {1, 2, 3, 10}
    ways = [one.path[way] for one in drawn for way in ("forward", "reverse") if way in one.path]
    for name in ("gilbert_elliott", "jitter", "reordering"):
        assert any(name in way for way in ways)
    assert any(way["qdisc"].get("children") for way in ways if "qdisc" in way)
    assert any("schedules" in one.path for one in drawn)
    assert any("rate" in one.path.get("reverse", {}) for one in drawn)
    changes = [change for one in drawn for change in one.path.get("changes", ())]
    assert {change["direction"] for change in changes} == {"both", "forward", "reverse"}
    assert any("loss" in change for change in changes)
    assert any("mtu" in way for way in ways)
    assert max(one.path.get("mss", 0) for one in drawn) == 9000
    assert any(flow.get("applications", {}).get("eager") for one in drawn for flow in one.flows)
    assert {one.path["lot"]["hops"] for one in drawn if "lot" in one.path} == {2, 3, 4}
    assert any(flow.get("transports") == "UDP" for one in drawn for flow in one.flows)
    ccs = [flow["cc"] for one in drawn for flow in one.flows if flow["cc"]]
    assert len({cc["type"] if isinstance(cc, dict) else cc for cc in ccs}) > 10
    assert any(isinstance(cc, dict) for cc in ccs)
    rtts = [_native.parse_time(flow["rtts"]) for one in drawn for flow in one.flows]
    assert min(rtts) < 100_000
    starts = [flow.get("starts", "0s") for one in drawn for flow in one.flows]
    assert any(_native.parse_time(start) % 1_000_000 for start in starts)
    assert max(one.path.get("initial_cwnd", 0) for one in drawn) > 30


def test_what_is_to_be_compared_is_among_300_scenarios_of_any_seed() -> None:
    """As `verify ns3 --fuzz 300` draws them. Each has a probability of at least one in fifty: of
    three hundred, none in one of four hundred seeds."""

    def has(drawn: Draw | FabricDraw) -> Iterator[str]:
        scenario = drawn.scenario()
        if any(flow.transport == "UDP" for flow in scenario.flows):
            yield "datagrams"
        ports = Counter(
            (flow.destination, flow.destination_port)
            for flow in scenario.flows
            if flow.transport == "UDP"
        )
        if any(count > 1 for count in ports.values()):
            yield "shared ports"
        if any(flow.transport == "UDP" and flow.receiver_stop for flow in scenario.flows):
            yield "datagrams that nobody reads"
        if "feature packets in fragments" in parts(scenario.canonical()):
            yield "fragments"
        if any(flow.application.type == "OnOff" for flow in scenario.flows):
            yield "on-off sources"
        if any(link.schedules for link in scenario.links):
            yield "schedules"
        if sum(link.name.startswith("btl_") for link in scenario.links) > 1:
            yield "parking lots"
            ends = {flow.source for flow in scenario.flows if flow.transport == "UDP"}
            if ends:
                yield "parking lots with datagrams"
        for link in scenario.links:
            for way in (link.forward, link.reverse):
                for name in ("gilbert_elliott", "jitter", "reordering"):
                    if getattr(way, name) is not None:
                        yield name
                if way.qdisc is not None and "PolicerQueueDisc" in way.qdisc.model_dump_json():
                    yield "policers"

    for seed in (11, 12):
        found = Counter(word for drawn in islice(draws(seed), 300) for word in set(has(drawn)))
        print(seed, dict(found))
        assert found.keys() == {
            "datagrams",
            "shared ports",
            "datagrams that nobody reads",
            "fragments",
            "on-off sources",
            "schedules",
            "parking lots",
            "parking lots with datagrams",
            "gilbert_elliott",
            "jitter",
            "reordering",
            "policers",
        }


def test_in_a_parking_lot_flows_meet_at_some_bottlenecks_and_go_both_ways() -> None:
    drawn = next(one for one in dumbbells(9) if "lot" in one.path and len(one.flows) > 3)
    scenario = drawn.scenario()
    lot = drawn.path["lot"]
    recording = NATIVE.simulate(scenario)
    assert sum(link.name.startswith("btl_") for link in scenario.links) == lot["hops"]
    for flow, (enters, leaves) in zip(scenario.flows, lot["ways"], strict=True):
        ends = {link.name: link.ends for link in scenario.links}
        assert ends[flow.source] == (flow.source, f"r_{enters}")
        assert ends[flow.destination] == (f"r_{leaves}", flow.destination)
    assert recording.flows.rows == len(scenario.flows)
    small = shrink(drawn, lambda candidate: "lot" in candidate.path, effort=500)
    assert isinstance(small, Draw)
    assert len(small.flows) == 1
    assert set(small.path) == {"lot", "stop_time"}


def test_one_in_three_is_a_network_of_switches() -> None:
    drawn = list(islice(draws(1), 200))
    assert 40 < sum(isinstance(one, FabricDraw) for one in drawn) < 80
    assert drawn[:20] == list(islice(draws(1), 20))


def test_networks_are_valid_small_and_run() -> None:
    for drawn in islice(fabrics(3), 40):
        recording = NATIVE.simulate(drawn.scenario())
        assert 0 < int(recording.links.array("tx_packets").sum()) <= MAX_HOPS


def test_networks_are_diverse() -> None:
    drawn = list(islice(fabrics(4), 300))
    assert {one.network["kind"] for one in drawn} == {"star", "leaf-spine", "fat-tree"}
    types = {one.network["qdisc"]["type"] for one in drawn}
    children = {
        child["type"] for one in drawn for child in one.network["qdisc"].get("children", ())
    }
    assert {"DwrrQueueDisc", "WfqQueueDisc", "StrictPriorityQueueDisc"} <= types
    assert {"ECNSharpQueueDisc", "TcnQueueDisc", "StepRedQueueDisc"} <= types & children
    assert {"MarkingCoDelQueueDisc", "MarkingPieQueueDisc"} <= types & children
    assert "SharedBufferQueueDisc" in types
    for name in ("failures", "faults"):
        assert any(name in one.settings for one in drawn)
    routings = [one.settings["routing"] for one in drawn]
    assert {r["type"] if isinstance(r, dict) else r for r in routings} == {
        *("static", "ecmp", "random"),
        *("drb", "letflow", "conga", "drill", "adaptive"),
    }
    balanced = (one for one in drawn if isinstance(one.settings["routing"], dict))
    assert any("failures" in one.settings for one in balanced)
    workloads = [workload for one in drawn for workload in one.workloads]
    assert {w.get("pairs") for w in workloads} == {None, "Incast", "Permutation", "AllToAll"}
    assert any("added_delay" in workload for workload in workloads)
    stacks = [stack for one in drawn for stack in one.stacks]
    assert {stack.get("profile") for stack in stacks} == {None, *WHOLE}
    assert any(stack.get("dscp") for stack in stacks)
    assert any("pias" in stack for stack in stacks)


def test_a_network_shrinks_to_what_matters() -> None:
    def shows(candidate: FabricDraw) -> bool:
        return any("added_delay" in workload for workload in candidate.workloads)

    found = next(one for one in fabrics(5) if shows(one) and len(one.workloads) > 2)
    small = shrink(found, shows, effort=1_000)
    assert isinstance(small, FabricDraw)
    (workload,) = small.workloads
    assert workload.keys() - {"added_delay"} == {"sizes", "arrivals"}
    # Another seed might make no transfer in so short a time.
    assert set(small.settings) <= {"stop_time", "seed"}
    assert set(small.network) <= {"kind", "hosts", "k", "leaves", "spines", "servers"}


def test_shrinking_keeps_only_what_matters() -> None:
    def shows(candidate: Draw) -> bool:
        return "loss" in candidate.path and any(
            flow.get("cc") == "TcpCubic" for flow in candidate.flows
        )

    found = next(one for one in dumbbells(5) if shows(one) and len(one.flows) > 2)
    small = shrink(found, shows)
    assert set(small.path) - {"stop_time"} == {"loss"}
    assert small.flows == ({"cc": "TcpCubic"},)
    assert small.scenario().flows[0].cc.type == "TcpCubic"


def test_shrinking_stops_when_it_has_tried_enough() -> None:
    tried: list[Draw] = []

    def shows(candidate: Draw) -> bool:
        tried.append(candidate)
        return True

    found = next(one for one in dumbbells(6) if len(one.flows) > 5)
    shrink(found, shows, effort=3)
    assert len(tried) <= 3


def test_a_planted_mistake_is_found_and_made_small() -> None:
    several = (one for one in dumbbells(7) if len(one.flows) > 1)
    drawn = next(one for one in several if "delayed_ack_count" in one.path)
    finding = examine(0, drawn, NATIVE, Mutant())
    assert finding.comparison.verdict == "packets differ"
    assert finding.smallest is not None
    assert finding.smallest.divergence is not None
    scenario = finding.smallest.scenario
    assert len(scenario.flows) == 1
    assert scenario.flows[0].tcp["DelAckCount"] != "1"
    assert scenario.label == "fuzz/0"


def test_a_failure_of_the_judge_is_no_finding() -> None:
    finding = examine(0, next(dumbbells(8)), NATIVE, Mutant(fails=True))
    assert finding.smallest is None
    assert list(finding.comparison.errors) == ["mutant"]


def test_many_side_by_side() -> None:
    found = list(fuzz_all(7, 12, NATIVE, Mutant(), jobs=3))
    assert sorted(finding.number for finding in found) == list(range(12))
    wrong = {finding.number for finding in found if finding.smallest}
    delayed = {
        number
        for number, one in enumerate(islice(draws(7), 12))
        if isinstance(one, Draw) and "delayed_ack_count" in one.path
    }
    assert wrong
    assert wrong <= delayed
    chosen = cases("transfer/*")[:4]
    compared = {
        case.name: comparison.identical
        for case, comparison in compare_all(chosen, NATIVE, Mutant(), jobs=2)
    }
    assert compared == {case.name: True for case in chosen}


def test_the_runs_end_when_nobody_listens_any_more() -> None:
    # Not their number: threads of other tests may end in between.
    threads = set(threading.enumerate())
    outcomes = fuzz_all(9, 500, NATIVE, Mutant(), jobs=2)
    next(outcomes)
    assert set(threading.enumerate()) - threads
    outcomes.close()  # type: ignore[attr-defined]
    assert not set(threading.enumerate()) - threads
