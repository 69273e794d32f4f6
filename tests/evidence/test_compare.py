"""Cells of a store and sides: from runs to rows."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.evidence import cells, gate, sweeps, text
from ccperf.evidence.cells import Cell, Point
from ccperf.evidence.compare import Comparison, compare
from ccperf.evidence.rows import document
from ccperf.evidence.verdict import effect_text, interval_text
from ccperf.experiments import catalogue
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.result import Result
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
    # 2.5 / 2 and 4 / 3.
    assert row.size.mean == pytest.approx(math.sqrt(2.5 / 2 * 4 / 3))


def test_rows_do_not_depend_on_which_run_ended_first() -> None:
    """The same command, repeated, had its rows in another order; so had a table in a paper."""
    points = [
        Point(experiment, (("k", k), ("qdisc", qdisc)), "same")
        for experiment in ("ecn", "aqm")
        for k in ("10", "2")
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
    ]
    found = [
        Cell(point, cc, "native", "e", {1: {METRIC: 10.0 + i}})
        for i, point in enumerate(points)
        for cc in ("TcpCubic", "TcpBbr")
    ]
    for each in (False, True):
        one, other = (
            compare({"a.db": cells, "b.db": cells}, [METRIC], over="databases", each=each).rows
            for cells in (found, found[::-1])
        )
        assert one == other
    assert [dict(row.point)["k"] for row in one[:8:2]] == ["2", "2", "10", "10"]


def test_points_that_differ_in_a_setting_or_a_backend_say_so(tmp_path: Path) -> None:
    db = tmp_path / "runs.db"
    for stop_time in ("1s", "2s"):
        point = ["--cc", "newreno,cubic", "--k", "1", "--qdisc", "codel", "--stop-time", stop_time]
        assert invoke(["run", "aqm", *point, "--db", str(db)]) == 0
    found = cells.read([db])
    again = [replace(cell, backend="ns3") for cell in found[:2]]
    rows = compare(cells.by_algorithm(found + again), [METRIC], each=True).rows
    assert [row.point[2:] for row in rows] == [
        (("stop_time", "1s"), ("backend", "native")),
        (("stop_time", "1s"), ("backend", "ns3")),
        (("stop_time", "2s"),),
    ]


def test_two_versions_of_a_backend_are_not_mixed(tmp_path: Path) -> None:
    db = tmp_path / "runs.db"
    line = ["--cc", "newreno", "--k", "1", "--qdisc", "codel", "--stop-time", "1s"]
    assert invoke(["run", "aqm", *line, "--db", str(db)]) == 0
    (native,) = cells.records(db)

    def made(version: str) -> cells.Record:
        run = replace(native.row.provenance, backend="ns3", backend_version=version)
        return replace(native, row=replace(native.row, id=version, provenance=run))

    found = cells.gather(map(made, ("3.44+a", "3.48+b")))
    assert [list(cell.runs.values()) for cell in found] == [["3.44+a"], ["3.48+b"]]
    said = [cell.point.text.rpartition(" ")[2] for cell in cells.told_by_maker(found)]
    assert [text[:13] for text in said] == ["engine=3.44+a", "engine=3.48+b"]


def test_a_sweep_draws_each_backend_for_itself(tmp_path: Path) -> None:
    db = tmp_path / "runs.db"
    point = ["--cc", "newreno,cubic", "--k", "1,2", "--qdisc", "codel", "--stop-time", "1s"]
    assert invoke(["run", "aqm", *point, "--db", str(db)]) == 0
    native = cells.read([db])
    ns3 = [
        replace(each, backend="ns3", metrics={seed: {METRIC: 1e3} for seed in each.metrics})
        for each in native
    ]
    both = [*native, *ns3]
    found, _ = sweeps.sweeps(both, "k", [METRIC], "newreno")
    assert [name.split("_")[2] for name in found] == ["backend-native", "backend-ns3"]
    for figure in (*found.values(), sweeps.sweep(both, "k", METRIC, "newreno")):
        lines = figure.panels[0].series
        assert [list(line.x) for line in lines] == [[1, 2]] * len(lines)
        # A factor is over the runs of the same backend.
        assert list(lines[0].y) == [1, 1]
        assert all(0.5 < factor < 2 for line in lines for factor in line.y)


def test_runs_of_one_label_whose_flows_differ_are_points_of_their_own(tmp_path: Path) -> None:
    """Nobody has drawn these starts, mixes and settings from the seed."""
    plain, other = "TcpNewReno", "TcpBbr"
    given = {"rate": "8Mbps", "qlen": "30p", "rtts": ["15ms"] * 2, "stop_time": "1s"}
    with Store(tmp_path / "runs.db", "a") as store:
        for seed, cc, more in (
            (1, [plain, plain], {}),
            (1, [plain, plain], {"starts": ["500ms"] * 2}),
            (1, [plain, plain], {"starts": ["600ms"] * 2}),
            (1, ["TcpCubic", "TcpCubic"], {}),
            (2, [plain, other], {}),
            (3, [plain, other], {}),
            (4, [other, plain], {}),
        ):
            settings: Any = {**given, **more}
            store.add(ccperf.simulate(dumbbell(cc=cc, seed=seed, label="mine", **settings)))
    found = cells.read([tmp_path / "runs.db"])
    texts = [(cell.algorithm, cell.point.text, [*cell.metrics]) for cell in found]
    assert texts == [
        (plain, "mine mix=2A start=0s", [1]),
        (plain, "mine mix=2A start=500ms", [1]),
        (plain, "mine mix=2A start=600ms", [1]),
        ("TcpCubic", "mine mix=2A start=0s", [1]),
        ("TcpNewReno,TcpBbr", "mine mix=1A+1B start=0s", [2, 3]),
        ("TcpBbr,TcpNewReno", "mine mix=1A+1B start=0s", [4]),
    ]


def test_one_seed_is_only_where_a_second_one_would_say_more() -> None:
    def said(base: list[Cell], other: list[Cell]) -> list[str]:
        remarks = text.text(compared(base, other)).splitlines()
        return [line.partition(":")[0] for line in remarks if line.startswith("one seed")]

    alike, drawn = cell("a", [1.0, 1.0]), cell("a", [1.0, 2.0], k=2)
    alike_there, drawn_there = cell("b", [3.0, 3.0]), cell("b", [2.0, 1.5], k=2)
    assert said([alike, drawn], [alike_there, drawn_there]) == []
    once = cell("b", [2.0], k=2)
    assert said([alike, drawn], [alike_there, once]) == ["one seed"]
    more, more_there = cell("a", [1.0, 2.0], k=3), cell("b", [4.0, 3.0], k=3)
    found = said([alike, drawn, more], [alike_there, once, more_there])
    assert found == ["one seed has values at some points"]
    (row,) = compared([alike, drawn], [alike_there, drawn_there]).rows
    assert row.seeds == 2


def test_verdicts_say_what_the_runs_allow_to_say() -> None:
    def verdict(base: list[float], other: list[float], least: float = 0.01) -> tuple[str, int]:
        (row,) = compare(
            {"a": [cell("a", base)], "b": [cell("b", other)]}, [METRIC], least=least
        ).rows
        return str(row.verdict), row.verdict.shown

    assert verdict([1.0], [2.0]) == ("not known yet (one seed)", 0)
    # No seed changes anything: exact, and shown if the values differ at all.
    assert verdict([1.0, 1.0], [1.0, 1.0]) == ("equal within 1 %", 0)
    assert verdict([1.0, 1.0], [1.005, 1.005]) == ("equal within 1 %", 1)
    assert verdict([1.0, 1.0], [2.0, 2.0]) == ("worse", 1)
    assert verdict([2.0, 2.0], [1.0, 1.0]) == ("better", 1)
    assert verdict([2.0, 2.0], [1.0, 1.0], least=1.5) == ("equal within 150 %", 1)
    said, shown = verdict([1.0, 2.0, 3.0], [1.5, 1.4, 3.9])
    assert re.fullmatch(r"not known yet \(\d+ more seeds would tell\)", said)
    assert shown == 0
    assert verdict([1.0, 2.0, 3.0, 4.0], [2.0, 4.1, 5.9, 8.1]) == ("worse", 1)
    # Shown to differ, and shown that it does not matter.
    assert verdict([1.0, 2.0, 3.0, 4.0], [1.002, 2.0042, 3.0058, 4.0081]) == ("equal within 1 %", 1)


def test_points_and_their_mean_make_the_verdict() -> None:
    def verdict(*factors: float) -> tuple[str, str]:
        base = [cell("a", [10.0, 10.0], k) for k in range(len(factors))]
        other = [cell("b", [10.0 * f] * 2, k) for k, f in enumerate(factors)]
        (row,) = compared(base, other).rows
        return row.verdict.word, str(row.verdict)

    assert verdict(1.1, 1.2) == ("worse", "worse")
    assert verdict(1.1, 1.0) == ("worse", "worse (1 of 2 points, 1 equal within 1 %)")
    assert verdict(1.1, 0.5) == ("mixed", "mixed (1 better, 1 worse)")
    # One point of three by 2 %: on the mean that is below 1 %.
    assert verdict(1.02, 1.0, 1.0) == ("mixed", "mixed (1 worse, 2 equal within 1 %)")
    assert verdict(1.001, 1.0, 1.0) == ("equal", "equal within 1 %")


def test_a_metric_without_a_direction_is_higher_or_lower() -> None:
    base, other = cell("a", []), cell("b", [])
    base.metrics = {seed: {"mean_cwnd_l4": 10.0} for seed in (1, 2)}
    other.metrics = {seed: {"mean_cwnd_l4": 20.0} for seed in (1, 2)}
    for sides, word in (((base, other), "higher"), ((other, base), "lower")):
        (row,) = compare({"a": [sides[0]], "b": [sides[1]]}, ["mean_cwnd_l4"]).rows
        assert row.verdict.word == word
        assert row.verdict.is_better is None


def test_many_comparisons_need_more_evidence_each() -> None:
    pairs = ([1.0, 2.0, 3.0, 4.0], [1.2, 2.2, 3.3, 4.5])  # p = 0.009
    one = compared([cell("a", pairs[0])], [cell("b", pairs[1])], each=True)
    assert one.rows[0].is_shown
    many = compared(
        [cell("a", pairs[0], k) for k in range(10)],
        [cell("b", pairs[1], k) for k in range(10)],
        each=True,
    )
    assert not any(row.is_shown for row in many.rows)
    alone, corrected = (rows[0].differences[0].p for rows in (one.rows, many.rows))
    assert alone
    assert corrected == pytest.approx(10 * alone)


def test_another_metric_and_another_side_change_no_answer() -> None:
    def cells_of(name: str, shift: float) -> list[Cell]:
        made = cell(name, [1.0, 2.0, 3.0, 4.0])
        for seed, found in made.metrics.items():
            found[METRIC] += shift * (1 + 0.1 * seed)
            found["p95_srtt_l4"] = found[METRIC] + 0.01 * seed * seed
        return [made]

    sides = {"a": cells_of("a", 0), "b": cells_of("b", 0.5), "c": cells_of("c", 0.7)}
    alone = compare({"a": sides["a"], "b": sides["b"]}, [METRIC]).rows[0]
    assert compare(sides, [METRIC, "p95_srtt_l4"]).rows[0] == alone


def test_over_points_each_counts_once_by_its_factor() -> None:
    base = [cell("a", [10.0, 10.0], 1), cell("a", [1000.0, 1000.0], 2)]
    other = [cell("b", [11.0, 11.0], 1), cell("b", [1300.0, 1300.0], 2)]
    (row,) = compared(base, other).rows
    assert row.points == 2
    assert row.size.mean == pytest.approx(math.sqrt(1.1 * 1.3))
    assert row.means == pytest.approx((100, math.sqrt(11 * 1300)))
    assert (row.size.least.value, row.size.least.point) == (pytest.approx(1.1), (("k", "1"),))
    assert (row.size.largest.value, row.size.largest.point) == (pytest.approx(1.3), (("k", "2"),))
    assert (row.verdict.shown, row.verdict.exact) == (2, 2)
    each = compared(base, other, each=True).rows
    assert [dict(row.point)["k"] for row in each] == ["1", "2"]


def test_engines_are_not_mixed_but_versions_can_be_compared() -> None:
    base, other = cell("a", [1.0, 2.0], engine="old"), cell("b", [1.0, 2.0], engine="new")
    assert not compared([base], [other]).rows
    assert compared([base], [other]).missing == {"b": ("aqm k=1",)}
    other = cell("a", [1.0, 2.0], engine="new")
    assert compared([base], [other], over="databases").rows


def test_databases_have_a_row_for_each_algorithm() -> None:
    def side(factor: float) -> list[Cell]:
        means = {"TcpCubic": 10.0, "TcpBbr": 10.0 * factor}
        return [cell(name, [mean, mean], k) for name, mean in means.items() for k in (1, 2)]

    comparison = compare({"a": side(1.0), "b": side(2.0)}, [METRIC], over="databases")
    found = {row.algorithm: (row.points, row.size.mean) for row in comparison.rows}
    assert found == {"TcpCubic": (2, 1.0), "TcpBbr": (2, pytest.approx(2.0))}
    _, lines = text.cells(comparison)
    assert [line[0] for line in lines] == ["aqm TcpCubic, 2 points", "aqm TcpBbr, 2 points"]
    assert [document(row)["point"] for row in comparison.rows] == [
        {"algorithm": "TcpCubic"},
        {"algorithm": "TcpBbr"},
    ]


def test_other_settings_in_one_database_hide_no_point_of_both(tmp_path: Path) -> None:
    made = ["run", "aqm", "--cc", "newreno", "--k", "1", "--qdisc", "codel"]
    for name, times in (("base.db", ("1s", "2s")), ("new.db", ("2s",))):
        for time in times:
            assert invoke([*made, "--stop-time", time, "--db", str(tmp_path / name)]) == 0
    base, new = ({name: cells.read([tmp_path / name])} for name in ("base.db", "new.db"))
    for sides in ({**base, **new}, {**new, **base}):
        (row,) = compare(sides, [METRIC], over="databases", each=True).rows
        assert dict(row.point)["stop_time"] == "2s"
        assert row.size.mean == 1
    beyond = compare({**new, **base}, [METRIC], over="databases").beyond
    assert [at.split()[3] for at in beyond["base.db"]] == ["stop_time=1s"]


def test_of_several_engines_in_a_database_the_newest_is_compared_and_that_is_said() -> None:
    old, new = (cell("x", [value] * 2, engine=str(value)) for value in (1.0, 2.0))
    other = cell("x", [4.0] * 2, engine="3")
    found = compare({"a": [old, new], "b": [other]}, [METRIC], over="databases")
    assert found.rows[0].size.mean == pytest.approx(2)
    assert "a has results of several engines or settings at 1 point" in str(found)


def test_points_and_seeds_of_one_side_alone_are_said_whichever_is_the_base() -> None:
    """What crashed has left no run."""
    whole, rest = cell("a", [1.0, 2.0, 3.0]), cell("b", [1.0, 2.0, 3.0])
    del rest.metrics[2]
    more = cell("b", [1.0], k=2)
    for sides in ({"a": [whole], "b": [rest, more]}, {"b": [rest, more], "a": [whole]}):
        said = str(compare(sides, [METRIC]))
        assert "a has not 1 point of b: aqm k=2" in said
        assert "b has no run with some seeds of a at 1 point (aqm k=1: 2): only seeds that" in said
    gates = [gate.parse(f"{METRIC}>5%")]
    judged = gate.judge(gates, compared([whole], [rest]), {METRIC})
    assert judged.text == (
        "failed: 0 of 1 comparison beyond a limit;"
        " 1 run of the base missing at points of both sides"
    )
    assert not gate.judge(gates, compared([rest], [whole]), {METRIC}).failed


def test_a_version_has_one_name_at_points_where_it_is_the_only_one(tmp_path: Path) -> None:
    code, db = tmp_path / "mine.py", tmp_path / "runs.db"
    for version, k in (("0.5", "1,2"), ("0.7", "1")):
        text = f"class Mine(ccperf.CongestionControl):\n    x = {version}\n"
        code.write_text(f"import ccperf\n\n\n{text}")
        line = ["--cc", f"newreno,{code}:Mine", "--k", k, "--qdisc", "codel", "--stop-time", "1s"]
        assert invoke(["run", "aqm", *line, "--db", str(db)]) == 0
    found = ccperf.compare("newreno", "Mine", db=db, metric=METRIC, k=2)
    assert [row.differences[0].point for row in found.rows] == [
        (("k", "2"), ("qdisc", "CoDelQueueDisc"))
    ]
    at = ["--at", "k=2", "--db", str(db)]
    assert invoke(["compare", "newreno", "Mine", *at]) == 0
    assert invoke(["compare", "newreno@native", "Mine@native", *at]) == 0
    assert invoke(["compare", "Mine", "newreno", *at, "--fail-on", f"{METRIC}>500%"]) == 0


def test_the_least_and_the_largest_point_have_names_only_if_they_differ() -> None:
    def extremes(*factors: float) -> list[str]:
        base = [cell("a", [10.0, 10.0], k) for k in range(len(factors))]
        other = [cell("b", [10.0 * f] * 2, k) for k, f in enumerate(factors)]
        columns, (line,) = text.cells(compared(base, other))
        return [line[columns.index(name)] for name in ("least", "largest")]

    assert extremes(1.0, 1.0) == ["x1.000", "x1.000"]
    assert extremes(1.0, 2.0) == ["x1.000 (k=0)", "x2 (k=1)"]


def test_an_algorithm_on_two_backends_is_compared_at_the_same_points() -> None:
    """Whatever the algorithms are called there: `linux:cdg` and one's own."""
    base, other = cell("a", [1.0, 2.0]), replace(cell("b", [2.0, 4.0]), backend="linux")
    assert not compared([base], [other]).rows
    assert compared([base], [other], over="backends").rows


def test_the_direction_of_a_metric_says_what_is_better() -> None:
    (row,) = compared([cell("a", [2.0, 2.0])], [cell("b", [1.0, 1.0])]).rows
    assert row.verdict.is_better is True  # a shorter RTT
    (row,) = compared([cell("a", [2.0, 1.0, 3.0])], [cell("b", [2.0, 1.5, 2.0])]).rows
    assert row.verdict.is_better is None


def test_an_interval_over_points_is_given_if_asked_and_decides_nothing() -> None:
    """ln 1.1 and ln 1.3: mean ± 12.7062 x deviation / sqrt(2)."""
    base = [cell("a", [10.0, 10.0], 1), cell("a", [10.0, 10.0], 2)]
    other = [cell("b", [11.0, 11.0], 1), cell("b", [13.0, 13.0], 2)]
    (row,) = compared(base, other).rows
    assert row.size.over_grids is None
    low, high = row.over_grids or (0, 0)
    half = 12.7062 * math.log(1.3 / 1.1) / 2
    assert low == pytest.approx(math.sqrt(1.1 * 1.3) * math.exp(-half), rel=1e-4)
    assert high == pytest.approx(math.sqrt(1.1 * 1.3) * math.exp(half), rel=1e-4)
    assert low < 1 < high
    assert row.verdict.word == "worse"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    engine = backends.get("native")
    experiment = catalogue.get("aqm")
    with Store(path, "a") as store:
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


def test_one_run_whose_scenario_was_drawn_from_the_seed_is_not_exact(tmp_path: Path) -> None:
    path = tmp_path / "drawn.db"
    for more in (["parking_lot", "--n", "2"], ["aqm", "--k", "1", "--jitter", "10ms"]):
        line = ["run", *more, "--cc", "newreno", "--seed", "1", "--stop-time", "1s"]
        assert invoke([*line, "--db", str(path)]) == 0
    drawn = cells.read([path])
    assert len(drawn) > 1
    assert not any(cell.is_deterministic for cell in drawn)


@pytest.mark.parametrize(
    ("value", "said"), [(999.4, "999"), (999.6, "1,000"), (1000.4, "1,000"), (12345.6, "12,346")]
)
def test_sizes_have_no_power_of_ten_below_and_above_1000(value: float, said: str) -> None:
    assert effect_text("difference", value) == f"+{said}"
    assert effect_text("difference", -value) == f"−{said}"
    assert effect_text("ratio", value) == f"x{said}"


@pytest.mark.parametrize(
    ("effect", "value", "interval", "said"),
    [
        ("ratio", 1.1004, (1.0988, 1.1021), "x1.100 (1.099 to 1.102)"),
        ("ratio", 0.80383, (0.80338, 0.80428), "x0.8038 (0.8034 to 0.8043)"),
        ("ratio", 1.5, (0.004, 600.0), "x1.500 (0.004 to 600.000)"),
        ("ratio", 2.0, (2.0, 2.0), "x2.00 (2.00 to 2.00)"),
        ("ratio", 1200.0, (1100.0, 1300.0), "x1,200 (1,100 to 1,300)"),
        ("difference", -0.2296, (-0.2891, -0.17), "−0.230 (−0.289 to −0.170)"),
        ("difference", 0.001, (-5.1, 5.2), "0.00 (−5.10 to +5.20)"),
        ("difference", 0.0, (0.0, 0.0), "0 (0 to 0)"),
        ("ratio", 0.587, (1e-7, 5_076_074.2), "x0.587 (1e−07 to 5,076,074)"),
        ("ratio", 1.02, (0.0001, 7776.44), "x1.02 (0.0001 to 7,776)"),
    ],
)
def test_a_mean_and_its_interval_have_digits_that_tell_them_apart(
    effect: Literal["ratio", "difference"], value: float, interval: tuple[float, float], said: str
) -> None:
    assert interval_text(effect, value, interval) == said


def test_an_interval_may_end_beyond_all_doubles() -> None:
    """As of products of the throughputs of many flows, with two seeds."""
    base, other = cell("a", [1.0, 1.0]), cell("b", [1e-100, 1e100])
    (row,) = compared([base], [other]).rows
    assert row.text == "x1 (0 to inf)"
    assert (document(row)["low"], document(row)["high"]) == (0.0, None)
    assert compared([base], [other]).plot().figure


def test_points_from_0_and_to_0_are_both_named_in_either_order() -> None:
    one = [cell("a", [0.0, 0.0], k=1), cell("a", [3.0, 3.0], k=2)]
    other = [cell("b", [3.0, 3.0], k=1), cell("b", [0.0, 0.0], k=2)]
    for base, side in ((one, other), (other, one)):
        (row,) = compared(base, side).rows
        assert row.size.mean is None
        assert row.text == "to 0 and from 0"
    (row,) = compared(one[:1], other[:1]).rows
    assert row.text == "from 0"


def test_a_figure_of_factors_has_none_below_0_and_says_what_is_absent() -> None:
    again = "total_retransmissions_l4"

    def side(name: str, *values: list[float]) -> list[Cell]:
        found = [cell(name, of, k=k) for k, of in enumerate(values, start=1)]
        for one in found:
            one.metrics = {seed: {again: of[METRIC]} for seed, of in one.metrics.items()}
        return found

    base = side("a", [0.0, 0.0], [2.0, 3.0], [5.0, 5.0])
    other = side("b", [3.0, 4.0], [4.0, 5.0], [7.0, 7.0])
    figure = compare({"a": base, "b": other}, [again], each=True).plot().figure
    (panel,) = figure.panels
    (series,) = panel.series
    assert series.y.tolist() == [pytest.approx(math.sqrt(2 * 5 / 3)), pytest.approx(7 / 5)]
    interval = series.interval(panel.y)
    assert interval
    assert (interval[0] > 0).all()
    # The second is exact; experiments and points have nothing between them.
    assert interval[0][1] == interval[1][1]
    assert (series.shape, panel.x.is_category) == ("points", True)
    assert panel.y.label == "Retransmissions, over a"
    assert figure.notes == ("No factor where one side is 0: b at aqm k=1.",)
    # Nobody knows an interval of one seed, or over several points.
    alone = compare({"a": side("a", [2.0]), "b": side("b", [3.0])}, [again]).plot().figure
    assert alone.panels[0].series[0].half_width is not None
    assert np.isnan(alone.panels[0].series[0].half_width).all()


def test_seeds_that_happened_to_lose_nothing_are_not_exact(tmp_path: Path) -> None:
    """Of 1 in 10,000 packets the first three seeds lose none within 3 s; the sixth does."""
    path = tmp_path / "loss.db"
    for seeds in ("1..3", "6"):
        line = ["run", "loss_resilience", "--cc", "newreno,cubic", "--loss", "0.0001"]
        assert invoke([*line, "--seed", seeds, "--stop-time", "3s", "--db", str(path)]) == 0
    sides = cells.by_algorithm(cells.read([path]))
    for cell in (cell for side in sides.values() for cell in side):
        assert cell.metrics[1] == cell.metrics[2] == cell.metrics[3] != cell.metrics[6]
        del cell.metrics[6], cell.records[6]
    (row,) = compare(sides, [METRIC]).rows
    (found,) = row.differences
    assert (found.basis, found.p) == ("sign test", 0.25)
    assert str(row.verdict) == "not known yet (3 more seeds would tell)"


def test_an_interval_beside_a_missing_star_is_explained() -> None:
    """At one point alone the difference is shown; of twenty it may be chance."""

    def said(points: int) -> str:
        base = [cell("a", [10.0, 10.4, 9.7, 10.2], k) for k in range(points)]
        other = [cell("b", [10.1, 10.3, 9.8, 10.1], k) for k in range(1, points)]
        return text.text(
            compared(base, [cell("b", [11.0, 11.9, 10.5, 11.6], 0), *other], each=True)
        )

    words = "stars are corrected for the number of points"
    (row,) = compared(
        [cell("a", [10.0, 10.4, 9.7, 10.2])], [cell("b", [11.0, 11.9, 10.5, 11.6])]
    ).rows
    assert 0.05 / 20 < (row.differences[0].p or 0) < 0.05
    assert words not in said(1)
    assert words in said(20)
