"""What a page makes of the whole recording: congestion states, and samples as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from site_browser import Browser
from site_built import built

from ccperf import site
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.site import engine

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.recording import Table

pytestmark = pytest.mark.browser

#: Keeps what a page offers as a download.
CAUGHT = """URL.createObjectURL = ((make) => (blob) => {
  if (blob.type === "text/csv") globalThis.caught = blob.text();
  return make.call(URL, blob);
})(URL.createObjectURL)"""


@pytest.fixture(scope="module")
def result() -> Result:
    native = backends.get("native")
    point = {"k": "2", "qdisc": "FifoQueueDisc"}
    scenario = catalogue.get("aqm").scenario("TcpCubic", stop_time="4s", **point)
    return Result.of(
        scenario,
        native.simulate(scenario),
        native,
        experiment="aqm",
        parameters={"aut": "TcpCubic", **point},
    )


@pytest.fixture(scope="module")
def changes(result: Result) -> Table:
    recording = result.scenario.recording.model_copy(update={"changes": True})
    asked = result.scenario.model_copy(update={"recording": recording})
    table = backends.get("native").simulate(asked).changes
    assert table is not None
    return table


@pytest.fixture(scope="module")
def folder(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("recording"), [result])


@pytest.fixture
def page(browser: Browser, folder: Path, result: Result) -> Browser:
    if not engine.module():
        pytest.skip("needs the engine for browsers: make wasm")
    browser.open(folder / "none")  # so that the next address is another page
    browser.open(folder / "runs" / result.id / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    return browser


def click(browser: Browser, text: str) -> None:
    browser.evaluate(
        f"""[...document.querySelectorAll('#runs button')]
            .find((button) => button.textContent === {text!r}).click()"""
    )


def downloaded(browser: Browser, text: str) -> list[dict[str, str]]:
    browser.evaluate(CAUGHT)
    browser.evaluate("globalThis.caught = null")
    click(browser, text)
    browser.wait_for("globalThis.caught !== null")
    return list(csv.DictReader(io.StringIO(browser.evaluate("globalThis.caught"))))


def test_states_stand_beneath_the_window_and_are_those_of_the_native_engine(
    page: Browser, changes: Table
) -> None:
    assert page.evaluate("ccperf.page.plots.get('window').figure.panels.length") == 1
    click(page, "Congestion states")
    page.wait_for("ccperf.page.plots.get('window').figure.panels.length === 2")
    shown = page.evaluate(
        "ccperf.page.plots.get('window').figure.panels[1].series.map(({ x, y }) => [x, y])"
    )
    begins = page.evaluate(
        "ccperf.page.plots.get('window').figure.panels[1].series.map(({ begins }) => begins)"
    )
    assert begins == [0] * len(shown)
    named = np.array([name == "cong_state" for name in changes.strings("name")])
    for flow, (x, y) in enumerate(shown):
        own = named & (changes.array("flow") == flow)
        assert x[:-1] == (changes.array("time_ns")[own] / 1e9).tolist()
        assert y == [0, *changes.array("value")[own].tolist()]
    assert {value for _, y in shown for value in y} >= {0, 3}  # Open, Recovery
    words = page.evaluate(
        "[...document.querySelectorAll('#figure-window svg text')].map((t) => t.textContent)"
    )
    assert {"Open", "Disorder", "CWR", "Recovery", "Loss"} <= set(words)
    click(page, "Congestion states")
    page.wait_for("ccperf.page.plots.get('window').figure.panels.length === 1")


def test_a_state_under_the_pointer_is_called_by_its_name(page: Browser) -> None:
    click(page, "Congestion states")
    page.wait_for("ccperf.page.plots.get('window').figure.panels.length === 2")
    said = page.evaluate(
        """(() => {
          const plot = ccperf.page.plots.get('window');
          plot.active = 1;
          plot.link.point(plot.figure.panels[1].series[0].x.at(-1), plot);
          return plot.readout.innerText;
        })()"""
    )
    assert any(state in said for state in ("Open", "Disorder", "Recovery", "Loss"))


@pytest.mark.parametrize(
    ("text", "table", "subject"),
    [
        ("Flows' samples (CSV)", "flow_samples", "flow"),
        ("Links' samples (CSV)", "link_samples", "link"),
    ],
)
def test_the_samples_are_the_recording_s_to_the_last_digit(
    page: Browser, result: Result, text: str, table: str, subject: str
) -> None:
    rows = downloaded(page, text)
    stored = result.recording.tables[table]
    names = result.recording.tables[f"{subject}s"].strings("name")
    assert len(rows) == stored.rows
    assert list(rows[0]) == list(stored)
    for column in stored:
        found = [row[column] for row in rows]
        values = stored.array(column).tolist()
        if column == subject:
            assert found == [names[value] for value in values]
        else:
            assert [float(value) if value else float("nan") for value in found] == pytest.approx(
                values, rel=0, abs=0, nan_ok=True
            )


def test_without_the_engine_the_data_of_the_figures_are_offered(
    browser: Browser, result: Result, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccperf.site import pages

    monkeypatch.setitem(pages._environment().globals, "engine", engine.EngineView(False))
    site.build([folder.parent / "runs.db"], tmp_path / "site")
    browser.open(tmp_path / "site" / "runs" / result.id / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    rows = downloaded(browser, "Data of the figures (CSV)")
    assert {row["run"] for row in rows} == {result.id}
    assert {"throughput", "srtt", "cwnd", "utilisation"} <= {row["quantity"] for row in rows}
    assert {row["subject"] for row in rows} >= {"flow_1", "flow_2", "btl_forward"}
