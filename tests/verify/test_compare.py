"""The comparison of two backends notices whatever differs; the engine against altered copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ccperf.errors import RunError, ScenarioError
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.recording import Recording
from ccperf.verify import Comparison, compare
from ccperf.verify.compare import table_differences

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

NATIVE = backends.get("native")


class Altered:
    """The engine with something changed on the way in or out."""

    name = "altered"
    version = "1"

    def __init__(
        self,
        scenario: Callable[[Scenario], Scenario] = lambda s: s,
        recording: Callable[[Recording], Recording] = lambda r: r,
    ) -> None:
        self.scenario = scenario
        self.recording = recording

    def available(self) -> str | None:
        return None

    def simulate(
        self, scenario: Scenario, *, packets: Path | None = None, progress: Any = None
    ) -> Recording:
        return self.recording(
            NATIVE.simulate(self.scenario(scenario), packets=packets, progress=progress)
        )


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return dumbbell(
        rate="16Mbps",
        rtts=["15ms", "15ms"],
        qlen="20p",
        cc="TcpNewReno",
        recovery="TcpClassicRecovery",
        stop_time="600ms",
        label="two flows",
    )


def with_drop(scenario: Scenario) -> Scenario:
    """Lose the hundredth packet at the bottleneck."""
    link = scenario.links[0]
    forward = link.forward.model_copy(update={"drop": (100,)})
    link = link.model_copy(update={"forward": forward})
    return scenario.model_copy(update={"links": (link, *scenario.links[1:])})


def test_the_same_twice(scenario: Scenario) -> None:
    comparison = compare(scenario, NATIVE, Altered())
    assert comparison.identical
    assert comparison.verdict == "identical"
    assert comparison.rows > 1000
    assert comparison.report() == (
        f"two flows: identical ({comparison.rows:,} packet-trace rows in common)"
    )
    assert set(comparison.seconds) == {"native", "altered"}


def test_one_packet_lost(scenario: Scenario) -> None:
    comparison = compare(scenario, NATIVE, Altered(scenario=with_drop))
    assert comparison.verdict == "packets differ"
    found = comparison.divergence
    assert found is not None
    assert found.ours is not None
    assert found.theirs is not None
    assert (found.ours.event, found.theirs.event) == ("rx", "drop")
    assert found.theirs.reason == "Link loss"
    # The row before is the packet's own transmission, common to both.
    assert found.before[-1].event in ("tx", "enqueue", "rx")
    assert {row.flow for row in found.before} == {found.ours.flow}
    # Counters and metrics tell it, too.
    assert any(d.column == "loss_dropped" for d in comparison.tables)
    assert any(d.metric == "total_retransmissions_l4" for d in comparison.metrics)
    report = comparison.report()
    assert "two flows: packets differ" in report
    assert f"native, sender of {found.ours.flow}:" in report
    assert "  before: " in report
    assert "cwnd = " in report


def test_one_sample_off(scenario: Scenario) -> None:
    def one_more(recording: Recording) -> Recording:
        tables: dict[str, Any] = dict(recording.tables)
        samples = dict(recording.flow_samples)
        # Grid point 15, the second flow.
        cwnd = recording.flow_samples.array("cwnd_bytes").copy()
        cwnd[31] += 1
        return Recording({**tables, "flow_samples": {**samples, "cwnd_bytes": cwnd}})

    comparison = compare(scenario, NATIVE, Altered(recording=one_more))
    assert comparison.verdict == "recordings differ"
    assert comparison.divergence is None
    assert [str(difference) for difference in comparison.tables] == [
        f"flow_samples.cwnd_bytes, row 31 (450,000,000 ns, flow_2): "
        f"{comparison.tables[0].ours} / {comparison.tables[0].ours + 1}"
    ]
    metrics = ("mean_cwnd_l4", "steady_mean_cwnd_l4")
    assert [(d.subject, d.metric) for d in comparison.metrics] == [("flow_2", m) for m in metrics]


def test_a_backend_that_fails(scenario: Scenario) -> None:
    def fail(_: Scenario) -> Scenario:
        raise RunError("assertion failed, file=tcp-socket-base.cc, line=1234")

    comparison = compare(scenario, NATIVE, Altered(scenario=fail))
    assert not comparison.identical
    assert comparison.verdict == "altered failed"
    assert not comparison.different
    assert "altered failed: assertion failed, file=tcp-socket-base.cc" in comparison.report()


class Aborting(Altered):
    """Writes the packet trace up to a point and fails there, as ns-3 does on an assertion."""

    name = "aborting"

    def simulate(
        self, scenario: Scenario, *, packets: Path | None = None, progress: Any = None
    ) -> Recording:
        super().simulate(scenario, packets=packets, progress=progress)
        if packets is not None:
            whole = packets.read_bytes()
            packets.write_bytes(whole[: len(whole) // 2])
        raise RunError("assertion failed")


def test_what_only_the_engine_records_is_no_difference(scenario: Scenario) -> None:
    recording = scenario.recording.model_copy(update={"balancing": True, "paths": True})
    asked = scenario.model_copy(update={"recording": recording})

    def without(made: Recording) -> Recording:
        own = ("reordering", "probing", "ways", "paths")
        return Recording({name: made.tables[name] for name in made.tables if name not in own})

    assert compare(asked, NATIVE, Altered(recording=without)).identical


@pytest.mark.parametrize("is_own", [True, False])
def test_what_a_simulator_fails_with_is_ours_only_where_we_run_it(
    scenario: Scenario, is_own: bool
) -> None:
    def fail(_: Scenario) -> Scenario:
        error = RunError("ended")
        error.is_own = is_own
        raise error

    assert compare(scenario, NATIVE, Altered(fail)).different == is_own


def test_what_went_before_a_failure_is_compared(scenario: Scenario) -> None:
    same = compare(scenario, NATIVE, Aborting())
    assert same.verdict == "aborting failed"
    assert not same.identical
    assert not same.different
    assert same.rows > 500
    other = compare(scenario, NATIVE, Aborting(scenario=with_drop))
    assert other.verdict == "packets differ"
    assert other.different


def test_one_change_of_state_in_another_order(scenario: Scenario) -> None:
    def swapped(recording: Recording) -> Recording:
        changes = dict(recording.tables["changes"])
        order = list(range(len(changes["value"])))
        order[100], order[101] = order[101], order[100]
        changes["name"] = [changes["name"][row] for row in order]
        changes["value"] = [changes["value"][row] for row in order]
        return Recording({**recording.tables, "changes": changes})

    comparison = compare(scenario, NATIVE, Altered(recording=swapped))
    assert comparison.verdict == "recordings differ"
    assert {(d.table, d.row) for d in comparison.tables} == {("changes", 100)}


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_table_that_one_side_only_has(scenario: Scenario, side: str) -> None:
    recording = NATIVE.simulate(scenario)
    fewer = Recording({name: t for name, t in recording.tables.items() if name != "changes"})
    changes = scenario.recording.model_copy(update={"changes": True})
    more = NATIVE.simulate(scenario.model_copy(update={"recording": changes}))
    pair = (more, fewer) if side == "ours" else (fewer, more)
    (found,) = table_differences(*pair)
    assert (found.table, found.column) == ("changes", "rows")
    assert (found.ours is None, found.theirs is None) == (side == "theirs", side == "ours")


class AbortingWithTables(Altered):
    """Fails in the middle, and says what its first tables held until then."""

    name = "aborting"

    def __init__(self, alter: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        super().__init__()
        self.alter = alter

    def simulate(
        self, scenario: Scenario, *, packets: Path | None = None, progress: Any = None
    ) -> Recording:
        recording = super().simulate(scenario, packets=packets, progress=progress)
        changes = {name: values[:100] for name, values in recording.tables["changes"].items()}
        self.alter(changes)
        error = RunError("assertion failed")
        error.unfinished = {"changes": changes}
        raise error


def test_tables_until_a_failure_are_compared(scenario: Scenario) -> None:
    def one_more(changes: dict[str, Any]) -> None:
        changes["value"] = changes["value"] + (np.arange(100) == 42)

    same = compare(scenario, NATIVE, AbortingWithTables())
    assert (same.verdict, same.different) == ("aborting failed", False)
    other = compare(scenario, NATIVE, AbortingWithTables(one_more))
    assert (other.verdict, other.different) == ("recordings differ", True)
    assert [(d.column, d.row) for d in other.tables] == [("value", 42)]


def test_a_wrong_scenario_is_the_caller_s_mistake(scenario: Scenario) -> None:
    wrong = scenario.model_copy(update={"nodes": ("src_0",)})
    with pytest.raises(ScenarioError):
        compare(wrong, NATIVE, Altered())


def test_no_files_are_left(scenario: Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    comparison = compare(scenario, NATIVE, Altered(scenario=with_drop))
    assert isinstance(comparison, Comparison)
    assert list(tmp_path.iterdir()) == []
