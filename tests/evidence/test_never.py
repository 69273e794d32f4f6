"""What need not come to pass within a run: said, counted, and in no mean."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.evidence import cells, sweeps
from ccperf.evidence.compare import compare
from ccperf.evidence.text import cells as cells_of
from ccperf.evidence.text import remarks
from ccperf.runs.metrics import METRICS
from ccperf.store import Store

TIME, BESIDE = "convergence_time_l4", "mean_jains_fairness_1s_l4"
#: BBR beside CUBIC is fair within six seconds with one of these seeds, and not with the other.
POINT: dict[str, Any] = {"against": "cubic", "rtts": "[40ms,80ms]", "buffer": "1"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("never") / "runs.db"
    with Store(path, "a") as store:
        for cc in ("vegas", "bbr"):
            for seed in (1, 2):
                store.add(ccperf.run("competition", cc=cc, seed=seed, stop_time="6s", **POINT))
    return path


def test_a_run_in_which_it_never_came_has_no_value_but_what_is_asked_with_it(
    database: Path,
) -> None:
    found = {
        (cell.algorithm, seed): metrics
        for cell in cells.read([database])
        for seed, metrics in cell.metrics.items()
    }
    assert all(BESIDE in metrics for metrics in found.values())
    never = {key for key, metrics in found.items() if METRICS[TIME].is_never(metrics)}
    assert never == {("TcpBbr", 2)}
    assert all((TIME in metrics) == (key not in never) for key, metrics in found.items())


def test_compare_says_who_never_came_to_it_and_leaves_that_out_of_the_mean(database: Path) -> None:
    sides = cells.by_algorithm(cells.read([database]), ["TcpVegas", "TcpBbr"])
    comparison = compare(sides, [TIME])
    (row,) = comparison.rows
    # Of the seed in which both came to it.
    values = [sides[name][0].metrics[1][TIME] for name in sides]
    assert row.means == pytest.approx(values)
    assert row.lacking == (0, 1)
    assert "never here" in str(row.verdict)
    assert row.verdict.is_better is not True
    (said,) = [text for text in remarks(comparison) if text.startswith("never")]
    assert f"{TIME} of TcpBbr" in said
    assert "1 point of competition" in said
    assert not any("has no" in text for text in remarks(comparison))


def test_the_command_line_prints_never(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["competition", "--cc", "bbr", "--seed", "2", "--stop-time", "6s"]
    point = [word for name, value in POINT.items() for word in (f"--{name}", value)]
    assert invoke(["run", *words, *point, "--db", str(database)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if TIME in line]
    assert line.split()[:3] == ["Convergence", "time", "never"]
    assert invoke(["compare", "vegas", "bbr", "--db", str(database), "--metric", TIME]) == 0
    out = capsys.readouterr()
    assert "never here" in out.out
    assert f"never: {TIME} of TcpBbr" in out.out + out.err


@pytest.fixture
def one_sided(tmp_path: Path) -> Path:
    """CUBIC never comes to half, and Vegas does: nothing to compare, and something to say."""
    point = {**POINT, "against": "bbr", "buffer": "4", "rtts": "[40ms,80ms]"}
    with Store(tmp_path / "sided.db", "a") as store:
        for cc in ("cubic", "vegas"):
            store.add(ccperf.run("competition", cc=cc, seed=2, **point))
    return tmp_path / "sided.db"


def test_json_says_who_has_no_value_as_the_text_does(
    one_sided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "cubic", "vegas", "--db", str(one_sided), "--metric", TIME]
    assert invoke([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == []
    for lacks in (document["lacking"], document["never"]):
        (lack,) = lacks
        assert (lack["who"], lack["side"], lack["metric"]) == ("TcpCubic", "TcpVegas", TIME)
        assert lack["point"]["rtts"] == "[40ms,80ms]"
    assert invoke([*words, "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "experiment,base\n"
    assert f"never: {TIME} of TcpCubic" in shown.err


def test_a_notebook_says_what_the_text_does(one_sided: Path) -> None:
    compared = ccperf.compare("cubic", "vegas", db=one_sided, metric=[TIME, "mean_srtt_l4"])
    shown = unescape(compared._repr_html_())
    for line in (*cells_of(compared)[0], *remarks(compared, place="python")):
        assert line in shown
    assert "ms" in shown
    assert "never: " in shown


def test_a_figure_says_what_never_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    # Beside a BBR of twice its round trip CUBIC does not come to half with this seed.
    database = tmp_path / "runs.db"
    with Store(database, "a") as store:
        for rtts in ("[40ms,40ms]", "[40ms,80ms]", "[80ms,40ms]"):
            point = {**POINT, "against": "bbr", "buffer": "4", "rtts": rtts}
            store.add(ccperf.run("competition", cc="cubic", seed=2, **point))
    lost = [
        dict(cell.point.parameters)["rtts"]
        for cell in cells.read([database])
        if TIME not in cell.metrics[2]
    ]
    assert lost == ["[40ms,80ms]"]
    words = ["plot", "--db", str(database), "--sweep", "rtts", "--metric", TIME, "--format", "svg"]
    assert invoke([*words, "--output", str(tmp_path), "--json"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    said = "Never within the run: TcpCubic at [40ms,80ms]."
    assert figure["notes"] == [said]
    assert figure["shows"].endswith(said)
    assert invoke([*words, "--output", str(tmp_path)]) == 0
    assert said in capsys.readouterr().err
    (drawn,) = sweeps.sweeps(cells.read([database]), "rtts", [TIME])[0].values()
    (series,) = drawn.panels[0].series
    assert np.isnan(series.y).tolist() == [False, True, False]


def test_seeds_that_draw_delays_are_repetitions_of_one_point(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db", "a") as store:
        for loss in (0.0, 0.5):
            for seed in (1, 2, 3):
                store.add(ccperf.run("handover", cc="cubic", seed=seed, stop_time="16s", loss=loss))
    found = cells.read([tmp_path / "runs.db"])
    assert [sorted(cell.metrics) for cell in found] == [[1, 2, 3], [1, 2, 3]]
    assert not any(cell.is_deterministic for cell in found)
