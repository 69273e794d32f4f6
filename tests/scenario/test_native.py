"""Running scenarios on the engine from Python."""

from __future__ import annotations

import csv
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ccperf import _native
from ccperf.errors import RunError, ScenarioError, UsageError
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.scenario import Scenario


def scenario(**options: Any) -> Scenario:
    given = {"rate": "16Mbps", "rtts": "15ms", "qlen": "20p", "cc": "newreno", "stop_time": "1s"}
    return dumbbell(**given, **options)


def test_the_recording_has_the_tables_of_the_contract() -> None:
    native = backends.get("native")
    assert native.available() is None
    seen: list[float] = []
    recording = native.simulate(scenario(flows=2), progress=seen.append)
    assert recording.flows["name"] == ["flow_1", "flow_2"]
    assert recording.links["name"][:3] == ["btl_forward", "btl_reverse", "src_0_forward"]
    times = recording.flow_samples.array("time_ns")
    assert times[::2].tolist() == list(range(0, 10**9, 30_000_000))
    assert recording.changes is None
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_stepping_changes_nothing() -> None:
    """However a run is cut, the tables are the same to the bit."""
    low = scenario(flows=3).lowered()
    whole = _native.Simulation(low).finish()
    stepped = _native.Simulation(low)
    for time in (0, 1, 15_000_000, 15_000_000, 400_000_001):
        assert stepped.run_until(time)
    assert not stepped.run_until(2 * 10**9)
    same(stepped.finish(), whole)


def test_threads_simulate_side_by_side() -> None:
    low = scenario(flows=3).lowered()
    alone = _native.Simulation(low).finish()
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(_native.Simulation(low).finish()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        same(result, alone)


def same(ours: Any, theirs: Any) -> None:
    assert ours.keys() == theirs.keys()
    for table, columns in theirs.items():
        assert ours[table].keys() == columns.keys()
        for name, column in columns.items():
            np.testing.assert_array_equal(ours[table][name], column)


def test_a_finished_simulation_says_so() -> None:
    simulation = _native.Simulation(scenario().lowered())
    simulation.finish()
    with pytest.raises(RuntimeError, match="has finished"):
        simulation.finish()
    with pytest.raises(RuntimeError, match="has finished"):
        simulation.run_until(1)


def test_a_failure_of_the_engine_costs_one_run() -> None:
    """No scenario lowers to a discipline of 0 queues; the engine divides by their number."""
    low = json.loads(scenario().lowered())
    low["links"][0]["directions"][0]["qdisc"].update(
        type="FqCoDelQueueDisc", attributes={"Flows": "0"}
    )
    simulation = _native.Simulation(json.dumps(low))
    with pytest.raises(RunError, match="the engine failed, which is a bug in it"):
        simulation.finish()
    with pytest.raises(RuntimeError, match="has finished"):
        simulation.finish()


def test_the_packet_trace_goes_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    recording = backends.get("native").simulate(scenario(), packets=path)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    sent = [row for row in rows if row["event"] == "tx" and row["link"] == "btl_forward"]
    assert len(sent) == recording.links.array("tx_packets")[0]
    assert rows[0]["flags"] == "SYN"


def test_a_trace_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="packet trace"):
        backends.get("native").simulate(scenario(), packets=tmp_path / "absent" / "packets.csv")


def test_a_scenario_that_makes_no_sense_does_not_run(tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    with pytest.raises(ScenarioError, match="is not a probability"):
        backends.get("native").simulate(scenario(loss=2), packets=path)
    assert not path.exists()


def test_an_unknown_backend() -> None:
    with pytest.raises(UsageError, match="did you mean `native`"):
        backends.get("nativ")


def test_what_is_no_lowered_scenario() -> None:
    with pytest.raises(ValueError, match="not a lowered scenario"):
        _native.Simulation("{}")


def test_the_engines_hash_is_in_the_version() -> None:
    assert len(_native.ENGINE_HASH) == 64
    assert _native.ENGINE_HASH[:12] in backends.get("native").version


def test_interactive_packets_go_first() -> None:
    """The type of service decides in a priority queue, and only there."""
    native = backends.get("native")
    for qdisc, differ in (("PfifoFastQueueDisc", True), ("FifoQueueDisc", False)):
        recording = native.simulate(scenario(flows=2, tos=[16, 8], qdisc=qdisc))
        interactive, bulk = recording.flow_samples.array("srtt_ns")[-20:].reshape(-1, 2).mean(0)
        assert (bulk - interactive > 5_000_000) == differ


def test_a_type_of_service_does_without_ecn_as_in_ns3() -> None:
    marking = {"qdisc": "CoDelQueueDisc", "qdisc_attributes": {"UseEcn": "true"}}
    for tos, marks in ((0, True), (16, False)):
        given = scenario(tos=tos, tcp={"UseEcn": "On"}, **marking)
        recording = backends.get("native").simulate(given)
        assert (recording.links.array("qdisc_marked").sum() > 0) == marks
