"""Flow traces: three formats in, the transfers that they say, and completion files out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf import Scenario
from ccperf.errors import ScenarioError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import leaf_spine, written
from ccperf.present.exporters import export
from ccperf.runs.result import Result

STACK = {"name": "dc", "profile": "datacentre"}
CSV = """\
# who, when, how much
start_us,source,destination,bytes,class
5,1,3,2000000,elephants
0,h_0_0,2,20000,mice
5.5,3,0,2000000,elephants
"""
HPCC = "3\n1 3 3 100 2000000 0.000005\n0 2 3 100 20000 0\n3 0 3 100 2000000 0.0000055\n"
HTSIM = """\
Nodes 4
Connections 3
1->3 id 1 start 5000000 size 2000000
0->2 start 0 size 20000 prio 3
3->0 start 5500000 size 2000000
"""


def scenario(
    tmp_path: Path, text: str, behind: list[dict[str, Any]] | None = None, **own: Any
) -> Scenario:
    (tmp_path / "trace").write_text(text)
    fabric = leaf_spine(2, 2, 2)
    fields = {
        "nodes": fabric.nodes,
        "links": fabric.links,
        "stop_time": "20ms",
        "stacks": [STACK],
        "workloads": [{"trace": "trace", "stack": "dc", **own}, *(behind or [])],
    }
    return Scenario.model_validate(fields, context={"folder": tmp_path})


def test_three_formats_say_the_same(tmp_path: Path) -> None:
    classless = "\n".join(line.rpartition(",")[0] for line in CSV.splitlines()[1:])
    hashes = {scenario(tmp_path, text).hash for text in (classless, HPCC, HTSIM)}
    assert len(hashes) == 1


def test_a_run_makes_the_transfers_of_the_file(tmp_path: Path) -> None:
    result = ccperf.simulate(scenario(tmp_path, CSV))
    ends = result.recording.completions
    assert ends is not None
    rows = zip(*(ends[name] for name in ("group", "start_ns", "size_bytes")), strict=True)
    assert sorted(rows, key=lambda row: row[1]) == [
        ("mice", 0, 20_000),
        ("elephants", 5_000, 2_000_000),
        ("elephants", 5_500, 2_000_000),
    ]
    pairs = [each["pairs"]["pairs"] for each in result.scenario.canonical()["workloads"]]
    assert pairs == [[["h_0_0", "h_1_0"]], [["h_0_1", "h_1_1"], ["h_1_1", "h_0_0"]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: there is no transfer"),
        ("hello\n", "line 1: `hello` begins no trace"),
        ("start,source,destination\n", "line 1: write each of"),
        ("start,source,destination,bites\n", "line 1: unknown column `bites`"),
        (CSV + "1,2\n", "line 6: has 2 cells, and the header 5"),
        (CSV + "7,0,3,20kB,mice\n", "line 6: bytes `20kB` is not a whole number"),
        (CSV + "7,0,3,0,mice\n", "line 6: bytes `0` would carry nothing"),
        (CSV + "-7,0,3,5,mice\n", "line 6: start `-7` is not a number"),
        (CSV + "7,0,4,5,mice\n", "line 6: there is no host 4 of 4"),
        (CSV + "7,0,h_1_2,5,mice\n", "line 6: unknown node `h_1_2`"),
        ("start,source,destination,bytes\n7,0,1,5\n", "line 2: .*7.*unit"),
        ("4" + HPCC[1:], "line 1: says 4 flows, and 3 follow"),
        (HPCC.replace("2 3 100 20000", "2 3 20000"), "line 3: `0 2 3 20000 0` is not"),
        (HTSIM.replace("Connections 3", "Connections 4"), "line 2: says 4 connections, and 3"),
        (HTSIM.replace("prio 3", "trigger 3"), "line 4: `trigger`: .* give a start"),
        (HTSIM.replace("0->2", "0-2"), "line 4: `0-2 .* is no connection"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=rf"workloads\[0\].trace: `trace`, {message}"):
        scenario(tmp_path, text)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["7,0,0,5,mice"], ["line 6: destination `h_0_0` is the source as well"]),
        (["7e6,0,1,5,mice"], ["line 6: start 7s is not before stop_time"]),
        ([f"7,0,1,{2**50},mice"], [f"line 6: bytes {2**50}B is not from 1B to 4000000000B"]),
        (["7,0,1,5,a b"], ["line 6: class `web_a b` is not a name"]),
        (["8,0,0,5,a", "9,1,1,5,b"], ["line 6: destination `h_0_0`", "line 7: dest.* `h_0_1`"]),
        (
            [f"{10**6 + i},0,1,5,late" for i in range(9)],
            ["line 6: start", "line 7: start", "line 8: start", "6 lines more of that kind"],
        ),
    ],
)
def test_what_a_network_or_its_times_rule_out_is_named_by_its_line(
    tmp_path: Path, rows: list[str], said: list[str]
) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(tmp_path, CSV + "\n".join(rows) + "\n", name="web")
    problems = refused.value.problems
    assert {problem.path for problem in problems} == {"workloads[0].trace"}
    assert len(problems) == len(said)
    for problem, message in zip(problems, said, strict=True):
        assert re.match(f"`trace`, {message}", problem.message)


def test_what_is_wrong_behind_a_trace_keeps_its_place(tmp_path: Path) -> None:
    """A trace of two classes is two workloads; the one behind it is still the second."""
    with pytest.raises(ScenarioError) as refused:
        scenario(tmp_path, CSV, behind=[{"name": "a b", "stack": "dc"}])
    assert {problem.path.partition(".")[0] for problem in refused.value.problems} == {
        "workloads[1]"
    }


def test_a_trace_says_when_between_whom_and_how_much(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"workloads\[0\].sizes: is the trace's"):
        scenario(tmp_path, HPCC, sizes="WebSearch")
    with pytest.raises(ScenarioError, match=r"`gone` cannot be read"):
        scenario(tmp_path, HPCC, trace="gone")


def test_an_experiment_takes_a_trace_in_place_of_its_load(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text(HPCC)
    experiment = catalogue.get("leaf_spine")
    given = {"flow_trace": [str(tmp_path / "flow.txt")], "servers": [2], "leaves": [2]}
    points = list(experiment.product(given))
    assert len(points) == 1
    made = experiment.scenario("TcnQueueDisc", **points[0])
    assert made.workloads[0].name == "trace"


def _exported(result: Result, name: str, folder: Path) -> list[list[str]]:
    [path] = export(name, [result], folder)
    return [line.split() for line in path.read_text().splitlines()]


def test_completion_files_are_those_of_hpcc_and_of_htsim(tmp_path: Path) -> None:
    result = ccperf.simulate(scenario(tmp_path, HPCC))
    table = result.recording.completions
    assert table is not None
    ends, starts = table.array("end_ns").tolist(), table.array("start_ns").tolist()
    rows = _exported(result, "hpcc", tmp_path)
    # In the order of ends: 0 to 2, then one of the others, as HPCC numbers their addresses.
    assert rows[0][:5] == ["0b000001", "0b000201", "49152", "5001", "20000"]
    assert [int(row[5]) for row in rows] == starts
    assert [int(row[5]) + int(row[6]) for row in rows] == ends
    assert all(int(row[6]) >= int(row[7]) > 0 for row in rows)
    lines = _exported(result, "htsim", tmp_path)
    assert lines[0][:5] == ["Flow", "tcp_0_2", "flowId", "1", "finished"]
    assert [float(line[6]) for line in lines] == pytest.approx(
        [end / 1e3 for end in ends], rel=1e-5
    )


@pytest.mark.parametrize("condition", ["symmetric", "slow_links"])
def test_an_ideal_time_of_one_path_is_not_said_of_another(condition: str, tmp_path: Path) -> None:
    """A transfer over fast links would take less than the ideal time over slow ones."""
    sizes = {"leaves": 2, "spines": 2, "servers": 2, "data": "1MB"}
    result = ccperf.run(
        "all_reduce", routing="ecmp", condition=condition, placement="packed", **sizes
    )
    rows = _exported(result, "hpcc", tmp_path)
    has_slowdowns = "mean_slowdown_l4" in result.class_metrics["all"]
    assert has_slowdowns == (condition == "symmetric")
    for row in rows:
        assert int(row[6]) >= int(row[7])
        assert (int(row[7]) > 0) == has_slowdowns


def test_a_flow_without_a_size_that_stops_is_no_transfer(tmp_path: Path) -> None:
    fields = ccperf.Scenario(
        stop_time="2s",
        nodes=["a", "b"],
        links=[{"name": "wire", "ends": ["a", "b"], "rate": "16Mbps", "delay": "5ms"}],
        flows=[{"source": "a", "destination": "b", "cc": "newreno", "stop": "1s"}],
    )
    result = ccperf.simulate(fields)
    assert _exported(result, "hpcc", tmp_path) == _exported(result, "htsim", tmp_path) == []


def test_a_file_of_a_scenario_names_a_trace_beside_it(tmp_path: Path) -> None:
    (tmp_path / "flows.txt").write_text(HTSIM)
    (tmp_path / "mine.toml").write_text(
        'stop_time = "20ms"\n[leaf_spine]\nleaves = 2\nspines = 2\nservers = 2\n'
        '[[stacks]]\nname = "dc"\nprofile = "datacentre"\n'
        '[[workloads]]\nstack = "dc"\ntrace = "flows.txt"\n'
    )
    assert len(written.read(tmp_path / "mine.toml").workloads[0].arrivals.times) == 3
