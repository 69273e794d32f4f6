"""Many runs from Python: grids, tables for pandas, comparisons, figures."""

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import ccperf
from ccperf.api import asked, tidy
from ccperf.cli.app import invoke
from ccperf.errors import RunError, UsageError
from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.experiments.catalogue import NAMED
from ccperf.store import Store, StoreError

SHORT = {"stop_time": "1s", "jitter": "10ms"}


@pytest.fixture(scope="module")
def runs() -> ccperf.Runs:
    return ccperf.grid(
        "aqm",
        cc=["cubic", "bbr"],
        k=[1, 2],
        qdisc=["codel", "fifo"],
        seed=range(1, 4),
        progress=False,
        **SHORT,
    )


@pytest.fixture
def plain() -> Iterator[None]:
    """Matplotlib as it is when nobody has set anything, and nothing of it afterwards."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        yield
    pyplot.close("all")


def test_a_grid_has_every_combination_in_its_order(runs: ccperf.Runs) -> None:
    assert len(runs) == 24
    first, last = runs[0], runs[-1]
    assert first.parameters == {"aut": "TcpCubic", "k": "1", "qdisc": "CoDelQueueDisc", **_JITTER}
    assert last.parameters == {"aut": "TcpBbr", "k": "2", "qdisc": "FifoQueueDisc", **_JITTER}
    assert [run.scenario.seed for run in runs[:3]] == [1, 2, 3]
    alone = ccperf.run("aqm", cc="bbr", k=2, qdisc="fifo", seed=3, **SHORT)
    assert last.id == alone.id
    assert last.recording.equals(alone.recording)


_JITTER = {"jitter": "10ms"}


def test_a_run_is_found_among_others(runs: ccperf.Runs) -> None:
    assert runs[1] == runs[1] != runs[0]
    assert runs[1] in runs
    assert runs.index(runs[1]) == 1
    assert len({runs[0], *runs[:2]}) == 2


def test_a_database_is_opened_once_for_all_its_runs(
    runs: ccperf.Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To open one takes as long as it has runs."""
    opened: list[Path] = []

    def count(path: Path, mode: Literal["r", "a"]) -> Store:
        opened.append(path)
        return Store(path, mode)

    monkeypatch.setattr("ccperf.api.runs.Store", count)
    assert [run.id for run in runs] == [runs[index].id for index in range(len(runs))]
    assert len(opened) == 1 + len(runs)


def test_a_metric_that_another_ccperf_has_is_in_a_run_s_table(runs: ccperf.Runs) -> None:
    run = runs[0]
    metrics = copy.deepcopy(run.metrics)
    metrics.flow["flow_1"]["of_another"] = 1.5
    table = replace(run, metrics=metrics).to_pandas()
    (row,) = table[table["metric"] == "of_another"].to_dict("records")
    assert (row["value"], row["subject"]) == (1.5, "flow_1")
    assert not isinstance(row["unit"], str)


def test_where_a_seed_changes_nothing_there_is_one_run() -> None:
    runs = ccperf.grid("aqm", cc="cubic", k=1, qdisc="codel", seed="1..5", stop_time="60ms")
    assert len(runs) == 1


def test_a_grid_says_in_one_line_what_varies(runs: ccperf.Runs) -> None:
    assert repr(runs) == (
        "<Runs aqm: 24 runs; cc TcpCubic, TcpBbr; k 1, 2; qdisc CoDelQueueDisc, FifoQueueDisc; "
        "seed 1, 2, 3>"
    )
    assert "and 14 more" in str(runs)
    assert runs._repr_html_().count("<tr>") == 11


def test_a_table_of_headlines_has_units_experiments_and_what_never_came(tmp_path: Path) -> None:
    point = {"against": "bbr", "buffer": 4, "rtts": "[40ms,80ms]"}
    line = {"cc": "cubic", "seed": 2, "db": tmp_path / "runs.db"}
    ccperf.grid("competition", **line, **point)
    ccperf.grid("many_flows", k=100, stop_time="5s", **line)
    with ccperf.Store(tmp_path / "runs.db") as store:
        runs = ccperf.Runs([(tmp_path / "runs.db", row) for row in store.runs()])
    for shown in (str(runs), runs._repr_html_()):
        assert "mean_srtt_l4 [ms]" in shown
        assert "competition against=TcpBbr" in shown
        assert "many_flows k=100" in shown
        assert "never" in shown


def test_a_table_has_a_row_for_each_run_and_subject(runs: ccperf.Runs) -> None:
    pandas = pytest.importorskip("pandas")
    table = runs.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    head = ["run", "experiment", "cc", "k", "qdisc", "jitter", "seed", "backend", "scope"]
    assert list(table)[:10] == [*head, "subject"]
    # Flows, the bottleneck, and all together.
    assert len(table) == sum(run.scenario.canonical()["flows"].__len__() + 2 for run in runs)
    assert table.k.tolist() == sorted(table.k.tolist(), key=lambda _: 0)
    assert set(table.k) == {1, 2}
    flows = runs.to_pandas("flow")
    assert set(flows.scope) == {"flow"}
    assert flows.mean_srtt_l4.notna().all()
    run = runs[5]
    of_run = flows[flows.run == run.id].set_index("subject")
    for name, values in run.flow_metrics.items():
        assert of_run.loc[name, "mean_srtt_l4"] == values["mean_srtt_l4"]


def test_a_headline_that_no_run_has_is_no_column() -> None:
    runs = ccperf.grid("dumbbell", cc="cubic", stop_time="1s", progress=False)
    assert "mean_srtt_l4 [ms]" in str(runs)
    assert "mean_fct_l4" not in str(runs) + runs._repr_html_()
    assert "algorithm" in str(runs[:0])


def test_polars_has_the_same_table(runs: ccperf.Runs) -> None:
    pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = runs.to_polars()
    assert isinstance(table, polars.DataFrame)
    assert table.columns == list(runs.to_pandas())
    assert table["k"].dtype == polars.Int64


def test_names_that_look_like_numbers_stay_texts(runs: ccperf.Runs) -> None:
    of = {"run": "12e4567890123456", "experiment": "5", "k": "5", "cc": "TcpCubic", "seed": 1}
    tables = runs[0].metrics
    tables.flow["1"] = tables.flow.pop("flow_1")
    found = tidy.columns([({**of, "backend": "native"}, tables)], "flow")
    assert (found["run"], found["experiment"]) == ([of["run"]], ["5"])
    assert (found["subject"], found["k"], found["seed"]) == (["1"], [5], [1])


def test_columns_need_no_library(runs: ccperf.Runs) -> None:
    columns = runs._columns("network")
    assert len(columns["run"]) == 24
    assert columns["k"][0] == 1
    assert columns["subject"] == ["net"] * 24


def test_some_are_chosen_by_any_name(runs: ccperf.Runs) -> None:
    some = runs.where(cc="cubic", k=[2], qdisc="fq_codel,fifo".split(",")[1:], seed=range(2, 4))
    assert [run.scenario.seed for run in some] == [2, 3]
    assert {run.parameters["aut"] for run in some} == {"TcpCubic"}
    with pytest.raises(UsageError, match=r"^y: unknown metric `nope`"):
        runs.plot(y="nope")
    with pytest.raises(StoreError, match="there is no folder /nowhere; create it first"):
        ccperf.grid("aqm", cc="cubic", k=1, stop_time="60ms", db="/nowhere/x.db", progress=False)
    with pytest.raises(UsageError, match="did you mean `k`"):
        runs.where(kk=1)
    with pytest.raises(UsageError, match="no run is there; k is 1, 2"):
        runs.where(k=3)
    assert len(runs.where(k=2.0, jitter="0.01s")) == len(runs.where(k=2, jitter="10ms")) == 12


def test_a_comparison_is_that_of_the_command_line(
    runs: ccperf.Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "cubic,bbr", "--k", "1,2", "--qdisc", "codel,fifo"]
    settings = ["--seed", "1..3", "--stop-time", "1s", "--jitter", "10ms", "--db", str(db)]
    assert invoke([*line, *settings]) == 0
    capsys.readouterr()
    assert invoke(["compare", "bbr", "cubic", "--db", str(db)]) == 0
    printed = capsys.readouterr().out.splitlines()
    compared = runs.compare(baseline="bbr")
    assert str(compared).splitlines()[: len(printed)] == printed
    assert "--" not in repr(compared).replace("− −", "")
    again = ccperf.compare("bbr", "cubic", db=db)
    assert again.rows == compared.rows
    at = ccperf.compare("bbr", "cubic", db=db, metric="mean_srtt_l4", each=True, k=2)
    assert [dict(row.point)["k"] for row in at.rows] == ["2", "2"]


def test_a_comparison_says_what_there_is(runs: ccperf.Runs) -> None:
    with pytest.raises(UsageError, match="no runs of `vegas` in these runs; there are TcpCubic"):
        runs.compare(baseline="vegas")
    with pytest.raises(UsageError, match="did you mean `mean_srtt_l4`"):
        runs.compare(metric="mean_srtt")
    with pytest.raises(UsageError, match="at least two; there is TcpBbr"):
        runs.where(cc="bbr").compare()
    for least in (5, -0.01, float("nan"), "5%"):
        with pytest.raises(UsageError, match=r"least: .* to below 1; 0\.05 is 5 %"):
            runs.compare(least=least)  # type: ignore[arg-type]


@pytest.mark.usefixtures("plain")
def test_a_figure_has_a_line_for_each_algorithm_and_what_else_varies(runs: ccperf.Runs) -> None:
    axes = runs.plot(x="k", y="mean_srtt_l4")
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == [
        f"{cc} qdisc={qdisc}"
        for cc in ("TcpCubic", "TcpBbr")
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Number of flows", "Smoothed RTT [ms]")
    line = axes.get_lines()[0]
    found = cells.read(runs.where(cc="cubic", qdisc="codel").databases)
    cubic = [
        cell
        for cell in found
        if cell.algorithm == "TcpCubic" and ("qdisc", "CoDelQueueDisc") in cell.point.parameters
    ]
    means = {
        dict(cell.point.parameters)["k"]: sum(m["mean_srtt_l4"] for m in cell.metrics.values()) / 3
        for cell in cubic
    }
    assert line.get_ydata().tolist() == pytest.approx([means["1"], means["2"]])
    # A number of flows is whole.
    assert all(float(tick).is_integer() for tick in axes.get_xticks())


@pytest.mark.usefixtures("plain")
def test_axes_and_settings_are_the_user_s(runs: ccperf.Runs) -> None:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.rcParams.update({"font.family": "serif", "lines.linewidth": 3.0})
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=["#112233", "#445566"])
    _, (left, right) = pyplot.subplots(1, 2)
    some = runs.where(qdisc="codel")
    assert some.plot(ax=right) is right
    assert not left.has_data()
    assert [line.get_color() for line in right.get_lines()[::2]] == ["#112233", "#445566"]
    assert right.get_lines()[0].get_linewidth() == 3.0
    assert right.xaxis.label.get_fontfamily() == ["serif"]


@pytest.mark.usefixtures("plain")
def test_factors_over_a_base_are_drawn(runs: ccperf.Runs) -> None:
    axes = runs.where(qdisc="codel").plot(x="k", y="mean_srtt_l4", base="bbr")
    assert axes.get_ylabel() == "Smoothed RTT, over TcpBbr"
    of_base = axes.get_lines()[2].get_ydata().tolist()
    assert of_base == pytest.approx([1.0, 1.0])


@pytest.mark.usefixtures("plain")
def test_what_cannot_be_drawn_is_said(runs: ccperf.Runs) -> None:
    with pytest.raises(UsageError, match="did you mean `k`"):
        runs.plot(x="kk")
    with pytest.raises(UsageError, match="did you mean `mean_srtt_l4`"):
        runs.plot(x="k", y="mean_srtt")
    with pytest.raises(
        UsageError, match=r"no run has a value of `mean_fct_l4`; the nearest .{,200}$"
    ):
        runs.plot(x="k", y="mean_fct_l4")


@pytest.mark.usefixtures("plain")
def test_without_an_x_it_is_the_one_parameter_that_varies(runs: ccperf.Runs) -> None:
    axes = runs.where(k=1).plot(y="mean_srtt_l4")
    assert axes.get_xlabel() == "Queue discipline of the bottleneck"
    with pytest.raises(UsageError, match=r"x: no parameter of these runs .* `overlay`"):
        runs.where(k=1, qdisc="codel").plot()


@pytest.mark.usefixtures("plain")
def test_runs_over_each_other_are_called_by_what_tells_them_apart(runs: ccperf.Runs) -> None:
    some = runs.where(k=1, qdisc="codel", seed=1)
    plot = some.overlay("window", labels={"TcpCubic": "CUBIC"})
    assert plot.figure.entries == ("CUBIC", "TcpBbr")
    shown = [text.get_text() for text in plot.onto().get_legend().get_texts()]
    assert shown[:2] == ["CUBIC", "TcpBbr"]
    assert "<iframe" in plot._repr_html_()
    binned = some.overlay(panel="throughput", bin="200ms").figure
    assert len(binned.panels[0].series[0].x) == 5
    with pytest.raises(UsageError, match="overlay: there is no run"):
        runs[:0].overlay()


@pytest.mark.usefixtures("plain")
def test_axes_that_runs_share_name_them_all(runs: ccperf.Runs) -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    axes.plot([0, 1], [0, 1], label="mine")
    axes.legend()
    for run in runs.where(k=1, qdisc="codel", seed=1):
        labels = {"flow_1": run.parameters["aut"]}
        run.plot("time_series", panel="throughput", ax=axes, labels=labels)
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == ["mine", "TcpCubic", "optimum", "TcpBbr"]
    _, axes = pyplot.subplots()
    # A run of one flow has no legend of its own, and needs one beside another.
    for run in runs.where(k=1, qdisc="codel", seed=1):
        run.plot("queue", panel="length", ax=axes, labels={"btl_forward": run.parameters["aut"]})
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown[0] == "TcpCubic"
    assert "TcpBbr" in shown


def test_a_database_keeps_runs_and_makes_none_again(tmp_path: Path) -> None:
    db = tmp_path / "kept.db"
    point = {"cc": "cubic", "k": 1, "qdisc": "codel", "stop_time": "60ms"}
    one = ccperf.grid("aqm", **point, db=db)
    before = Store(db).runs()
    again = ccperf.grid("aqm", **point, db=db)
    assert [run.id for run in again] == [run.id for run in one]
    assert Store(db).runs() == before
    assert one.databases == [db]


def test_without_a_database_runs_last_as_long_as_what_is_taken_of_them() -> None:
    runs = ccperf.grid("aqm", cc="cubic", k=[1, 2], qdisc="codel", stop_time="60ms")
    (path,) = runs.databases
    some = runs.where(k=2)
    del runs
    assert path.exists()
    assert some[0].parameters["k"] == "2"
    del some
    assert not path.parent.exists()


def test_disciplines_and_balancers_are_named_as_on_the_command_line() -> None:
    result = ccperf.run("testbed", qdisc="codel", load=0.5, flows=5, workload="web_search")
    assert result.parameters["aut"] == "CoDelQueueDisc"
    with pytest.raises(UsageError, match="tests what qdisc names"):
        ccperf.run("testbed", cc="codel")
    with pytest.raises(UsageError, match="`ECNSharpp`"):
        ccperf.grid("testbed", qdisc="ECNSharpp")
    with pytest.raises(UsageError, match="tests what routing names"):
        ccperf.grid("load_balancing", cc="ecmp")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cc": ["cubic", "bbr"]}, "cc: .* is several; `ccperf.grid`"),
        ({"cc": "cubic(Beta=0.5|0.7)"}, "cc: .* is several; `ccperf.grid`"),
        ({"k": [1, 2]}, "k: .* is several; `ccperf.grid`"),
        ({"seed": range(1, 3)}, "seed: .* is several; `ccperf.grid`"),
        ({"seed": 0}, "not a whole number from 1"),
        ({"seed": True}, "not a whole number from 1"),
        ({"seed": "1"}, "not a whole number from 1"),
        ({"time": "5s"}, "did you mean `stop_time`"),
        ({"seeds": 1}, r"did you mean `seed`"),
        ({"qdisc": "drop-tail"}, "did you mean `FifoQueueDisc`"),
        ({"cc": "TCP Reno"}, "did you mean `TcpLinuxReno`"),
    ],
)
def test_one_run_has_one_of_everything(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ccperf.run("aqm", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": []}, "seed: is empty"),
        ({"k": []}, "k: is empty"),
        ({"seed": "1-10"}, "write 1..10"),
        ({"seed": [1, 2**32]}, "not a whole number"),
        ({"jobs": -1}, "jobs: `-1` must be"),
        ({"backend": "ns2"}, "backend"),
        ({"cc": "cubik"}, "did you mean `TcpCubic`"),
        ({"cc": "cubic, bbr"}, r'write a list, \["cubic", "bbr"\]'),
        ({"kk": 1}, "did you mean `k`"),
        ({"k": 0}, "from 1 to"),
    ],
)
def test_a_wrong_grid_runs_nothing(given: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        ccperf.grid("aqm", db=tmp_path / "none.db", **given)  # type: ignore[arg-type]
    assert not (tmp_path / "none.db").exists()


def test_seeds_are_numbers_of_any_kind() -> None:
    import numpy as np

    assert asked.seeds(np.arange(1, 4)) == [1, 2, 3]
    assert asked.seeds("1..3,7") == [1, 2, 3, 7]
    assert asked.seeds((5, 5)) == [5]
    assert asked.seeds(None) is None


def test_no_parameter_of_an_experiment_is_taken_for_an_argument() -> None:
    arguments = {
        name
        for function in (ccperf.run, ccperf.grid)
        for name in inspect.signature(function).parameters
    }
    for experiment in NAMED.values():
        names = {each.name for each in experiment.parameters}
        assert not names & arguments, experiment.name
        assert experiment.kind == "cc" or experiment.kind not in names


def test_the_catalogue_is_run_for_algorithms_and_shown_on_a_site(tmp_path: Path) -> None:
    runs = ccperf.bench(
        ["cubic", "newreno"],
        experiments=["aqm", "buffer_sizing"],
        stop_time="200ms",
        site=tmp_path / "site",
        progress=False,
    )
    experiments = [NAMED[name] for name in ("aqm", "buffer_sizing")]
    assert len(runs) == 2 * sum(len(list(each.grid())) for each in experiments)
    assert (tmp_path / "site" / "index.html").is_file()
    compared = runs.compare(baseline="newreno")
    assert {row.experiment for row in compared.rows} == {"aqm", "buffer_sizing"}


def test_what_an_experiment_cannot_take_is_left_out() -> None:
    """As `ccperf bench --datacentre` does it: no experiment takes all disciplines."""
    runs = ccperf.bench(
        qdisc=["TCN", "DWRR", "RED-tail"],
        experiments=["ecn_sharp_sensitivity", "schedulers", "dwrr"],
        progress=False,
    )
    made = {(run.experiment, run.parameters["aut"]) for run in runs}
    assert ("schedulers", "DwrrQueueDisc") in made
    assert {("dwrr", "TcnQueueDisc"), ("dwrr", "RED-tail")} <= made
    assert not {name for name, aut in made if name != "dwrr" and aut != "DwrrQueueDisc"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "name what is under test"),
        ({"cc": "cubic", "qdisc": "codel"}, "name what is under test"),
        ({"cc": "cubic", "experiments": "testbed"}, "testbed tests what qdisc names"),
        ({"cc": "cubic", "experiments": "aqmm"}, "did you mean `aqm`"),
        ({"qdisc": "cubic"}, "cubic"),
        ({"qdisc": "TCN", "experiments": "schedulers"}, "`TCN` is no scheduler"),
    ],
)
def test_a_wrong_bench_says_why(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ccperf.bench(**given)  # type: ignore[arg-type]


MINE = """
import ccperf

class Mine(ccperf.CongestionControl):
    def ssthresh(self, tcb, bytes_in_flight):
        return max(int(0.7 * bytes_in_flight), 2 * tcb.segment_size)

class Broken(ccperf.CongestionControl):
    def cong_avoid(self, tcb, segments_acked):
        raise ZeroDivisionError("by hand")
"""


def test_a_class_of_ones_own_is_compared_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    import mine

    point = {"k": 1, "qdisc": "codel", "stop_time": "1s"}
    runs = ccperf.grid("aqm", cc=["cubic", mine.Mine], **point)
    assert runs.compare(baseline=mine.Mine).base == "mine:Mine"
    assert len(runs.where(cc=mine.Mine)) == 1
    with pytest.warns(RuntimeWarning, match="by hand"):
        runs = ccperf.grid("aqm", cc=["cubic", mine.Broken], **point)
    assert [run.parameters["aut"] for run in runs] == ["TcpCubic"]
    with pytest.raises(RunError, match="by hand"):
        ccperf.grid("aqm", cc=mine.Broken, **point)


def test_a_script_needs_no_guard_where_runs_are_many(tmp_path: Path) -> None:
    """Processes make them, which do not read the script."""
    script = """
        import ccperf
        runs = ccperf.grid("aqm", cc=["cubic", "bbr"], k=[1, 2, 3, 4], qdisc=["codel", "fifo"],
                           seed=range(1, 5), jitter="1ms", stop_time="50ms", jobs=2)
        print(len(runs))
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("64\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_the_base_s_cells_may_draw_nothing() -> None:
    """A figure pairs what draws nothing with every seed, as a comparison does."""
    pytest.importorskip("matplotlib")
    runs = ccperf.grid("aqm", cc=["cubic", "bbr"], k=[1, 2], qdisc="codel", stop_time="300ms")
    found = compare(cells.by_algorithm(runs._cells), ["mean_srtt_l4"], each=True)
    from ccperf.evidence import sweeps

    figure = sweeps.sweep(runs._cells, "k", "mean_srtt_l4", "TcpCubic")
    drawn = figure.panels[0].series[1].y.tolist()
    assert drawn == pytest.approx([row.size.mean for row in found.rows])
