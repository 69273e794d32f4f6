"""A page of very many flows: what they share is said once, what can be seen is shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from site_browser import Browser
from site_built import built
from site_html import inflated, inflated_script, parse

from ccperf.experiments import catalogue
from ccperf.present.figures import packed
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.site import drawing
from ccperf.site.views import MOST_FLOWS

FLOWS = 100


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A run of a hundred flows, and the folder of its page."""
    folder = tmp_path_factory.mktemp("many")
    engine = backends.get("native")
    scenario = catalogue.get("many_flows").scenario("TcpNewReno", k=str(FLOWS), stop_time="1s")
    result = Result.of(
        scenario,
        engine.simulate(scenario),
        engine,
        experiment="many_flows",
        parameters={"aut": "TcpNewReno", "k": str(FLOWS), "qdisc": "FifoQueueDisc"},
    )
    return result, built(folder, [result]) / "runs" / result.id


def test_tables_have_the_first_flows_and_say_how_many_there_are(run: tuple[Result, Path]) -> None:
    _, folder = run
    page = parse(folder / "index.html")
    assert f"The first {MOST_FLOWS} of {FLOWS}" in page.text
    table = next(table for table in page.named("table") if "cc_recovery_alg" in table.text)
    assert len(table.named("tr")) == 1 + MOST_FLOWS


def test_the_download_has_all_flows(run: tuple[Result, Path]) -> None:
    result, folder = run
    said = inflated(folder / "result.js")
    assert said["flow_metrics"] == result.flow_metrics
    assert len(said["flow_metrics"]) == FLOWS


def test_the_picture_draws_some_of_the_flows_and_the_mean_of_all(run: tuple[Result, Path]) -> None:
    _, folder = run
    picture = (folder / "picture.svg").read_text()
    assert picture.count('class="t c') == 3 * drawing.MOST_DRAWN
    assert "mean of the flows" in picture
    assert f"{drawing.MOST_DRAWN} of the flows are drawn" in picture


def test_what_flows_have_in_common_is_said_once(run: tuple[Result, Path]) -> None:
    result, folder = run
    stored = json.dumps(inflated(folder / "scenario.js"))
    assert stored.count("TcpNewReno") == 1
    assert len(stored) < len(json.dumps(result.scenario.canonical())) / 4


def test_rows_that_lack_what_others_have_keep_lacking_it() -> None:
    rows = [{"a": 1, "b": [2]}, {"a": 1}, {"a": 3, "b": [2]}]
    common, *others = drawing.compact(rows)
    assert [{**common, **other} for other in others] == rows
    assert drawing.compact([]) == [{}]


def test_flows_that_never_measured_a_round_trip_have_a_page(tmp_path: Path) -> None:
    engine = backends.get("native")
    scenario = catalogue.get("loss_resilience").scenario("TcpNewReno", loss="1", stop_time="1s")
    result = Result.of(
        scenario,
        engine.simulate(scenario),
        engine,
        experiment="loss_resilience",
        parameters={"aut": "TcpNewReno", "loss": "1"},
    )
    assert np.isnan(result.recording.flow_samples.array("srtt_ns")).all()
    built(tmp_path, [result])


@pytest.mark.parametrize("room", [packed.SMALL, packed.SMALL_OF_MANY, packed.FULL_OF_MANY])
def test_flows_with_a_bottleneck_each_fit_into_the_room(room: packed.Room) -> None:
    scenario = catalogue.get("incast").scenario(
        "TcpNewReno", n="128", samples="all", stop_time="3s"
    )
    engine = backends.get("native")
    result = Result.of(scenario, engine.simulate(scenario), engine)
    series = drawing.series_of(result)
    assert series is not None
    assert len(set(series.bottleneck.tolist())) == 128
    said = drawing.data(result, series, room)
    kept = inflated_script(said)
    assert len(json.dumps(kept, separators=(",", ":"))) <= 1.1 * room.size
    # What a page loads is that, deflated.
    assert len(said) < room.size
    columns = dict(kept["columns"])
    assert len(columns["utilisation"]) == len(kept["links"]) <= len(kept["flows"]) < 128


@pytest.mark.parametrize("room", packed.rooms(is_small=False) + packed.rooms(is_small=True))
def test_fewer_flows_are_kept_before_quantities_are_left_out(
    run: tuple[Result, Path], room: packed.Room
) -> None:
    result, _ = run
    series = drawing.series_of(result)
    assert series is not None
    kept = inflated_script(drawing.data(result, series, room))
    there = dict(kept["columns"])
    # What is neither there nor said to be left out has no values.
    assert ("cwnd" in there) != ("cwnd" in kept["left_out"])
    assert not {"throughput", "srtt"} & set(kept["left_out"])
    if room.size >= packed.SMALL.size:
        assert {"cwnd", "in_flight"} <= there.keys()
        assert kept["left_out"] == []
    assert not (kept["left_out"] and len(kept["flows"]) > 2)


@pytest.mark.browser
def test_a_page_says_how_many_flows_it_draws_and_what_it_left_out(
    browser: Browser, run: tuple[Result, Path]
) -> None:
    result, folder = run
    browser.open(folder / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    caption = 'document.querySelector("#figure-window figcaption").textContent'
    drawn = browser.evaluate("[...ccperf.page.runs.values()][0].flows.length")
    assert f"{drawn} of {FLOWS} flows are drawn here" in browser.evaluate(caption)
    assert f"ccperf plot {result.id} --figure window" in browser.evaluate(caption)
    browser.evaluate(
        """(() => {
          const [run] = ccperf.page.runs.values(), { cwnd, ...columns } = run.columns;
          ccperf.page.show({ ...run, columns, leftOut: ["cwnd"] });
        })()"""
    )
    assert "left out of this page for room: cwnd" in browser.evaluate(caption)
    shown = browser.evaluate('document.getElementById("figure-window").textContent')
    assert "no values" not in shown
