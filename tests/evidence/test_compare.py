"""Cells of a store, sides, gates: from runs to rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf import backends, catalogue
from ccperf.errors import UsageError
from ccperf.evidence import cells, gate
from ccperf.evidence.cells import Cell, Point
from ccperf.evidence.compare import Comparison, compare
from ccperf.result import Result
from ccperf.store import Store

METRIC = "mean_srtt_l4"


def cell(algorithm: str, values: list[float], k: int = 1, engine: str = "e") -> Cell:
    point = Point("aqm", (("k", str(k)),), "same")
    metrics = {seed: {METRIC: value} for seed, value in enumerate(values, start=1)}
    return Cell(point, algorithm, "native", engine, metrics)


def compared(base: list[Cell], other: list[Cell], **options: bool) -> Comparison:
    return compare({"a": base, "b": other}, [METRIC], **options)


def test_seeds_are_paired_by_number() -> None:
    base, other = cell("a", [1.0, 2.0, 3.0]), cell("b", [0.0, 0.0, 0.0])
    other.metrics = {3: {METRIC: 4.0}, 2: {METRIC: 2.5}, 9: {METRIC: 100.0}}
    (row,) = compared([base], [other]).rows
    assert row.seeds == 2
    assert row.difference.mean == pytest.approx(0.75)


def test_verdicts_say_what_the_runs_allow_to_say() -> None:
    def verdict(base: list[float], other: list[float]) -> str:
        return compared([cell("a", base)], [cell("b", other)]).rows[0].verdict

    assert verdict([1.0], [2.0]) == "one seed"
    assert verdict([1.0, 1.0], [1.0, 1.0]) == "same"
    assert verdict([1.0, 1.0], [2.0, 2.0]) == "exact"
    assert verdict([1.0, 2.0, 3.0], [1.5, 1.4, 3.9]) == "not significant"
    assert verdict([1.0, 2.0, 3.0, 4.0], [2.0, 3.01, 4.0, 5.01]) == "significant"


def test_many_comparisons_need_more_evidence_each() -> None:
    pairs = ([1.0, 2.0, 3.0, 4.0], [1.3, 2.2, 3.2, 4.5])  # p = 0.016
    one = compared([cell("a", pairs[0])], [cell("b", pairs[1])], each=True)
    assert one.rows[0].verdict == "significant"
    many = compared(
        [cell("a", pairs[0], k) for k in range(10)],
        [cell("b", pairs[1], k) for k in range(10)],
        each=True,
    )
    assert {row.verdict for row in many.rows} == {"not significant"}
    assert many.rows[0].p == pytest.approx(10 * (one.rows[0].p or 0))


def test_over_points_each_counts_once_by_its_relative_difference() -> None:
    base = [cell("a", [10.0, 10.0], 1), cell("a", [1000.0, 1000.0], 2)]
    other = [cell("b", [11.0, 11.0], 1), cell("b", [1300.0, 1300.0], 2)]
    (row,) = compared(base, other).rows
    assert row.points == 2
    assert row.relative is not None
    assert row.relative.value == pytest.approx(0.2)
    assert row.is_shown is False
    each = compared(base, other, each=True).rows
    assert [dict(row.point)["k"] for row in each] == ["1", "2"]


def test_engines_are_not_mixed_but_versions_can_be_compared() -> None:
    base, other = cell("a", [1.0, 2.0], engine="old"), cell("b", [1.0, 2.0], engine="new")
    assert not compared([base], [other]).rows
    assert compared([base], [other]).missing == {"b": ("aqm k=1",)}
    other = cell("a", [1.0, 2.0], engine="new")
    assert compared([base], [other], over_databases=True).rows


def test_the_direction_of_a_metric_says_what_is_better() -> None:
    (row,) = compared([cell("a", [2.0, 2.0])], [cell("b", [1.0, 1.0])]).rows
    assert row.is_better is True  # a shorter RTT
    (row,) = compared([cell("a", [2.0, 1.0, 3.0])], [cell("b", [2.0, 1.5, 2.0])]).rows
    assert row.is_better is None


@pytest.mark.parametrize(
    ("text", "base", "other", "fails"),
    [
        (f"{METRIC}>5%", [100.0, 100.0], [106.0, 106.0], True),
        (f"{METRIC}>5%", [100.0, 100.0], [104.0, 104.0], False),
        (f"{METRIC}>5%", [100.0], [106.0], True),
        (f"{METRIC}<-5%", [100.0, 100.0], [106.0, 106.0], False),
        (f"{METRIC} < -5 %", [100.0, 100.0], [94.0, 94.0], True),
        (f"{METRIC}>5", [100.0, 100.0], [106.0, 106.0], True),
        (f"{METRIC}>7.5", [100.0, 100.0], [106.0, 106.0], False),
        (f"{METRIC}>5%", [100.0, 50.0, 150.0], [250.0, 20.0, 160.0], False),
        (f"{METRIC}>5%", [0.0, 0.0], [1.0, 1.0], True),
        (f"{METRIC}<-5%", [0.0, 0.0], [1.0, 1.0], False),
    ],
)
def test_a_gate_fails_on_changes_that_are_more_than_chance(
    text: str, base: list[float], other: list[float], fails: bool
) -> None:
    (row,) = compared([cell("a", base)], [cell("b", other)]).rows
    assert gate.parse(text).fails(row) is fails


@pytest.mark.parametrize("text", ["mean_srtt_l4", "mean_srtt_l4=5%", "mean_srt_l4<5%", "<5%"])
def test_a_gate_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-on"):
        gate.parse(text)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    engine = backends.get("native")
    experiment = catalogue.get("aqm")
    with Store(path) as store:
        for cc in ("TcpNewReno", "TcpBbr"):
            for seed in (1, 2, 3):
                for stop_time in ("1s", "2s"):
                    scenario = experiment.scenario(cc, seed=seed, stop_time=stop_time, k="2")
                    store.add(
                        Result.of(
                            scenario,
                            engine.simulate(scenario),
                            engine,
                            experiment="aqm",
                            parameters={"aut": cc, "k": "2"},
                        )
                    )
    return path


def test_runs_that_differ_in_more_than_the_seed_are_other_cells(database: Path) -> None:
    found = cells.read([database])
    assert [(cell.algorithm, sorted(cell.metrics)) for cell in found] == [
        ("TcpNewReno", [1, 2, 3]),
        ("TcpNewReno", [1, 2, 3]),
        ("TcpBbr", [1, 2, 3]),
        ("TcpBbr", [1, 2, 3]),
    ]
    assert found[0].point.settings != found[1].point.settings
    # Algorithms meet at the same point.
    assert found[0].point == found[2].point


def test_a_run_in_two_databases_counts_once(database: Path) -> None:
    assert cells.read([database, database]) == cells.read([database])


def test_metrics_of_a_run_are_means_of_its_flows_and_sums_of_their_counts(database: Path) -> None:
    (first, *_) = cells.read([database])
    with Store(database, "r") as store:
        row = next(
            row
            for row in store.runs(seed=1, cc="TcpNewReno")
            if store.scenario(row.id)["stop_time"] == "1s"
        )
        flows = store.metrics(row.id).flow.values()
    srtts = [flow["mean_srtt_l4"] for flow in flows]
    again = [flow["total_retransmissions_l4"] for flow in flows]
    assert first.metrics[1]["mean_srtt_l4"] == pytest.approx(sum(srtts) / 2)
    assert first.metrics[1]["total_retransmissions_l4"] == sum(again)


def test_newreno_draws_nothing_here_and_bbr_does(database: Path) -> None:
    newreno, _, bbr, _ = cells.read([database])
    assert newreno.is_deterministic
    assert not bbr.is_deterministic
