"""Schedulers, balancers of hosts and marking disciplines of one's own, in the experiments."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.runs.backends import get
from ccperf.runs.metrics import compute
from ccperf.runs.recording import TABLES, Recording
from ccperf.scenario import Scenario
from user_scenarios import EXAMPLES, ROOT

PYTHON = EXAMPLES / "python"
MINE = {
    "scheduler": f"{PYTHON}/myscheduler.py:MyScheduler",
    "host balancer": f"{PYTHON}/myhostbalancer.py:MyHostBalancer",
    "marking": f"{PYTHON}/mymarking.py:MyMarking",
}


def simulated(experiment: str, name: str, **given: object) -> tuple[Scenario, Recording]:
    scenario = catalogue.get(experiment).scenario(name, **given)
    return scenario, get("native").simulate(scenario)


def written(folder: Path, base: str, body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path = folder / "bad.py"
    path.write_text(f"import ccperf\n\n\nclass Bad(ccperf.{base}):\n{lines}\n")
    return f"{path}:Bad"


def test_a_scheduler_in_python_sends_what_the_built_in_one_sends() -> None:
    """Deficit weighted round robin, both over TCN, which marks when a packet leaves."""
    both = [
        simulated("schedulers", name, short=60, stop_time="240ms")[1]
        for name in ("DWRR", MINE["scheduler"])
    ]
    for table in ("completions", "flow_samples", "links"):
        one, other = (recording.tables[table] for recording in both)
        for column in TABLES[table]:
            if column.kind != "str":
                found = (each.array(column.name) for each in (one, other))
                np.testing.assert_array_equal(*found, column.name)


def test_every_scheduler_is_compared_and_what_is_none_is_refused() -> None:
    experiment = catalogue.get("schedulers")
    for name in (*experiment.usual, MINE["scheduler"]):
        made = experiment.scenario(name)
        (bottleneck,) = [link for link in made.links if link.name == "bottleneck"]
        assert bottleneck.reverse.qdisc is not None
        assert {child.type for child in bottleneck.reverse.qdisc.children} == {"TcnQueueDisc"}
    with pytest.raises(UsageError, match="no scheduler"):
        experiment.scenario("codel")


def test_pias_is_faster_for_short_flows_than_shares() -> None:
    means = {
        name: compute(*simulated("schedulers", name, stop_time="300ms")).classes["short"]
        for name in ("DWRR", "PIAS")
    }
    assert means["PIAS"]["mean_fct_l4"] < 0.7 * means["DWRR"]["mean_fct_l4"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def next(self, classes):\n    return 3", "not the number of one of 3 classes"),
        (
            "def next(self, classes):\n    return min(c.number for c in classes if not c.packets)",
            "a class without packets",
        ),
        ("def classify(self, packet, classes):\n    return -1", r"\(in classify\)"),
    ],
)
def test_a_scheduler_that_errs_ends_its_run(tmp_path: Path, body: str, says: str) -> None:
    if "def next" not in body:
        body += "\ndef next(self, classes):\n    return 0"
    with pytest.raises(RunError, match=says):
        simulated("schedulers", written(tmp_path, "Scheduler", body), stop_time="210ms")


def test_a_class_of_another_kind_is_named() -> None:
    queue = f"{PYTHON}/myqdisc.py:MyQueue"
    with pytest.raises(RunError, match="is no scheduler, and has no children"):
        simulated("schedulers", queue, stop_time="210ms")
    with pytest.raises(RunError, match="is a scheduler; give it children"):
        simulated("testbed", MINE["scheduler"], flows=5)


SMALL = {
    "condition": "symmetric",
    "leaves": 2,
    "spines": 4,
    "servers": 4,
    "arrivals": "8ms",
    "load": 0.8,
}


def test_a_balancer_of_hosts_in_python_moves_congested_flows_and_ends_them_all() -> None:
    scenario, recording = simulated("load_balancing", f"{MINE['host balancer']}(rounds=2)", **SMALL)
    found = compute(scenario, recording).classes["all"]
    assert found["total_unfinished_l4"] == 0
    assert 0 < found["mean_path_switches_l3"] < 10


def test_a_balancer_of_hosts_sees_what_is_sent_acknowledged_and_lost(tmp_path: Path) -> None:
    """Everything over one of four paths, of which a spine loses 2 %."""
    body = """
def __init__(self):
    self.seen = {"new": 0, "retransmission": 0, "timeout": 0, "control": 0}
    self.acked = self.lost = self.late = 0
    self.rtts = []
def send(self, packet):
    self.seen[packet.kind] += 1
    assert packet.paths == 4 and packet.source != packet.destination
    if packet.kind == "retransmission":
        assert self.lost == self.seen["retransmission"]
    if packet.kind == "timeout":
        assert self.late == self.seen["timeout"]
    return 0
def ack(self, ack):
    self.acked += ack.newly_acked
    assert ack.path in (0, None)
    if ack.rtt_ns is not None:
        assert ack.rtt_ns > 80_000
def loss(self, packet):
    self.lost += 1
def timeout(self, packet):
    self.late += 1
"""
    given = {**SMALL, "condition": "random_drops", "arrivals": "3ms"}
    name = written(tmp_path, "HostBalancer", body.strip())
    scenario, recording = simulated("load_balancing", name, **given)
    assert compute(scenario, recording).classes["all"]["total_unfinished_l4"] == 0
    assert recording.flows.array("retransmissions").sum() > 0


def test_a_path_that_there_is_not_ends_the_run(tmp_path: Path) -> None:
    name = written(tmp_path, "HostBalancer", "def send(self, packet):\n    return packet.paths")
    with pytest.raises(RunError, match=r"not the number of one of 4 paths \(in send\)"):
        simulated("load_balancing", name, **SMALL)


def test_a_marking_discipline_gets_the_thresholds_of_each_preset() -> None:
    for experiment in ("testbed", "leaf_spine"):
        text = catalogue.get(experiment).scenario(MINE["marking"]).canonical_text()
        asked = set(re.findall(r'"(average|tail)": ?"(\d+)', text))
        assert {name for name, _ in asked} == {"average", "tail"}
    scenario, recording = simulated("testbed", MINE["marking"], flows=60, load=0.8)
    assert recording.links.array("qdisc_marked").sum() > 0
    assert compute(scenario, recording).classes["all"]["total_unfinished_l4"] == 0


def test_examples_are_short_and_on_the_page() -> None:
    page = (ROOT / "docs" / "bring-your-own.md").read_text(encoding="utf-8")
    for name in MINE.values():
        path = Path(name.partition(".py:")[0] + ".py")
        body = path.read_text(encoding="utf-8").partition("class ")[2]
        code = [line for line in body.splitlines() if line.strip()]
        assert len(code) < 40
        assert f"examples/python/{path.name}" in page
