"""Classes of transfers: closed forms, and unfinished transfers are never passed off as finished."""

from __future__ import annotations

import numpy as np
import pytest

import ccperf
from ccperf.experiments.topologies import FabricLink, star
from ccperf.runs.metrics import METRICS, classes, compute
from ccperf.runs.metrics.statistics import percentile
from ccperf.runs.recording import TABLES, Recording
from recordings import Dumbbell

MS = 1_000_000
STATISTICS = ("mean", "p50", "p90")


def with_completions(**columns: object) -> Recording:
    rows = len(columns["size_bytes"])  # type: ignore[arg-type]
    table = {column.name: [0] * rows for column in TABLES["completions"]}
    table |= {
        "ideal_ns": [np.nan] * rows,
        "acked_bytes": columns["size_bytes"],
        "flow": [0] * rows,
        "group": [""] * rows,
        **columns,
    }  # type: ignore[arg-type,dict-item]
    table["finished"] = [int(not np.isnan(end)) for end in table["end_ns"]]
    return Recording({**Dumbbell(flows=1, points=3).recording().tables, "completions": table})


def metrics(recording: Recording) -> dict[str, dict[str, float]]:
    """The metrics of classes, without those of round trips."""
    tables = compute(Dumbbell(flows=1, points=3).scenario(), recording).classes
    return {
        name: {metric: value for metric, value in values.items() if "rtt" not in metric}
        for name, values in tables.items()
    }


def test_a_percentile_is_a_value_that_occurs() -> None:
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    assert [percentile(values, p) for p in (1, 20, 21, 50, 99, 100)] == [1, 1, 2, 3, 5, 5]
    assert percentile(np.arange(1.0, 101.0), 99) == 99
    assert np.isnan(percentile(np.empty(0), 50))


def test_unfinished_ones_rank_behind_the_finished() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert percentile(values, 50, larger=1) == 2
    assert percentile(values, 75, larger=1) == 3
    assert np.isnan(percentile(values, 76, larger=1))
    assert np.isnan(percentile(np.empty(0), 50, larger=3))


def test_sizes_at_the_borders_are_medium() -> None:
    recording = with_completions(
        size_bytes=[99_999, 100_000, 10_000_000, 10_000_001, 0], end_ns=[1.0, 1.0, 1.0, 1.0, 1.0]
    )
    counts = {name: transfers.count for name, transfers in classes(recording).items()}
    assert counts == {"all": 4, "small": 1, "medium": 2, "large": 1}


def test_completion_times_and_slowdowns_of_a_group() -> None:
    recording = with_completions(
        group=["query", "", "query", "query"],
        size_bytes=[1000, 2000, 3000, 4000],
        start_ns=[0, 0, 10 * MS, 20 * MS],
        end_ns=[20.0 * MS, 50.0 * MS, 50.0 * MS, np.nan],
        ideal_ns=[10.0 * MS, 10.0 * MS, 10.0 * MS, 10.0 * MS],
    )
    query = metrics(recording)["query"]
    assert query == {
        "total_transfers_l4": 3,
        "total_unfinished_l4": 1,
        "unfinished_share_l4": pytest.approx(100 / 3),
        "total_timeouts_l4": 0,
        "total_idle_timeouts_l4": 0,
        "mean_fct_l4": 30,
        "p50_fct_l4": 40,
        "mean_slowdown_l4": 3,
        "p50_slowdown_l4": 4,
    }
    assert metrics(recording)["small"]["p50_fct_l4"] == 40


def test_a_query_ends_with_its_last_answer() -> None:
    recording = with_completions(
        group=["query"] * 6 + ["other"],
        size_bytes=[1000] * 7,
        start_ns=[10 * MS, 20 * MS, 10 * MS, 30 * MS, 20 * MS, 40 * MS, 40 * MS],
        # Of the third only one transfer began, which is no query.
        end_ns=[x * MS for x in (13.0, 21.0, 12.0, 31.0, 25.0, 47.0, 41.0)],
    )
    found = metrics(recording)
    assert (found["query"]["mean_qct_l4"], found["query"]["p99_qct_l4"]) == (4, 5)
    assert "mean_qct_l4" not in found["other"]


def test_a_query_that_lacks_an_answer_ranks_behind_the_others() -> None:
    recording = with_completions(
        size_bytes=[1000] * 4, start_ns=[0, 0, MS, MS], end_ns=[3.0 * MS, MS, 2.0 * MS, np.nan]
    )
    found = metrics(recording)["all"]
    assert found["mean_qct_l4"] == 3
    assert "p99_qct_l4" not in found


def test_where_nothing_has_ended_there_is_a_count_and_nothing_else() -> None:
    recording = with_completions(size_bytes=[1000], end_ns=[np.nan], ideal_ns=[5.0])
    assert {name for name, value in metrics(recording)["all"].items() if value} == {
        "total_transfers_l4",
        "total_unfinished_l4",
        "unfinished_share_l4",
    }


def test_a_transfer_that_is_stopped_before_it_has_sent_its_bytes_has_not_ended() -> None:
    """10 MB take 8 s over 10 Mbps, and what is in a socket at 1 s is sent until 1.3 s; a flow
    without end that is stopped, too, has a goodput below the link's rate."""
    flow = {"source": "a", "destination": "b", "stop": "1s", "cc": "cubic"}
    sizes = ("10MB", "10kB", "0B")
    scenario = ccperf.Scenario.model_validate(
        {
            "stop_time": "3s",
            "nodes": ["a", "b"],
            "links": [{"name": "l", "ends": ["a", "b"], "rate": "10Mbps", "delay": "10ms"}],
            "flows": [flow | {"application": {"type": "Greedy", "bytes": size}} for size in sizes],
            "recording": {"completions": True},
        }
    )
    result = ccperf.simulate(scenario)
    ends = result.recording.flows.array("completion_ns")
    assert (ends > [1.1e9, 0, 1.1e9]).all()
    found = result.metrics
    times = [values["flow_completion_time_l4"] for values in found.flow.values()]
    assert times == [1, ends[1] / 1e9, 1]
    assert found.classes["all"]["total_unfinished_l4"] == 1
    assert found.classes["all"]["mean_fct_l4"] == ends[1] / 1e6
    assert "makespan_l4" not in found.classes["all"]
    assert found.network["net"]["mean_goodput_l4"] < 10


def test_timeouts_are_counted_and_those_without_anything_sent_again() -> None:
    ended = {"size_bytes": [1000] * 3, "end_ns": [1.0 * MS] * 3}
    recording = with_completions(**ended, rtos=[1, 2, 0], retransmissions=[0, 5, 0])
    small = metrics(recording)["small"]
    assert (small["total_timeouts_l4"], small["total_idle_timeouts_l4"]) == (3, 1)


def test_a_source_with_a_rate_of_its_own_has_no_slowdown() -> None:
    recording = with_completions(
        size_bytes=[1000, 1000], end_ns=[1.0 * MS, np.nan], ideal_ns=[np.nan, np.nan]
    )
    found = metrics(recording)["all"]
    assert found["mean_fct_l4"] == 1
    assert not [name for name in found if "slowdown" in name]


def test_a_transfer_whose_ideal_time_is_0_ns_has_no_slowdown() -> None:
    recording = with_completions(
        size_bytes=[1, 1, 1000], end_ns=[1.0, np.nan, 8.0], ideal_ns=[0.0, 0.0, 2.0]
    )
    found = metrics(recording)["all"]
    assert found["total_transfers_l4"] == 3
    assert found["mean_slowdown_l4"] == found["p99_slowdown_l4"] == 4


def test_without_completions_there_are_no_classes() -> None:
    assert metrics(Dumbbell(flows=1, points=3).recording()) == {}


@pytest.mark.parametrize("name", ["p50", "p95", "p99"])
def test_percentiles_of_a_thousand(name: str) -> None:
    times = np.arange(1, 1001) * float(MS)
    recording = with_completions(size_bytes=[500] * 1000, end_ns=times)
    assert metrics(recording)["small"][f"{name}_fct_l4"] == 10 * int(name[1:])


def test_a_class_has_the_base_round_trips_of_its_transfers() -> None:
    recording = Dumbbell(flows=10, points=3).recording()
    table = {column.name: [0] * 10 for column in TABLES["completions"]}
    table |= {"flow": list(range(10)), "group": [""] * 10, "size_bytes": [1] * 5 + [200_000] * 5}
    table |= {"end_ns": [np.nan] * 10, "ideal_ns": [np.nan] * 10}
    flows = {name: recording.flows[name] for name in recording.flows}
    flows["base_rtt_ns"] = np.arange(1, 11) * 100_000
    found = classes(Recording({**recording.tables, "flows": flows, "completions": table}))
    assert found["small"].base_rtts.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    values = {name: METRICS[f"{name}_base_rtt_l4"].compute(found["all"]) for name in STATISTICS}
    assert values == pytest.approx({"mean": 0.55, "p50": 0.5, "p90": 0.9})


def test_a_delivery_ends_when_the_receiver_has_the_last_data() -> None:
    """28 kB over 10 Gbps and a round trip of 100 us, all in one window: the handshake, then 20
    segments of 1454 B over the first link and one over the second, and 50 us of propagation. The
    acknowledgement of the last one takes 50 us more."""
    fabric = star(2, FabricLink("10Gbps", "25us"))
    tcp = {"SegmentSize": 1400, "InitialCwnd": 30, "DelAckCount": 1, "Sack": False}
    scenario = fabric.scenario(
        [
            {
                "source": "h_0",
                "destination": "h_1",
                "stack": "dc",
                "application": {"type": "Greedy", "bytes": "28000B", "write": "1400B"},
            }
        ],
        stop_time="5ms",
        stacks=[{"name": "dc", "profile": "ns3-ecn-sharp", "tcp": tcp}],
        recording={"completions": True, "deliveries": True},
    )
    result = ccperf.simulate(scenario)
    found = compute(scenario, result.recording).classes["all"]
    microsecond = 1e-3
    data = 8 * 1454 / 10e9 * 1e3
    handshake = 0.1 + 4 * 8 * 62 / 10e9 * 1e3
    assert found["mean_delivery_time_l4"] == pytest.approx(
        handshake + 21 * data + 0.05, abs=0.5 * microsecond
    )
    later = found["mean_fct_l4"] - found["mean_delivery_time_l4"]
    assert later == pytest.approx(0.05 + 2 * 8 * 54 / 10e9 * 1e3, abs=0.1 * microsecond)
    assert found["p99_delivery_time_l4"] == found["mean_delivery_time_l4"]
