"""The matrix: every scenario is valid, within its budget, and varies what it says."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import matrix_names
from ccperf.algorithms import registry
from ccperf.runs import backends
from ccperf.verify import counting, matrix

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

NATIVE = backends.get("native")


@pytest.fixture(scope="module")
def cases() -> list[matrix.Case]:
    return matrix.cases()


def test_names_are_unique_and_grouped(cases: list[matrix.Case]) -> None:
    names = [case.name for case in cases]
    assert set(matrix_names.every()) == set(names), "python tools/fingerprints.py --write"
    assert len(set(names)) == len(names)
    assert all(case.group and case.name.startswith(case.group + "/") for case in cases)
    # Different names, different runs.
    assert len({case.scenario.hash for case in cases}) > 0.97 * len(cases)


def test_there_are_enough(cases: list[matrix.Case]) -> None:
    assert len(cases) >= 300
    # The four published runs, and 200 flows through each kind of network of switches.
    assert sum(case.heavy for case in cases) <= 12
    groups = Counter(case.group for case in cases)
    assert groups["collision"] >= 20
    assert groups["published"] == 4


def test_every_algorithm_occurs(cases: list[matrix.Case]) -> None:
    flows = [flow for case in cases for flow in case.scenario.flows]
    assert {flow.cc.type for flow in flows if flow.cc} == set(registry.compared("cc"))
    assert {flow.recovery for flow in flows} == set(registry.algorithms("recovery"))
    qdiscs = {
        direction.qdisc.type
        for case in cases
        for direction in (case.scenario.links[0].forward, case.scenario.links[0].reverse)
        if direction.qdisc
    }
    assert qdiscs == set(registry.compared("qdisc"))


def test_every_congestion_control_occurs_often_enough_for_its_differences_to_show(
    cases: list[matrix.Case],
) -> None:
    counts = Counter(
        cc for case in cases for cc in {flow.cc.type for flow in case.scenario.flows if flow.cc}
    )
    assert min(counts.values()) >= 30


def test_the_daily_part_has_every_algorithm_and_every_attribute_of_a_socket() -> None:
    daily = matrix.representative()
    names = json.loads((files("ccperf.data") / "slice.json").read_text(encoding="utf-8"))
    assert [case.name for case in daily] == names
    assert not any(case.heavy for case in daily)
    there = {part for case in daily for part in counting.parts(case.scenario.canonical())}
    algorithms = {
        f"{kind} {name}" for kind in ("cc", "qdisc", "recovery") for name in registry.compared(kind)
    }
    assert algorithms <= there
    params = registry.tables()["socket"]["params"]
    assert {
        f"socket {param['ns3']}" for param in params if not (param["is_own"] or param["since"])
    } <= there


def test_patterns_select() -> None:
    chosen = matrix.cases("recovery/*-nosack-*")
    assert [case.group for case in chosen] == ["recovery"] * 6
    assert matrix.cases("nothing/*") == []


def somebody_sends(scenario: Scenario) -> bool:
    """Connections send a SYN even if they stop when they start; UDP sends nothing then."""
    return bool(scenario.workloads) or any(
        flow.transport == "TCP" or flow.stop != flow.start for flow in scenario.flows
    )


@pytest.mark.parametrize("group", matrix_names.groups())
def test_they_run_within_their_budget(group: str) -> None:
    for case in matrix.cases(f"{group}/*"):
        recording = NATIVE.simulate(case.scenario)
        hops = int(recording.links.array("tx_packets").sum())
        assert (hops > 0) == somebody_sends(case.scenario), case.name
        assert case.heavy or hops <= matrix.MAX_HOPS, case.name
        # Whatever was sent was delivered, lost or is still under way: nothing comes from nowhere.
        samples = recording.flow_samples
        assert (samples.array("received_bytes") <= samples.array("sent_bytes")).all(), case.name
        assert (samples.array("read_bytes") <= samples.array("written_bytes")).all(), case.name


def test_flows_collide_at_a_full_queue(tmp_path: Path) -> None:
    """In 20 cases packets of several sources come in one nanosecond in which one is dropped."""
    trace = tmp_path / "packets.csv"
    colliding = 0
    for case in matrix.cases("collision/*"):
        NATIVE.simulate(case.scenario, packets=trace)
        sources: dict[str, set[str]] = {}
        drops = set()
        for line in trace.read_text().splitlines()[1:]:
            time, link, event, _ = line.split(",", 3)
            if event == "rx" and link.startswith("src_"):
                sources.setdefault(time, set()).add(link)
            elif event == "drop" and link == "btl_forward":
                drops.add(time)
        together = {time for time, links in sources.items() if len(links) > 1}
        colliding += len(together & drops) >= 3
    assert colliding >= 20
