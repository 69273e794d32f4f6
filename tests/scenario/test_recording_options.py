"""What a scenario asks to be recorded is recorded, alike by both backends, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccperf.errors import ScenarioError, UsageError
from ccperf.present.figures import describe
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import Ns3
from ccperf.runs.metrics import compute
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

without_ns3 = pytest.mark.skipif(Ns3().available() is not None, reason=str(Ns3().available()))


def transfers(**recording: Any) -> Scenario:
    """Twelve transfers that come one after the other over a bottleneck, some of them too large."""
    codel = {"type": "CoDelQueueDisc", "attributes": {"MaxSize": "30p"}}
    flow = {"source": "a", "destination": "d", "cc": "newreno", "tcp": {"SegmentSize": 1448}}
    flows: list[dict[str, Any]] = [
        {
            **flow,
            "start": f"{100 * i}ms",
            "group": "odd" if i % 2 else None,
            "application": {"type": "Greedy", "bytes": f"{20_000 + i * 90_000}B"},
        }
        for i in range(10)
    ]
    cbr = {"type": "CBR", "rate": "1Mbps", "bytes": "30kB"}
    return Scenario.model_validate(
        {
            "stop_time": "2s",
            "nodes": ["a", "b", "s", "d"],
            "links": [
                {"name": "in", "ends": ["a", "s"], "rate": "100Mbps", "delay": "1ms"},
                {"name": "in2", "ends": ["b", "s"], "rate": "100Mbps", "delay": "3ms"},
                {
                    "name": "out",
                    "ends": ["s", "d"],
                    "rate": "10Mbps",
                    "delay": "2ms",
                    "forward": {"qdisc": codel},
                },
            ],
            "flows": [
                *flows,
                {**flow, "source": "b", "cc": "cubic"},
                {**flow, "source": "b", "start": "500ms", "application": cbr},
            ],
            "recording": recording,
        }
    )


def run(scenario: Scenario, backend: str = "native") -> Recording:
    return backends.get(backend).simulate(scenario)


SOME: dict[str, Any] = {
    "flows": ["flow_3", "flow_1"],
    "links": ["out_forward", "in"],
    "queues": {"links": ["out"], "interval": "1ms"},
    "changes": ["flow_2"],
    "completions": True,
}


@pytest.mark.parametrize(
    "backend", ["native", pytest.param("ns3", marks=[pytest.mark.ns3, without_ns3])]
)
def test_a_selection_is_what_is_there_of_the_whole(backend: str) -> None:
    whole = run(transfers(changes=True), backend)
    part = run(transfers(**SOME), backend)
    for table in ("flows", "links", "drops"):
        assert part.tables[table].equals(whole.tables[table])
    for table, subject, chosen in (
        ("flow_samples", "flow", [0, 2]),
        ("link_samples", "link", [0, 1, 4]),
        ("changes", "flow", [1]),
    ):
        rows = np.isin(whole.tables[table].array(subject), chosen)
        for column in part.tables[table]:
            ours, all_rows = part.tables[table][column], np.asarray(whole.tables[table][column])
            np.testing.assert_array_equal(np.asarray(ours), all_rows[rows])


@pytest.mark.ns3
@without_ns3
def test_both_backends_record_the_same() -> None:
    assert run(transfers(**SOME)).equals(run(transfers(**SOME), "ns3"))


def test_queues_are_sampled_on_a_grid_of_their_own() -> None:
    table = run(transfers(**SOME)).queue_samples
    assert table is not None
    assert table.rows == 2 * 2000
    assert table.array("time_ns")[::2].tolist() == [i * 1_000_000 for i in range(2000)]
    coarse = run(transfers()).link_samples
    at = table.array("time_ns") % 30_000_000 == 0
    of_link = np.isin(coarse.array("link"), [4, 5])
    for column in ("qdisc_packets", "qdisc_bytes", "sojourn_ns"):
        np.testing.assert_array_equal(table.array(column)[at], coarse.array(column)[of_link])


def test_an_unfinished_transfer_has_a_row_and_no_end() -> None:
    table = run(transfers(completions=True)).completions
    assert table is not None
    finished = table.array("finished") == 1
    assert sorted(table.array("flow").tolist()) == list(range(12))
    assert finished.tolist() == sorted(finished.tolist(), reverse=True)
    assert np.isnan(table.array("end_ns")).tolist() == (~finished).tolist()
    assert (np.diff(table.array("end_ns")[finished]) >= 0).all()
    assert (np.diff(table.array("flow")[~finished]) > 0).all()
    assert (table.array("acked_bytes") >= table.array("size_bytes"))[finished].all()
    greedy = finished & ~np.isnan(table.array("ideal_ns"))
    slowdown = (table.array("end_ns") - table.array("start_ns")) / table.array("ideal_ns")
    assert (slowdown[greedy] > 1).all()


def test_what_is_not_asked_for_is_not_there() -> None:
    nothing = run(transfers(flows="none", links="none"))
    assert nothing.flow_samples.rows == nothing.link_samples.rows == 0
    assert nothing.queue_samples is None
    assert nothing.completions is None
    assert nothing.changes is None
    assert nothing.flows.equals(run(transfers()).flows)


def test_metrics_are_of_what_is_recorded() -> None:
    scenario = transfers(**SOME)
    tables, whole = compute(scenario, run(scenario)), compute(transfers(), run(transfers()))
    assert list(tables.flow) == ["flow_1", "flow_3"]
    assert all(values == whole.flow[name] for name, values in tables.flow.items())
    assert list(tables.link) == ["in_forward", "in_reverse", "out_forward"]
    assert tables.link["out_forward"] == whole.link["out_forward"]
    # Without all flows there is no sum of all flows.
    assert tables.network == {}
    assert list(tables.classes) == ["all", "small", "medium", "odd"]
    assert whole.classes == {}


def test_a_bottleneck_that_is_not_sampled_leaves_utilisation_out() -> None:
    scenario = transfers(links=["in"])
    flow = compute(scenario, run(scenario)).flow["flow_1"]
    assert "mean_throughput_l4" in flow
    assert "mean_utilization_bw_l4" not in flow


def test_figures_of_flows_want_samples_of_flows() -> None:
    scenario = transfers(flows="none")
    with pytest.raises(UsageError, match="samples of flows"):
        describe("time_series", scenario, run(scenario))


def test_spelling_the_defaults_out_changes_no_hash() -> None:
    plain = transfers()
    spelt = transfers(flows="all", links="all", queues=None, changes=False, completions=False)
    assert plain.hash == spelt.hash
    assert plain.canonical()["recording"] == {"interval": "30ms", "changes": False}
    assert transfers(flows=[]).hash == transfers(flows="none").hash != plain.hash


@pytest.mark.parametrize(
    ("recording", "path", "message"),
    [
        ({"flows": "some"}, "recording.flows", "'some' is not 'all', 'none' or a list of names"),
        ({"changes": "all"}, "recording.changes", "not true, false or a list of flows"),
        ({"links": ["out_fwd"]}, r"recording.links\[0\]", "there is no link `out_fwd`"),
        ({"queues": {"links": "all", "interval": 1}}, "recording.queues.interval", "no unit"),
    ],
)
def test_mistakes_are_named(recording: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=f"{path}: .*{message}"):
        transfers(**recording).canonical()
