"""Values of a parameter as the sides of a comparison."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

import ccperf
from ccperf.api.runs import Runs
from ccperf.base import expression
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.evidence import cells, sweeps
from ccperf.evidence.by_parameter import by_parameter
from ccperf.evidence.compare import compare
from ccperf.evidence.values import in_order

if TYPE_CHECKING:
    from ccperf.evidence.cells import Cell
    from ccperf.evidence.rows import Row

METRIC = "mean_srtt_l4"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    db = tmp_path_factory.mktemp("store") / "runs.db"
    asked = {"seed": [1, 2, 3], "stop_time": "2s", "db": db, "progress": False}
    found = ccperf.grid("aqm", cc=["cubic", "bbr"], k=[1, 2], qdisc=["fifo", "codel"], **asked)
    assert len(found) == 2 + 2 + 2 * 2 * 3  # CUBIC draws nothing
    return found


@pytest.fixture(scope="module")
def db(runs: Runs) -> Path:
    return runs.databases[0]


def of_store(runs: Runs, **where: object) -> list[float]:
    """The metric of these runs, by seed."""
    frame = runs.where(**where).to_pandas("flow")
    return list(frame.groupby("seed")[METRIC].mean())


def test_each_algorithm_is_compared_with_itself_over_the_same_points_and_seeds(runs: Runs) -> None:
    found = runs.compare(metric=METRIC, by="qdisc=fifo,codel", each=True)
    assert (found.base, found.sides) == ("qdisc=FifoQueueDisc", ("qdisc=CoDelQueueDisc",))
    assert len(found.rows) == 4
    for row in found.rows:
        point = dict(row.point)
        where = {"cc": point["algorithm"], "k": point["k"]}
        assert set(point) == {"algorithm", "k"}
        fifo = of_store(runs, qdisc="fifo", **where)
        codel = of_store(runs, qdisc="codel", **where)
        logs = [math.log(b / a) for a, b in zip(fifo, codel, strict=True)]
        assert row.size.mean == pytest.approx(math.exp(sum(logs) / len(logs)), rel=1e-12)


def test_values_exchanged_give_reciprocals(runs: Runs) -> None:
    one = runs.compare(metric=METRIC, by="qdisc=fifo,codel")
    other = runs.compare(metric=METRIC, by="qdisc=codel,fifo")
    assert len(one.rows) == 2
    for row, back in zip(one.rows, other.rows, strict=True):
        assert row.size.mean is not None
        assert back.size.mean == pytest.approx(1 / row.size.mean)
        assert row.verdict.shown == back.verdict.shown


def test_all_values_are_sides_where_none_is_named(runs: Runs) -> None:
    assert runs.compare(metric=METRIC, by="k").sides == ("k=2",)
    few = runs.where(cc="cubic").compare(metric=METRIC, by="k")
    assert {row.algorithm for row in few.rows} == {"TcpCubic"}


def test_databases_and_the_command_say_the_same(
    runs: Runs, db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"metric": METRIC, "by": "qdisc=fifo,codel"}
    here = str(runs.compare(**asked))
    assert str(ccperf.compare(db=db, **asked)) == here
    assert invoke(["compare", "--db", str(db), "--metric", METRIC, "--by", asked["by"]]) == 0
    assert capsys.readouterr().out.split() == here[: here.index("over several")].split()
    one = ccperf.compare("bbr", db=db, **asked)
    assert {row.algorithm for row in one.rows} == {"TcpBbr"}


def test_a_profile_is_a_parameter_though_most_runs_have_none(tmp_path: Path) -> None:
    db = tmp_path / "runs.db"
    for profile in (None, "linux"):
        ccperf.grid("ecn", cc="cubic", k=1, stop_time="1s", profile=profile, db=db, progress=False)
    found = ccperf.compare(db=db, metric=METRIC, by="profile")
    assert (found.base, found.sides) == ("profile=none", ("profile=linux",))
    assert found.rows


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--by", "qdsic"], "--by: unknown parameter `qdsic` (did you mean `qdisc`?); known: "),
        (["--by", "k=1,3"], "--by: no run has it: unknown value of k `3`"),
        (["--by", "k=1"], "--by: name at least two to compare; there is k=1, 2"),
        (["--by", "k="], "--by: name at least two to compare"),
        (["--by", "profile=none,linux"], "make some: ccperf bench --profile linux cubic"),
        (["--by", "profile"], "--by: name at least two to compare; there is profile=none"),
        (["codel", "fifo"], "or do you mean --by qdisc=codel,fifo?"),
        (["cubic", "--by", "k", "--versions"], "--versions: compares versions only"),
    ],
)
def test_what_there_is_not(
    db: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["compare", *words, "--db", str(db)]) == 2
    assert says in capsys.readouterr().err


def test_values_are_compared_with_one_engine(db: Path) -> None:
    """Two that were run by two engines may differ by these alone."""
    found = [cell for cell in cells.read([db]) if cell.algorithm == "TcpCubic"]
    later = [replace(cell, engine="later") for cell in found]

    def rows(*of: Cell) -> list[Row]:
        sides = by_parameter(of, "qdisc=fifo,codel", "--by")
        return list(compare(sides, [METRIC], over="values", each=True).rows)

    def under(qdisc: str, of: list[Cell]) -> list[Cell]:
        return [cell for cell in of if ("qdisc", qdisc) in cell.point.own]

    fifo, codel = under("FifoQueueDisc", found), under("CoDelQueueDisc", later)
    assert (len(fifo), len(codel)) == (2, 2)
    assert rows(*fifo, *codel) == []
    both = rows(*found, *later)
    assert len(both) == 4
    assert {dict(row.point)["engine"] for row in both} == {found[0].engine[:8], "later"}


def test_a_base_is_an_algorithm_or_a_value(runs: Runs) -> None:
    with pytest.raises(UsageError, match="baseline: is an algorithm; of `by` the first value"):
        runs.compare("cubic", by="k")


def test_who_sends_is_compared_by_name_whatever_the_transport_brings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Points of DCQCN said transport=dcqcn, those of HPCC transport=hpcc: none was of both."""
    db = tmp_path / "runs.db"
    incast = ["run", "pfc_incast", "--n", "4,8", "--size", "100kB"]
    ring = ["run", "permutation", "--leaves", "2", "--servers", "2", "--stop-time", "1ms"]
    for words in (incast, ring):
        senders = (
            ["--transport", "dcqcn,hpcc,ndp"],
            ["--transport", "tcp", "--cc", "cubic,dctcp"],
        )
        for of in senders:
            assert invoke([*words, *of, "--seed", "1..2", "--db", str(db)]) == 0
    found = cells.read([db])
    sides = cells.by_algorithm(found, ["Dcqcn", "Hpcc", "Ndp", "TcpCubic", "TcpDctcp"])
    compared = compare(sides, ["p99_fct_l4", "mean_goodput_l4"])
    assert [(row.metric, row.side, row.points) for row in compared.rows] == [
        *(("p99_fct_l4", side, 2) for side in compared.sides),
        *(("mean_goodput_l4", side, 1) for side in compared.sides),
    ]
    assert compared.rows[0].differences[0].point == (
        ("n", "4"),
        ("size", "100kB"),
        ("pfc", "on"),
        ("rate", "40Gbps"),
    )
    (dcqcn,) = (
        cell.metrics.values()
        for cell in found
        if cell.algorithm == "Dcqcn" and ("n", "4") in cell.point.own
    )
    mean = fmean(metrics["p99_fct_l4"] for metrics in dcqcn)
    assert compared.rows[0].differences[0].base.mean == pytest.approx(mean)
    pytest.importorskip("matplotlib")
    incasts = [cell for cell in found if cell.point.experiment == "pfc_incast"]
    figures = [
        *sweeps.sweeps(incasts, "n", ["p99_fct_l4"])[0].values(),
        sweeps.sweep(incasts, "n", "p99_fct_l4"),
    ]
    assert [sorted(figure.entries) for figure in figures] == [sorted(sides)] * 2
    capsys.readouterr()
    assert invoke(["compare", "dcqcn", "hpcc", "--db", str(db)]) == 0
    assert "pfc_incast, 2 points" in capsys.readouterr().out
    assert invoke(["compare", "--by", "transport=dcqcn,hpcc", "--db", str(db)]) == 2
    said = "--by: `transport` says who sends; name these themselves: Dcqcn, Hpcc, Ndp, TcpCubic"
    assert said in capsys.readouterr().err


def test_which_run_ended_first_does_not_choose_the_base(db: Path) -> None:
    found = cells.read([db])
    for order in (found, found[::-1]):
        assert list(by_parameter(order, "qdisc", "--by")) == [
            "qdisc=FifoQueueDisc",
            "qdisc=CoDelQueueDisc",
        ]
        assert list(by_parameter(order, "k", "--by")) == ["k=1", "k=2"]


@pytest.mark.parametrize(
    ("parameter", "experiment", "ordered"),
    [
        ("k", "aqm", ["1", "2", "3", "10"]),
        ("rtt", "dumbbell", ["500us", "2ms", "0.1s"]),
        ("profile", "aqm", ["none", "linux", "ns3-3.44", "ns3-3.48"]),
        (
            "qdisc",
            "aqm",
            [
                "FifoQueueDisc",
                "CoDelQueueDisc",
                "CoDelQueueDisc(Target=500us)",
                "CoDelQueueDisc(Target=1ms)",
                "CoDelQueueDisc(Target=5ms)",
                "CoDelQueueDisc(Target=20ms)",
                "FqCoDelQueueDisc",
                "./mine.py:Mine(threshold=2)",
                "./mine.py:Mine(threshold=10)",
                "PieQueueDisc",
            ],
        ),
        (
            "qdisc",
            "not of the catalogue",
            [
                "[1s,1ms]",
                "[2s,1ms]",
                "CoDelQueueDisc",
                "CoDelQueueDisc(Interval=50ms,Target=500us)",
                "CoDelQueueDisc(Interval=50ms,Target=5ms)",
                "CoDelQueueDisc(Interval=50ms,Target=20ms)",
                "FifoQueueDisc(MaxSize=100p)",
                "FqCoDelQueueDisc",
            ],
        ),
        ("size", "incast", ["20kB", "200kB", "1MB"]),
        ("walks", "random_walk", ["rate", "delay", "loss", "all"]),
    ],
)
def test_values_are_in_an_order_of_their_own(
    parameter: str, experiment: str, ordered: list[str]
) -> None:
    for values in (ordered, ordered[::-1], sorted(ordered)):
        assert in_order(parameter, values, [experiment]) == ordered


@pytest.mark.parametrize(
    ("qdisc", "label", "unit", "labels", "at"),
    [
        ("codel:Target=1ms/20ms/5ms", "Target of CoDelQueueDisc", "ms", (), [1, 5, 20]),
        (
            "pie:B=1/2:target=10ms",
            "B of PieQueueDisc(QueueDelayReference=10ms)",
            "",
            (),
            [1, 2],
        ),
        ("fifo:limit=9p/20p", "MaxSize of FifoQueueDisc", "", ("9p", "20p"), [0, 1]),
        (
            "fifo:limit=9p,codel:limit=9p",
            "Queue discipline of the bottleneck",
            "",
            ("FifoQueueDisc(MaxSize=9p)", "CoDelQueueDisc(MaxSize=9p)"),
            [0, 1],
        ),
    ],
)
def test_a_parameter_of_a_discipline_is_an_axis(
    qdisc: str, label: str, unit: str, labels: tuple[str, ...], at: list[float]
) -> None:
    values = [value for word in qdisc.split(",") for value in expression.each(word)]
    runs = ccperf.grid("dumbbell", cc="cubic", qdisc=values, stop_time="200ms", progress=False)
    (figure,) = sweeps.sweeps(cells.read(runs.databases), "qdisc", [METRIC])[0].values()
    axis = figure.panels[0].x
    assert (axis.label, axis.unit, axis.labels or ()) == (label, unit, labels)
    assert sorted(figure.panels[0].series[0].x) == at


def test_a_setting_that_both_values_have_is_alike_on_both_sides(tmp_path: Path) -> None:
    """Runs without jitter have two recoveries here. The newer one, whichever that was, stood beside
    the one of the runs with jitter, and what recovery does was called jitter's."""
    db = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "cubic", "--k", "2", "--qdisc", "fifo", "--stop-time", "2s"]
    other = ["--recovery", "TcpClassicRecovery"]
    for words in (["--jitter", "10ms", "--seed", "1..2"], [], other):
        assert invoke([*line, *words, "--db", str(db)]) == 0
    found = cells.read([db])
    for order in (found, found[::-1]):
        compared = compare(by_parameter(order, "jitter", "--by"), [METRIC], over="values")
        (row,) = compared.rows
        assert dict(row.point) == {
            "k": "2",
            "qdisc": "FifoQueueDisc",
            "recovery": "PrrRfc6937",
            "algorithm": "TcpCubic",
        }
        assert row.size.mean == pytest.approx(1, abs=0.005)
        assert compared.several == {"jitter=none": (), "jitter=10ms": ()}
        (alone,) = compared.missing["jitter=10ms"]
        assert alone == "aqm k=2 qdisc=FifoQueueDisc recovery=TcpClassicRecovery TcpCubic"


def test_the_newest_is_what_was_run_last_whichever_database_is_named_first(db: Path) -> None:
    new, other = [cell for cell in cells.read([db]) if cell.algorithm == "TcpCubic"][:2]

    def at(finished: str, cell: Cell) -> Cell:
        records = {
            seed: replace(record, row=replace(record.row, finished_at=finished))
            for seed, record in cell.records.items()
        }
        return replace(cell, engine=finished, point=new.point, records=records)

    new, old, base = at("2026-11-30", new), at("2026-11-29", other), at("2026-11-30", other)
    for order in ([new, old], [old, new]):
        (row,) = compare({"a": [base], "b": order}, [METRIC], over="databases").rows
        assert row.means[1] == fmean(new.values(METRIC).values())
        assert row.means[1] != row.means[0]


def test_the_same_runs_in_two_databases_are_equal_and_no_seed_would_tell_more(db: Path) -> None:
    """After a change that is none, a comparison asked for more seeds of the runs that it had."""
    bbr = [cell for cell in cells.read([db]) if cell.algorithm == "TcpBbr"]
    few = [cell.of_seeds([1, 2]) for cell in bbr]
    (row,) = compare({"base.db": bbr, "new.db": few}, [METRIC], over="databases").rows
    assert str(row.verdict) == "equal within 1 %"
    assert (row.verdict.exact, row.verdict.shown) == (row.points, 0)
    others = [
        replace(cell, runs={seed: f"of {run}" for seed, run in cell.runs.items()}) for cell in bbr
    ]
    (row,) = compare({"base.db": bbr, "new.db": others}, [METRIC], over="databases").rows
    assert row.verdict.word == "not known yet"
