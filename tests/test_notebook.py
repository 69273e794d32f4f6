"""What notebooks show of results, comparisons and scenarios."""

from __future__ import annotations

import json
import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ccperf
from ccperf import campaign
from ccperf.errors import UsageError
from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.experiments import catalogue
from ccperf.present import notebook
from ccperf.runs import backends
from ccperf.runs.diagnoses import Note
from ccperf.store import Store

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def result() -> ccperf.Result:
    return ccperf.run("aqm", cc="TcpCubic", k=2, qdisc="codel", stop_time="1s")


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for pandas and polars, which take columns as those do."""
    for name in ("pandas", "polars"):
        library = ModuleType(name)
        library.DataFrame = lambda columns: columns  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, library)


def test_a_result_shows_a_figure_and_its_metrics_with_nothing_from_elsewhere(
    result: ccperf.Result,
) -> None:
    shown = result._repr_html_()
    assert shown.count("<iframe") == 1
    first, folded = shown.split("<details><summary>All metrics</summary>")
    assert "sRTT [ms]" in first
    assert "flow_1 TcpCubic" in first
    assert "mean_srtt_l4" not in first.split("</noscript>")[-1]
    assert "mean_srtt_l4" in folded
    assert "src=&quot;http" not in shown
    assert "https://" not in shown
    # A frame may run its script and nothing else.
    assert 'sandbox="allow-scripts"' in shown


def test_what_holds_a_run_back_is_said_beside_it(result: ccperf.Result) -> None:
    held_back = replace(result)
    held_back.__dict__["notes"] = [Note("unfilled", "flow_1", "carries 3 of > 10 Mbps")]
    assert "<p>flow_1: carries 3 of &gt; 10 Mbps</p>" in held_back._repr_html_()


@pytest.mark.parametrize("name", ["time_series", "window", "queue", "distribution"])
def test_a_figure_can_be_shown_and_saved(result: ccperf.Result, name: str, tmp_path: Path) -> None:
    plot = result.plot(name)
    assert "<iframe" in plot._repr_html_()
    assert plot._repr_svg_().startswith("<svg")
    with pytest.raises(UsageError, match="paths: name a file"):
        plot.save()
    pytest.importorskip("matplotlib")
    plot.save(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 1000


def test_names_cannot_leave_a_frame() -> None:
    from ccperf.present.figures import Axis, Figure, Panel, Subject

    hostile = '</script><img src=x onerror=alert(1)>"'
    figure = Figure("x", hostile, hostile, (Panel(Axis(hostile), Axis("y"), ()),), (Subject("a"),))
    shown = notebook.Plot(figure)._repr_html_()
    assert "<img src=x" not in shown
    assert "&lt;/script&gt;&lt;img" not in shown.replace(html_of(hostile), "")


def html_of(text: str) -> str:
    import html

    return html.escape(text, quote=True)


def test_metrics_and_tables_become_data_frames(result: ccperf.Result, frames: None) -> None:  # noqa: ARG001
    for tidy in (result.to_pandas(), result.to_polars()):
        assert list(tidy) == ["scope", "subject", "metric", "value", "unit"]
        at = [
            index
            for index, (subject, metric) in enumerate(
                zip(tidy["subject"], tidy["metric"], strict=True)
            )
            if (subject, metric) == ("flow_1", "mean_srtt_l4")
        ]
        assert [tidy["value"][i] for i in at] == [result.flow_metrics["flow_1"]["mean_srtt_l4"]]
    samples = result.to_pandas("flow_samples")
    assert samples["cwnd_bytes"] is result.recording.flow_samples["cwnd_bytes"]
    with pytest.raises(KeyError, match="flow_samples"):
        result.to_pandas("nothing")


def test_without_the_library_it_is_said_which(
    result: ccperf.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        result.to_pandas()


def test_a_scenario_shows_its_network_and_flows(result: ccperf.Result, frames: None) -> None:  # noqa: ARG001
    shown = result.scenario._repr_html_()
    assert "<svg" in shown
    assert "flow_2" in shown
    assert "src_1" in shown
    assert result.scenario.to_pandas()["cc"] == ["TcpCubic", "TcpCubic"]


def test_a_comparison_shows_what_differs(tmp_path: Path, frames: None) -> None:  # noqa: ARG001
    with Store(tmp_path / "runs.db", "a") as store:
        for cc in ("TcpNewReno", "TcpVegas"):
            for k in (1, 2):
                store.add(ccperf.run("aqm", cc=cc, k=k, qdisc="fifo", stop_time="1s"))
    sides = cells.by_algorithm(cells.read([tmp_path / "runs.db"]), ["TcpNewReno", "TcpVegas"])
    compared = compare(sides, ["mean_srtt_l4"], each=True)
    shown = compared._repr_html_()
    assert "TcpVegas" in shown
    assert "k=2" in shown
    figure = compared.plot().figure
    (series,) = figure.panels[0].series
    # What the points have in common is said once.
    axis = figure.panels[0].x
    assert (axis.label, axis.labels) == ("aqm qdisc=FifoQueueDisc", ("k=1", "k=2"))
    factors = [row.means[1] / row.means[0] for row in compared.rows]
    assert series.y.tolist() == pytest.approx(factors)
    assert compared.to_pandas()["side"] == ["TcpVegas", "TcpVegas"]
    with pytest.raises(UsageError, match="mean_srtt_l4"):
        compared.plot("nothing")


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook would show, one after the other in the same place."""
    shown: list[str] = []

    class Handle:
        def update(self, text: str) -> None:
            shown.append(text)

    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    shell: Any = type("Shell", (), {"kernel": None})()
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    display.HTML = str  # type: ignore[attr-defined]

    def first(text: str, **_: Any) -> Handle:
        shown.append(text)
        return Handle()

    display.display = first  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_bar_moves_in_a_notebook(displayed: list[str]) -> None:
    ccperf.run("aqm", cc="TcpCubic", k=1, qdisc="codel", stop_time="1s")
    assert displayed[0].startswith("<progress")
    assert displayed[-1] == ""


def test_elsewhere_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, None)
    assert notebook.progress() is None
    assert campaign.progress.in_notebook() is None


def test_a_campaign_has_one_bar_in_a_notebook(displayed: list[str], tmp_path: Path) -> None:
    points = campaign.expand(
        catalogue.get("aqm"),
        "TcpCubic",
        grid=[{"k": k, "qdisc": "fifo"} for k in (1, 2)],
        seeds=[None],
        stop_time="1s",
    )
    with Store(tmp_path / "runs.db", "a") as store:
        report = campaign.run(points, store, backends.get("native"))
    assert len(report.made) == 2
    assert ["50 %" in text for text in displayed] == [False, True, False]
    assert displayed[-1] == ""


def test_a_scenario_is_printed_in_a_line(result: ccperf.Result) -> None:
    assert str(result.scenario) == "<Scenario aqm: 2 flows, 1s, seed 42>"


def test_the_example_notebook_shows_what_its_code_gives() -> None:
    """`tools/notebook.py` takes it anew; ids change with engines."""
    written = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())
    code = [cell for cell in written["cells"] if cell["cell_type"] == "code"]
    assert any("text/html" in output.get("data", {}) for c in code for output in c["outputs"])
    run = runpy.run_path(str(ROOT / "tools" / "notebook.py"))["_run"]
    names: dict[str, Any] = {}
    for count, cell in enumerate(code, 1):
        assert cell["execution_count"] == count
        outputs = run("".join(cell["source"]), names, count)
        assert _values(outputs) == _values(cell["outputs"])


def _values(outputs: list[dict[str, Any]]) -> list[list[str]]:
    """What is printed, and what the tables have in their columns."""
    data = ["".join(each.get("data", {}).get("text/html", "")) for each in outputs]
    tables = [re.findall(r"<td[^>]*>([^<]*)</td>", html) for html in data]
    return [*tables, ["".join(each.get("text", "")) for each in outputs]]
