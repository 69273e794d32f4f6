"""What an experiment's page shows before anybody chooses anything: for every experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from site_built import built
from tiny_catalogue import algorithms_of, run, tiny_runs

from ccperf import catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from site_browser import Browser

#: Each figure of the page: its name, the points of its longest line, the number of its lines.
FIGURES = """[...ccperf.experiment.plots].map(([name, plot]) => {
    const series = plot.figure.panels.flatMap((panel) => panel.series);
    return [name, Math.max(0, ...series.map((one) => one.x.length)), series.length];
})"""
SEVERAL = [name for name, each in catalogue.EXPERIMENTS.items() if len(list(each.grid())) > 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("tiny"), tiny_runs())


def opened(browser: Browser, folder: Path, name: str, fragment: str = "") -> dict[str, Any]:
    # Another fragment alone would not load the page anew.
    browser.open(folder / "play.html")
    browser.open(folder / "experiments" / f"{name}.html", fragment)
    browser.wait_for("globalThis.ccperf?.experiment !== undefined")
    assert browser.problems() == []
    return {name: figure for name, *figure in browser.evaluate(FIGURES)}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_page_opens_on_lines_with_several_points(
    browser: Browser, folder: Path, name: str
) -> None:
    points, lines = opened(browser, folder, name)["sweep"]
    assert points > 1
    assert lines == len(algorithms_of(catalogue.get(name)))


@pytest.mark.parametrize("name", ["testbed", "rtt_variation", "hermes_symmetric"])
def test_runs_whose_length_follows_from_the_point_are_neighbours(
    browser: Browser, folder: Path, name: str
) -> None:
    opened(browser, folder, name)
    assert browser.evaluate("new Set(ccperf.experiment.data.pages.map((p) => p.made)).size") == 1


def test_a_choice_without_runs_beside_it_takes_the_others_along(
    browser: Browser, tmp_path: Path
) -> None:
    points = [
        {"against": "TcpCubic", "rtts": "[40ms,40ms]", "buffer": "1"},
        {"against": "TcpBbr", "rtts": "[40ms,80ms]", "buffer": "4"},
    ]
    runs = [run("competition", "TcpCubic", 1, "1s", point) for point in points]
    opened(browser, built(tmp_path, runs), "competition")
    chosen = """[...document.querySelectorAll('#choices select')]
        .map((one) => one.selectedOptions[0].textContent)"""
    assert browser.evaluate(chosen)[2:] == ["TcpCubic", "[40ms,40ms]", "1"]
    choose(browser, "buffer", "4")
    assert browser.evaluate(chosen)[3:] == ["[40ms,80ms]", "4"]


def choose(browser: Browser, label: str, value: str) -> None:
    browser.evaluate(
        f"""(() => {{
            const made = [...document.querySelectorAll('#choices label')]
                .find((one) => one.textContent.startsWith({label!r})).querySelector('select');
            const chosen = [...made.options].find((one) => one.textContent.startsWith({value!r}));
            made.value = chosen.value;
            made.dispatchEvent(new Event('change', {{bubbles: true}}));
        }})()"""
    )


def test_a_caption_follows_the_metric(browser: Browser, folder: Path) -> None:
    opened(browser, folder, "aqm")
    caption = "document.querySelector('#figure-sweep figcaption').textContent"
    choose(browser, "Metric", "p95_srtt_l4")
    assert browser.evaluate(caption).startswith("p95_srtt_l4 over k")
    label = "document.querySelector('#figure-sweep .area').getAttribute('aria-label')"
    assert "p95_srtt_l4" in browser.evaluate(label)
