"""Workloads and stacks in Python: shapes, files, mistakes; what is drawn is the engine's part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf.errors import ScenarioError
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import Ns3
from ccperf.runs.metrics import compute
from ccperf.scenario import Scenario

without_ns3 = pytest.mark.skipif(Ns3().available() is not None, reason=str(Ns3().available()))

CDF = [[0, 0], [3_000, 0.5], [30_000, 0.9], [300_000, 1]]


def star(hosts: int = 6, **changes: Any) -> dict[str, Any]:
    """Hosts at a switch whose ports mark as a data centre's do, a long flow and two workloads."""
    names = [f"h{i}" for i in range(hosts)]
    red = {"MinTh": 20, "MaxTh": 20, "QW": 1, "UseEcn": True, "UseHardDrop": False}
    port = {"qdisc": {"type": "red", "attributes": {**red, "MaxSize": "100p"}}}
    return {
        "stop_time": "100ms",
        "nodes": [*names, "switch"],
        "links": [
            {"name": n, "ends": [n, "switch"], "rate": "1Gbps", "delay": "20us", "reverse": port}
            for n in names
        ],
        "stacks": [
            {
                "name": "dc",
                "cc": "dctcp",
                "tcp": {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms"},
            }
        ],
        "flows": [{"name": "long", "source": "h0", "destination": "h1", "stack": "dc"}],
        "workloads": [
            {
                "name": "web",
                "stack": "dc",
                "sizes": {"type": "Cdf", "points": CDF},
                "arrivals": {"type": "Poisson", "load": 0.4, "count": 150},
            },
            {
                "name": "query",
                "stack": "dc",
                "sizes": {"type": "Uniform", "min": "3kB", "max": "60kB"},
                "pairs": "Incast",
                "destinations": ["h3"],
                "arrivals": {"type": "Times", "times": ["10ms", "11ms"]},
            },
        ],
        **changes,
    }


def test_a_flow_takes_over_the_stack_that_it_names() -> None:
    written = star(workloads=[])
    flow = Scenario.model_validate(written).flows[0]
    assert (flow.cc.type, flow.tcp["SegmentSize"]) == ("dctcp", "1448")
    by_hand = star(workloads=[], stacks=[])
    by_hand["flows"][0] |= {"cc": "dctcp", "tcp": written["stacks"][0]["tcp"]}
    del by_hand["flows"][0]["stack"]
    assert Scenario.model_validate(written).hash == Scenario.model_validate(by_hand).hash


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"flows": [{"source": "h0", "destination": "h1", "stack": "cd"}]},
            r"flows\[0\].stack: .*cd",
        ),
        (
            {"flows": [{"source": "h0", "destination": "h1", "stack": "dc", "cc": "cubic"}]},
            r"flows\[0\].cc: is the stack's",
        ),
        (  # in the order of the fields, whatever Python's hashes are
            {
                "flows": [
                    {
                        "source": "h0",
                        "destination": "h1",
                        "stack": "dc",
                        "tcp": {},
                        "cc": "cubic",
                        "recovery": "prr",
                        "transport": "TCP",
                    }
                ]
            },
            r"(?s)flows\[0\].tcp: .*flows\[0\].cc: .*flows\[0\].recovery: .*transport: ",
        ),
        (
            {"workloads": [{"name": "a", "stack": "dc", "arrivals": "Poison"}]},
            "arrivals.type: .*Poisson",
        ),
        (
            {"workloads": [{"name": "a", "stack": "dc", "pairs": {"type": "Ring"}}]},
            "pairs.type: .*Incast",
        ),
        ({"workloads": [{"name": "a", "stack": "dc", "sizes": "Web"}]}, "sizes.type: .*WebSearch"),
        (
            {"workloads": [{"arrivals": {"type": "Poisson", "loat": 1}}]},
            r"workloads\[0\].arrivals.loat: is not a field here .did you mean `load`",
        ),
        ({"flows": [], "workloads": []}, "at least one flow, or a workload"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.model_validate(star(**changes)).canonical()


def web(**changes: Any) -> dict[str, Any]:
    arrivals = {"type": "Poisson", "load": 0.4}
    return {"name": "web", "stack": "dc", "arrivals": arrivals, "sizes": "WebSearch", **changes}


def test_sizes_come_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text(
        "# bytes, probability\n0 0\n3000 0.5\n\n30000 1.0  # most\n"
    )
    sizes = {"type": "Cdf", "file": "sizes.txt"}
    context = {"folder": tmp_path}
    found = Scenario.model_validate(star(workloads=[web(sizes=sizes)]), context=context)
    points = found.canonical()["workloads"][0]["sizes"]["points"]
    assert points == [[0, 0], [3000, 0.5], [30000, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 0\nfive 1\n", "line 2: `five 1` is not two numbers"),
        (b"", "there are no points"),
        (b"0 0\n10 0.9\n", "the last probability is 0.9, not 1"),
        (b"0 0.5\n10 0.4\n20 1\n", "neither may fall"),
        (b"\xff\xfe\x00\x01", "cannot be read as text"),
        (None, "cannot be read as text"),
    ],
)
def test_files_that_are_no_distribution_are_refused(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "sizes.txt").write_bytes(content)
    sizes = {"type": "Cdf", "file": str(tmp_path / "sizes.txt")}
    with pytest.raises(ScenarioError, match=f"sizes.*{message}"):
        Scenario.model_validate(star(workloads=[web(sizes=sizes)])).canonical()


def test_what_is_drawn_does_not_depend_on_what_is_under_test() -> None:
    def drawn(**changes: Any) -> Any:
        lowered = json.loads(Scenario.model_validate(star(**changes)).lowered())
        return [[w[key] for key in ("pair", "start_ns", "bytes")] for w in lowered["workloads"]]

    other = {"name": "dc", "cc": "cubic", "recovery": "PrrRfc6937", "tcp": {"SegmentSize": 536}}
    assert drawn() == drawn(stacks=[other])
    assert drawn() != drawn(seed=2)


def test_metrics_are_of_classes_and_of_what_is_sampled() -> None:
    scenario = Scenario.model_validate(star(recording={"flows": ["long", "query"]}))
    recording = backends.get("native").simulate(scenario)
    tables = compute(scenario, recording)
    assert list(tables.flow) == ["long", *(f"query_{i}" for i in range(1, 11))]
    assert {"all", "small", "query", "web"} <= tables.classes.keys()
    assert tables.classes["web"]["total_transfers_l4"] == 150
    assert tables.classes["query"]["mean_slowdown_l4"] > 1
    assert recording.workloads is not None
    realised = recording.workloads.array("realised_mean_bytes")[0]
    sizes = next(w["bytes"] for w in json.loads(scenario.lowered())["workloads"])
    assert realised == np.mean(sizes)
    by_default = backends.get("native").simulate(Scenario.model_validate(star()))
    assert by_default.completions is not None
    assert set(by_default.flow_samples.array("flow").tolist()) == {0}


@pytest.mark.ns3
@without_ns3
def test_transfers_are_those_of_ns3_packet_by_packet(tmp_path: Path) -> None:
    scenario = Scenario.model_validate(star(recording={"flows": ["long", "web"], "changes": True}))
    ours, theirs = (
        backends.get(name).simulate(scenario, packets=tmp_path / f"{name}.csv")
        for name in ("native", "ns3")
    )
    packets = [(tmp_path / f"{name}.csv").read_bytes() for name in ("native", "ns3")]
    assert len(packets[0]) > 1_000_000
    assert packets[0] == packets[1]
    assert ours.equals(theirs)
