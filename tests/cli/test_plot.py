"""``ccperf plot``: choosing runs, several in one figure, sweeps, names of files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from ccperf.cli.app import invoke

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
        "aqm_TcpCubic_TcpBbr_time_series.svg",
        "aqm_TcpCubic_TcpBbr_distribution.svg",
    ]


def test_a_sweep_has_one_figure_for_each_other_parameter_and_metric(plot: Plot) -> None:
    status, names, _ = plot("--sweep", "k", "--metric", "mean_srtt_l4,total_qdisc_drops_l2")
    assert status == 0
    # They come in the order in which the runs finished.
    assert sorted(names) == [
        f"aqm_qdisc-{qdisc}_{metric}_over_k.svg"
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
        for metric in ("mean_srtt_l4", "total_qdisc_drops_l2")
    ]


def test_what_is_chosen_and_nothing_else_is_drawn_as_its_experiment_declares(plot: Plot) -> None:
    status, names, _ = plot("--experiment", "aqm")
    assert status == 0
    assert sorted(names) == [
        f"aqm_qdisc-{qdisc}_mean_srtt_l4_over_k.svg"
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
    ]


def test_a_sweep_over_words_has_them_in_their_order(plot: Plot) -> None:
    status, names, _ = plot("--sweep", "qdisc", "--metric", "mean_srtt_l4", "--cc", "cubic")
    assert status == 0
    assert all(name.endswith("_mean_srtt_l4_over_qdisc.svg") for name in names)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sweep", "bandwidth"], "has a parameter"),
        (["--sweep", "k", "--metric", "mean_srt_l4"], "did you mean"),
        (["--cc", "vegas"], "no runs of `vegas`"),
        (["--at", "k"], "not parameter=value"),
        (["--cc", "cubicc"], "cubic"),
        ([], "name at least one"),
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
