"""``ccperf plot``: choosing runs, several in one figure, sweeps, names of files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.present.figures import OF_RECORDINGS

pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install 'ccperf[figures]'")

Plot: TypeAlias = Callable[..., tuple[int, list[str], str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    made = invoke(
        [
            *("run", "aqm", "--cc", "cubic,bbr", "--k", "1,2", "--qdisc", "codel,fifo"),
            *("--seed", "1..2", "--stop-time", "1s", "--db", str(path)),
        ]
    )
    assert made == 0
    return path


@pytest.fixture
def plot(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Plot:
    monkeypatch.chdir(tmp_path)
    shutil.copy(runs, "runs.db")

    def command(*words: str) -> tuple[int, list[str], str]:
        status = invoke(["plot", "--db", "runs.db", "--format", "svg", *words])
        shown = capsys.readouterr()
        return status, shown.out.split(), shown.err

    return command


@pytest.mark.parametrize(
    "words",
    [
        ["--figure", "window"],
        ["--figure", "window", "--overlay"],
        ["--sweep", "k", "--metric", "mean_srtt_l4"],
    ],
)
def test_a_file_names_its_runs_and_who_made_them(
    words: list[str], runs: Path, tmp_path: Path
) -> None:
    """A file that left its folder and its name behind still leads to its runs."""
    chosen = ["--cc", "cubic", "--k", "1,2", "--qdisc", "codel"]
    files = ["--db", str(runs), "--format", "pdf,svg,png", "-o", str(tmp_path)]
    assert invoke(["plot", *chosen, *words, *files]) == 0
    with ccperf.Store(runs) as store:
        rows = [
            row
            for row in store.runs()
            if "TcpCubic" in row.cc and row.parameters["qdisc"] == "CoDelQueueDisc"
        ]
    # Of the points, one seed is enough for an algorithm that draws nothing.
    assert len(rows) == 2
    for suffix in ("pdf", "svg", "png"):
        written = [path.read_bytes() for path in tmp_path.glob(f"*.{suffix}")]
        named = [{row.id for row in rows if row.id.encode() in file} for file in written]
        assert set.union(*named) == {row.id for row in rows}
        assert len(named) == (1 if words[2:] else 2)
        assert all(rows[0].provenance.engine_hash[:12].encode() in file for file in written)


def test_python_writes_the_same_file_as_the_command(plot: Plot) -> None:
    _, (name,), _ = plot("--cc", "cubic", "--k", "1", "--qdisc", "codel", "--figure", "window")
    with ccperf.Store("runs.db") as store:
        (run,) = [row.id for row in store.runs() if row.id[:8] in name]
        store.load(run).plot("window").save("window.svg")
    assert Path("window.svg").read_bytes() == Path(name).read_bytes()


def test_files_say_what_they_show(plot: Plot) -> None:
    point = ["--at", "k=2,qdisc=CoDelQueueDisc", "--seed", "2", "--figure", "time_series"]
    status, (name,), _ = plot("--cc", "bbr", *point)
    assert status == 0
    assert name.startswith("aqm_TcpBbr_k-2_qdisc-CoDelQueueDisc_seed-2_")
    assert name.endswith("_time_series.svg")
    assert Path(name).is_file()


@pytest.mark.usefixtures("plot")
def test_json_says_what_was_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    point = ["--at", "k=2,qdisc=CoDelQueueDisc", "--seed", "2", "--figure", "time_series,window"]
    arguments = ["plot", "--db", "runs.db", "--format", "svg,pdf", "--cc", "bbr", *point, "--json"]
    assert invoke(arguments) == 0
    series, window = json.loads(capsys.readouterr().out)
    assert (series["figure"], window["figure"]) == ("time_series", "window")
    assert "over time" in series["shows"]
    assert len(series["files"]) == 2
    assert all(Path(file).is_file() for file in (*series["files"], *window["files"]))


def test_several_runs_in_one_figure_are_told_apart_by_what_differs(plot: Plot) -> None:
    status, names, _ = plot(
        *("--at", "k=1,qdisc=CoDelQueueDisc", "--seed", "1", "--overlay"),
        *("--figure", "time_series,distribution"),
    )
    assert status == 0
    assert names == [
        "aqm_k-1_qdisc-CoDelQueueDisc_seed-1_TcpCubic_TcpBbr_time_series.svg",
        "aqm_k-1_qdisc-CoDelQueueDisc_seed-1_TcpCubic_TcpBbr_distribution.svg",
    ]


def test_runs_are_in_the_order_of_their_seeds_whichever_ended_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["--db", "x.db", "--experiment", "aqm", "--figure", "window", "--format", "svg"]
    for cc, seed in (("bbr", 10), ("bbr", 2), ("cubic", 3), ("bbr", 1), ("cubic", 2)):
        run = ["run", "aqm", "--cc", cc, "--k", "1", "--qdisc", "fifo", "--stop-time", "1s"]
        assert invoke([*run, "--seed", str(seed), "--db", "x.db"]) == 0
    capsys.readouterr()
    assert invoke(["plot", *line, "--overlay", "--cc", "bbr"]) == 0
    (name,) = capsys.readouterr().out.split()
    assert "_seed-1_seed-2_seed-10_" in name
    assert invoke(["plot", *line]) == 0
    names = capsys.readouterr().out.split()
    assert [re.search(r"(Tcp\w+?)_.*seed-(\d+)", one).groups() for one in names] == [  # type: ignore[union-attr]
        *(("TcpCubic", seed) for seed in ("2", "3")),
        *(("TcpBbr", seed) for seed in ("1", "2", "10")),
    ]


def test_runs_over_each_other_of_another_point_have_another_file(plot: Plot) -> None:
    names = {
        name
        for k in "12"
        for seed in "12"
        for name in plot(
            *("--at", f"k={k},qdisc=CoDelQueueDisc", "--seed", seed, "--overlay"),
            *("--figure", "window"),
        )[1]
    }
    assert len(names) == 4


def test_an_algorithm_has_the_same_colour_in_every_figure(plot: Plot) -> None:
    """CUBIC's orange and BBR's black, whoever else is drawn."""

    def colours(*words: str) -> set[str]:
        status, (name,), _ = plot(*words)
        assert status == 0
        known = ("#0072b2", "#e69f00", "#000000", "#56b4e9")
        drawn = Path(name).read_text()
        # Axes are black, too; lines and markers are drawn within a clip.
        marks = re.findall(r'clip-path="url[^>]*style="[^"]*stroke: (#\w+)', drawn)
        return {colour for colour in marks if colour in known}

    of_time = ("--figure", "window", "--at", "k=1,qdisc=CoDelQueueDisc", "--seed", "1")
    assert colours(*of_time, "--cc", "cubic") == {"#e69f00"}
    assert colours(*of_time, "--cc", "bbr") == {"#000000"}
    both = {"#e69f00", "#000000"}
    assert colours(*of_time, "--overlay") == both
    swept = ("--sweep", "k", "--metric", "mean_srtt_l4", "--qdisc", "codel")
    assert colours(*swept) == both
    assert colours(*swept, "--cc", "cubic") == {"#e69f00"}


def test_a_sweep_has_one_figure_for_each_other_parameter_and_metric(plot: Plot) -> None:
    status, names, _ = plot("--sweep", "k", "--metric", "mean_srtt_l4,total_qdisc_drops_l2")
    assert status == 0
    # They come in the order in which the runs finished.
    assert sorted(names) == [
        f"aqm_qdisc-{qdisc}_TcpBbr_TcpCubic_{metric}_over_k.svg"
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
        for metric in ("mean_srtt_l4", "total_qdisc_drops_l2")
    ]


def test_a_sweep_of_other_algorithms_has_another_file(plot: Plot) -> None:
    swept = ("--sweep", "k", "--metric", "mean_srtt_l4", "--qdisc", "codel")
    names = [plot(*swept, "--cc", cc)[1] for cc in ("cubic", "bbr", "cubic,bbr", "bbr,cubic")]
    one, other, both, turned = names
    assert both == turned
    assert len({*one, *other, *both}) == 3


def test_a_sweep_of_chosen_values_or_seeds_draws_those_and_has_another_file(
    plot: Plot, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("runs.db").unlink()
    made = ["run", "aqm", "--cc", "cubic", "--k", "1,2", "--qdisc", "codel", "--seed", "1..2"]
    assert invoke([*made, "--jitter", "50ms", "--stop-time", "500ms", "--db", "runs.db"]) == 0
    capsys.readouterr()
    swept = ("--sweep", "k", "--metric", "mean_srtt_l4")
    chosen: tuple[tuple[str, ...], ...] = (
        (),
        ("--seed", "1"),
        ("--seed", "1..2"),
        ("--k", "1..2"),
        ("--k", "1,2", "--seed", "2"),
    )
    drawn = [plot(*swept, *words)[1] for words in chosen]
    all_of_them, one, both, ks, ks_of_one = (Path(name).read_text() for (name,) in drawn)
    assert [name.rpartition("over_k")[2] for (name,) in drawn] == [
        ".svg",
        "_seed-1.svg",
        "_seed-1-2.svg",
        "_k-1-2.svg",
        "_k-1-2_seed-2.svg",
    ]
    assert all_of_them == both == ks
    # The mean of one seed is another, and has no interval.
    assert len({all_of_them, one, ks_of_one}) == 3
    assert plot(*swept, "--at", "k=2,k=1")[1] == drawn[3]
    status, _, err = plot(*swept, "--seed", "3..4")
    assert status == 2
    assert "--seed: no such run has seed 3, 4; there are 1, 2" in err


def test_what_has_one_value_only_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for k, qdisc in (("1,2", "codel"), ("1", "fifo")):
        made = ["run", "aqm", "--cc", "cubic", "--k", k, "--qdisc", qdisc, "--stop-time", "500ms"]
        assert invoke([*made, "--db", "k.db"]) == 0
    capsys.readouterr()
    swept = ["plot", "--db", "k.db", "--sweep", "k", "--metric", "mean_srtt_l4", "--format", "svg"]
    assert invoke(swept) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == ["aqm_qdisc-CoDelQueueDisc_TcpCubic_mean_srtt_l4_over_k.svg"]
    assert "not drawn: mean_srtt_l4 of aqm qdisc=FifoQueueDisc" in shown.err
    assert invoke([*swept, "--qdisc", "fifo"]) == 2
    assert "--sweep: mean_srtt_l4 of aqm qdisc=FifoQueueDisc" in capsys.readouterr().err


def test_one_point_is_no_line_and_the_message_says_what_draws_it(plot: Plot) -> None:
    chosen = ["--k", "1", "--cc", "bbr", "--seed", "1"]
    status, _, said = plot(*chosen)
    assert status == 2
    assert "fewer than two values of `k` have it; --figure time_series draws the runs" in said
    assert plot(*chosen, "--figure", "time_series")[0] == 0


def test_what_is_chosen_and_nothing_else_is_drawn_as_its_experiment_declares(plot: Plot) -> None:
    status, names, _ = plot("--experiment", "aqm")
    assert status == 0
    assert sorted(names) == [
        f"aqm_qdisc-{qdisc}_TcpBbr_TcpCubic_mean_srtt_l4_over_k.svg"
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
    ]


def test_a_sweep_over_words_has_them_in_their_order(plot: Plot) -> None:
    status, names, _ = plot("--sweep", "qdisc", "--metric", "mean_srtt_l4", "--cc", "cubic")
    assert status == 0
    assert all(name.endswith("_mean_srtt_l4_over_qdisc.svg") for name in names)


POINT = ("--at", "k=2,qdisc=CoDelQueueDisc", "--seed", "1")


def test_a_paper_s_figure_has_the_panel_size_and_words_that_are_asked_for(plot: Plot) -> None:
    status, names, error = plot(
        *(*POINT, "--overlay", "--figure", "time_series", "--panel", "throughput"),
        *("--bin", "200ms", "--width", "86mm", "--height", "40mm", "--style", "grayscale"),
        *("--label", "cubic=CUBIC", "--label", "TcpBbr=BBR", "--label", "Time=Time after start"),
    )
    assert (status, error) == (0, "")
    assert names == [
        "aqm_k-2_qdisc-CoDelQueueDisc_seed-1_TcpCubic_TcpBbr_time_series_throughput_bin-200ms.svg"
    ]
    drawn = Path(names[0]).read_text()
    width, height = re.findall(r'(?:width|height)="([0-9.]+)pt"', drawn)
    assert float(width) / 72 * 25.4 == pytest.approx(86, abs=0.1)
    assert float(height) / 72 * 25.4 == pytest.approx(40, abs=0.1)
    # Letters are paths, whose text stands before them as a comment.
    texts = re.findall(r"<!-- (.*?) -->", drawn)
    assert {"CUBIC", "BBR", "Time after start [s]"} <= set(texts)
    assert "TcpCubic" not in texts


def test_flows_together_have_a_file_of_their_own(plot: Plot) -> None:
    status, (name,), _ = plot(
        *(*POINT, "--overlay", "--figure", "time_series", "--sum", "--label", "TcpBbr=B")
    )
    assert status == 0
    assert name == "aqm_k-2_qdisc-CoDelQueueDisc_seed-1_TcpCubic_TcpBbr_time_series_sum.svg"


def test_a_sweep_says_in_words_what_it_shows(plot: Plot) -> None:
    status, (name,), _ = plot("--sweep", "k", "--metric", "mean_srtt_l4", "--qdisc", "codel")
    assert status == 0
    texts = set(re.findall(r"<!-- (.*?) -->", Path(name).read_text()))
    assert {"Number of flows", "Smoothed RTT [ms]", "TcpCubic", "1", "2"} <= texts
    # Half a flow there is not.
    assert not {"1.0", "1.2", "1.5"} & texts


def test_completion_times_of_several_seeds_are_one_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    point = ["--load", "0.5", "--workload", "web_search", "--flows", "30"]
    made = ["run", "testbed", "--qdisc", "ECNSharp,codel", *point, "--seed", "1..3"]
    assert invoke([*made, "--db", "fct.db"]) == 0
    capsys.readouterr()
    line = ["plot", "--db", "fct.db", "--experiment", "testbed", "--figure", "completion_times"]
    assert invoke([*line, "--overlay", "--panel", "all", "--format", "svg"]) == 0
    (name,) = capsys.readouterr().out.split()
    at = "testbed_workload-web_search_load-0.5_flows-30"
    assert name == f"{at}_CoDelQueueDisc_ECNSharpQueueDisc_completion_times_all.svg"
    assert invoke([*line, "--overlay", "--panel", "all", "--seed", "1..2"]) == 0
    (chosen,) = capsys.readouterr().out.split()
    assert chosen == name.replace("_CoDel", "_seed-1-2_CoDel").replace(".svg", ".pdf")
    runs = ccperf.grid(
        "testbed", qdisc="codel", load=0.5, workload="web_search", flows=30, seed=range(1, 4)
    )
    pooled = OF_RECORDINGS["completion_times"].pool
    assert pooled
    figure = pooled(run.recording for run in runs)
    assert figure
    ends = [run.recording.completions for run in runs]
    (series,) = figure.others[0].series
    assert series.x.size == sum(table.rows for table in ends if table) + 1
    assert series.y[-1] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*POINT, "--figure", "time_series", "--panel", "rtt"], "--panel: unknown panel"),
        ([*POINT, "--figure", "time_series", "--bin", "1ms"], "` is shorter than"),
        ([*POINT, "--figure", "time_series", "--bin", "1h"], "--bin: `1h` must be shorter"),
        ([*POINT, "--figure", "window", "--bin", "1s"], "whose samples end at 0.99 s"),
        ([*POINT, "--figure", "distribution", "--bin", "1s"], "--bin: `distribution` is not"),
        ([*POINT, "--width", "3px"], "--width: `3px` is no length"),
        ([*POINT, "--height", "0"], "--height: `0` is no length"),
        ([*POINT, "--figure", "window", "--style", "grayscal"], "did you mean `grayscale`"),
        ([*POINT, "--label", "TcpCubic"], "--label: `TcpCubic` is not NAME=Text"),
        ([*POINT, "--figure", "window", "--label", "x=y"], "--label: unknown label"),
        ([*POINT, "--figure", "window", "--log", "z"], "--log: `z` is not x, y or xy"),
        (["--sweep", "k", "--sum"], "--sum: is for figures over time"),
        (["--sweep", "bandwidth"], "unknown parameter `bandwidth`; known: k, qdisc"),
        (["--sweep", "k", "--metric", "mean_srt_l4"], "did you mean"),
        (["--cc", "vegas"], "no runs of `vegas`"),
        (["--at", "k"], "not parameter=value"),
        (["--cc", "cubicc"], "cubic"),
        ([], "choose some: --experiment"),
        (["abc", "--cc", "cubic"], "not both"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_is_written(
    plot: Plot, words: list[str], message: str
) -> None:
    status, _, error = plot(*words)
    assert status == 2
    assert message in error
    assert [path.name for path in Path().iterdir()] == ["runs.db"]


def test_a_figure_of_factors_says_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Vegas sends nothing again where next to nothing is lost, and CUBIC does."""
    path = tmp_path / "loss.db"
    line = ["run", "loss_resilience", "--cc", "cubic,vegas", "--loss", "0.0001,0.01,0.05"]
    assert invoke([*line, "--seed", "1", "--stop-time", "3s", "--db", str(path)]) == 0
    capsys.readouterr()
    again = "total_retransmissions_l4"
    words = ["plot", "--db", str(path), "--sweep", "loss", "--metric", again, "--base", "cubic"]
    assert invoke([*words, "--format", "svg", "-o", str(tmp_path), "--json"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    said = "No factor, since not both values are above 0: TcpVegas at 0.0001."
    assert figure["notes"] == [said]
    # Over Vegas it is CUBIC that has none.
    assert invoke([*words[:-1], "vegas", "--format", "svg", "-o", str(tmp_path), "--json"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    assert figure["notes"] == ["No factor, since not both values are above 0: TcpCubic at 0.0001."]


@pytest.mark.usefixtures("own_folder")
def test_a_sweep_over_who_sends_has_a_point_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "pfc_joining", "--stop-time", "5ms", "--every", "1ms", "--pfc", "on"]
    assert invoke(words) == 0
    assert invoke(["plot", "--experiment", "pfc_joining", "--format", "svg"]) == 0
    assert len(list(Path().glob("pfc_joining_*_over_transport.svg"))) == 1
    assert invoke(["plot", "--sweep", "transprt"]) == 2
    err = capsys.readouterr().err
    assert "--sweep: unknown parameter `transprt` (did you mean `transport`?); known: every" in err


@pytest.mark.usefixtures("plot")
def test_a_date_that_no_file_has_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    status = invoke(["plot", "latest", "--figure", "window", "--db", "runs.db"])
    assert status == 0
    assert os.environ["SOURCE_DATE_EPOCH"] == "yesterday"
