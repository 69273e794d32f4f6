"""What load balancers do to flows and links: tables, metrics and figures of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ccperf.errors import UsageError
from ccperf.present import figures
from ccperf.runs import backends, metrics
from ccperf.runs.metrics.link_series import LinkSeries
from ccperf.runs.metrics.parallel import parallel, with_parallel
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

#: Two hosts below each of two leaves, two spines between; names as in figures of leaf-spines.
HOSTS = {"a": "left", "b": "left", "c": "right", "d": "right"}


def fabric(routing: Any, flows: int = 4, **recording: Any) -> Scenario:
    link = {"rate": "100Mbps", "delay": "50us"}
    between = [(leaf, spine) for leaf in ("left", "right") for spine in ("up", "down")]
    return Scenario.model_validate(
        {
            "stop_time": "200ms",
            "nodes": [*HOSTS, "left", "right", "up", "down"],
            "links": [
                *({"name": host, "ends": [host, leaf], **link} for host, leaf in HOSTS.items()),
                *({"name": f"{a}-{b}", "ends": [a, b], **link} for a, b in between),
            ],
            "routing": routing,
            "flows": [
                {
                    "source": "ab"[i % 2],
                    "destination": "cd"[i % 2],
                    "cc": "TcpNewReno",
                    "application": {"type": "Greedy", "bytes": "300000B"},
                }
                for i in range(flows)
            ],
            "recording": {"interval": "5ms", "completions": True, **recording},
        }
    )


def run(routing: Any, **recording: Any) -> tuple[Scenario, Recording]:
    scenario = fabric(routing, **{"balancing": True, "paths": True, **recording})
    return scenario, backends.get("native").simulate(scenario)


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    scenario = fabric("drb")
    recording = backends.get("native").simulate(scenario)
    for name in ("reordering", "probing", "ways", "paths"):
        assert name not in recording.tables
        assert name not in scenario.canonical()["recording"]
    found = metrics.compute(scenario, recording)
    assert "reordering_rate_l3" not in found.classes["all"]
    assert "probing_overhead_l1" not in found.network.get("net", {})


def test_what_is_recorded_changes_nothing_else() -> None:
    usual = backends.get("native").simulate(fabric("drb"))
    _, recording = run("drb")
    for name, table in usual.tables.items():
        assert table.equals(recording.tables[name]), name


def test_a_flow_that_stays_on_its_way_neither_switches_nor_reorders() -> None:
    scenario, recording = run("ecmp")
    assert recording.reordering is not None
    assert recording.paths is not None
    assert recording.ways is not None
    assert list(recording.reordering["flow"]) == [0, 1, 2, 3]
    assert all(recording.reordering.array("packets") > 200)
    for column in ("reordered", "extent_sum", "max_extent", "path_switches"):
        assert not recording.reordering.array(column).any(), column
    assert sorted(recording.paths["flow"]) == [0, 1, 2, 3], "each flow's first packet"
    assert all(len(links.split()) == 2 for links in recording.ways["links"])
    found = metrics.compute(scenario, recording).classes["all"]
    assert found["reordering_rate_l3"] == found["mean_path_switches_l3"] == 0
    assert found["max_reordering_extent_l3"] == 0
    assert "mean_reordering_extent_l3" not in found


def test_packets_in_turn_switch_each_time() -> None:
    scenario, recording = run("drb")
    table, paths = recording.reordering, recording.paths
    assert table is not None
    assert paths is not None
    # A flow shares its turns with the other one between its hosts.
    assert all(table.array("path_switches") > 0.3 * table.array("packets"))
    switched = np.bincount(paths.array("flow")) - 1
    assert switched.tolist() == table.array("path_switches").tolist()
    assert (np.diff(paths.array("time_ns")) >= 0).all()
    found = metrics.compute(scenario, recording).classes["all"]
    assert found["mean_path_switches_l3"] == table.array("path_switches").mean()
    rate = 100 * table.array("reordered").sum() / table.array("packets").sum()
    assert math.isclose(found["reordering_rate_l3"], rate)


def test_followed_are_the_flows_that_are_named() -> None:
    _, recording = run("drb", paths=["flow_2"])
    assert recording.paths is not None
    assert set(recording.paths["flow"]) == {1}


def test_probes_are_counted_there_and_back() -> None:
    scenario, recording = run("hermes")
    table = recording.probing
    assert table is not None
    packets, sent, everything = (int(table.array(name)[0]) for name in table)
    # Both racks probe two ways by chance and the best one of before every 500 us, and are answered.
    assert 100 < packets <= 3 * 2 * 2 * 400
    assert sent == packets * 66
    of_hosts = [f"{host}_forward" for host in HOSTS]
    links = recording.links
    names = links.strings("name")
    assert everything == sum(links.array("tx_bytes")[names.index(name)] for name in of_hosts)
    found = metrics.compute(scenario, recording)
    assert found.network["net"]["probing_overhead_l1"] == 100 * sent / everything
    assert metrics.compute(*run("ecmp")).network["net"]["probing_overhead_l1"] == 0


def test_parallel_are_links_among_which_a_balancer_chooses() -> None:
    canonical = fabric("ecmp").canonical()
    assert {frozenset(group) for group in parallel(canonical)} == {
        frozenset({"left-up_forward", "left-down_forward"}),
        frozenset({"right-up_forward", "right-down_forward"}),
    }
    assert parallel(fabric("static").canonical()) == []
    beside = with_parallel(canonical, {"left-up_forward", "a_forward"})
    assert beside == {"left-up_forward", "left-down_forward", "a_forward"}


@pytest.mark.parametrize(
    ("routing", "links"),
    [("static", {"left-up_forward"}), ("ecmp", {"left-up_forward", "left-down_forward"})],
)
def test_where_a_balancer_chooses_all_stand_for_the_bottleneck(
    routing: str, links: set[str]
) -> None:
    fields = fabric(routing, flows=1).model_dump(mode="json", exclude_unset=True)
    for link in fields["links"]:
        link["rate"] = "50Mbps" if "-" in link["name"] else "100Mbps"
    scenario = Scenario.model_validate(fields)
    recording = backends.get("native").simulate(scenario)
    assert recording.flows.strings("bottleneck") == ["left-up_forward"]
    found = metrics.compute(scenario, recording).link
    assert set(found) == links
    # The flow's bytes are on one of them, whichever that is.
    used = [values["mean_utilization_l1"] > 10 for values in found.values()]
    assert used.count(True) == 1


def test_one_flow_is_all_on_one_of_two_links() -> None:
    between = ["left-up", "left-down", "a"]
    scenario = fabric("ecmp", flows=1, links=between)
    found = metrics.compute(scenario, backends.get("native").simulate(scenario)).link
    # (One less none) over the mean of both.
    assert found["left-up_forward"]["mean_imbalance_l1"] == 200
    even = fabric("drb", flows=1, links=between)
    links = metrics.compute(even, backends.get("native").simulate(even)).link
    assert links["left-up_forward"]["mean_imbalance_l1"] < 60
    assert "mean_imbalance_l1" not in links["a_forward"]


def test_links_that_are_down_are_not_among_those_that_are_parallel() -> None:
    """Of three paths with one cut off the two others carry the same, and that is even."""
    between = ["up", "middle", "down"]
    fields = fabric("drb", flows=1).model_dump(mode="json", exclude_unset=True)
    fields["nodes"].append("middle")
    like = fields["links"][-1]
    fields["links"] += [
        {**like, "name": f"{leaf}-middle", "ends": [leaf, "middle"]} for leaf in ("left", "right")
    ]
    fields["recording"]["links"] = [f"left-{spine}" for spine in between]
    imbalance = {}
    for cut, failures in (
        ("nothing", []),
        ("a link", [{"link": "left-middle", "down": "1ns"}]),
        ("a switch for a time", [{"node": "middle", "down": "1ns", "up": "12ms"}]),
        ("all but one", [{"node": spine, "down": "1ns"} for spine in between[:2]]),
    ):
        scenario = Scenario.model_validate({**fields, "failures": failures})
        recording = backends.get("native").simulate(scenario)
        series = LinkSeries(scenario, recording)
        imbalance[cut] = series.imbalance[:, [series.names.index("left-up_forward")]]
        assert (np.nanmax(imbalance[cut]) if cut != "all but one" else 0) < 100
        used = series.utilization[:, series.names.index("left-middle_forward")]
        found = series.imbalance[:, series.names.index("left-middle_forward")]
        if cut == "a link":
            assert np.isnan(found).all()
            figure = figures.describe("paths", scenario, recording)
            (drawn,) = figure.panels[-1].series
            assert np.nanmax(drawn.y) < 100
        if cut == "a switch for a time":
            # Rows end at 5, 10, 15 ms: in the third one it is still down at first.
            assert np.isnan(found[:3]).all()
            assert not np.isnan(found[3])
            assert used[3] > 0
    assert np.isnan(imbalance["all but one"]).all()


def test_the_figure_shows_ways_and_imbalance() -> None:
    scenario, recording = run("drb")
    figure = figures.describe("paths", scenario, recording)
    ways, imbalance = figure.panels
    assert set(ways.y.labels) == {"up", "down"}
    assert len(ways.series) == 4
    assert {series.subject for series in ways.series} == {0, 1, 2, 3}
    assert [figure.subjects[series.subject].name for series in imbalance.series] == [
        "left",
        "right",
    ]
    assert "paths" in figures.drawable(scenario, recording)
    # Four times 300 kB over 200 Mbps take 48 ms and some, of a run of 200: time ends with them.
    assert 50 <= imbalance.x.upper == ways.x.upper < 100
    assert all(series.x[-1] == ways.x.upper for series in ways.series)


def test_a_run_with_one_way_has_no_such_figure() -> None:
    scenario = fabric("static")
    recording = backends.get("native").simulate(scenario)
    assert "paths" not in figures.drawable(scenario, recording)
    with pytest.raises(UsageError, match="paths"):
        figures.describe("paths", scenario, recording)
