"""Experiments that are in no benchmark have pages like those of the catalogue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from site_built import built
from site_html import parse
from tiny_catalogue import run

from ccperf.evidence import cells
from ccperf.experiments import catalogue
from ccperf.site.experiment_data import first_view
from ccperf.site.inventory import inventory
from ccperf.site.scores import CRITERIA
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from site_browser import Browser

    from ccperf.runs.result import Result
    from ccperf.site.inventory import Group

LENGTH = "1s"
#: By size, so that letters would put them in another order.
RTTS = ["[5ms,5ms]", "[10ms,10ms]", "[10ms,25ms]", "[100ms,100ms]"]


def runs() -> Iterator[Result]:
    for cc in ("TcpPrague", "TcpCubic"):
        for rtts in RTTS:
            yield run("l4s", cc, 1, LENGTH, {"mix": "1:1", "rtts": rtts})
    # Only one of the two has runs here, and it is first by letter.
    yield run("l4s", "TcpCubic", 1, LENGTH, {"mix": "0:1", "rtts": RTTS[0]})
    for cc in ("TcpCubic", "TcpBbr"):
        for loss in (0.0, 0.5):
            yield run("handover", cc, 1, "16s", {"loss": loss})
        yield run("dumbbell", cc, 1, LENGTH, {})


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("named") / "named.db"
    with Store(path, "a") as store:
        for result in runs():
            store.add(result)
    return path


@pytest.fixture(scope="module")
def groups(database: Path) -> dict[str, Group]:
    found = inventory(cells.read([database]), [database.name]).groups
    return {group.name: group for group in found}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("named"), runs())


@pytest.mark.parametrize("name", ["l4s", "handover", "dumbbell"])
def test_a_page_has_its_title_and_its_parameters(folder: Path, name: str) -> None:
    experiment = catalogue.get(name)
    page = parse(folder / "experiments" / f"{name}.html").text
    assert experiment.title in page
    for parameter in experiment.parameters:
        assert parameter.doc in page


def test_a_page_opens_where_all_algorithms_have_runs(groups: dict[str, Group]) -> None:
    view = first_view(groups["l4s"])
    assert view.at["mix"] == "1:1"
    assert {page.algorithm for page in view.pages if page.point == {**page.point, **view.at}} == {
        "TcpPrague",
        "TcpCubic",
    }


def test_a_page_opens_at_the_default_where_there_are_as_many_runs(
    groups: dict[str, Group],
) -> None:
    assert first_view(groups["handover"]).at["loss"] == "0.5"


def test_lists_of_times_are_in_the_order_of_size(groups: dict[str, Group]) -> None:
    assert groups["l4s"].axes["rtts"] == RTTS


@pytest.mark.parametrize("name", [name for name in catalogue.NAMED if name != "dumbbell"])
def test_every_experiment_answers_a_question_of_the_front_page(name: str) -> None:
    asked = catalogue.get(name).answer.metrics
    assert [each.name for each in CRITERIA if any(map(each.has, asked))]


@pytest.mark.parametrize("name", ["fidelity", "ns3", "metrics", "algorithms/TcpBbr"])
def test_no_page_shows_markup(folder: Path, name: str) -> None:
    page = parse(folder / f"{name}.html")
    text = page.one("main").text
    assert "](" not in text
    assert "`" not in text
    assert not re.search(r"(?<![\w*])\*\w[^*]*\w\*(?![\w*])", text)
    assert name != "algorithms/TcpBbr" or "seconds" in [each.text for each in page.named("em")]


def test_a_delay_has_room_between_the_nodes_of_its_link(browser: Browser, folder: Path) -> None:
    browser.open(folder / "experiments" / "handover.html")
    touched = browser.evaluate(
        """[...document.querySelectorAll('svg.topology text:not(.node)')].filter((text) => {
             const one = text.getBoundingClientRect();
             return [...document.querySelectorAll('svg.topology rect')].some((rect) => {
               const other = rect.getBoundingClientRect();
               return one.left < other.right && other.left < one.right
                 && one.top < other.bottom && other.top < one.bottom;
             });
           }).map((text) => text.textContent)"""
    )
    assert touched == []


@pytest.mark.parametrize("width", [1280, 375])
def test_no_label_of_an_axis_leaves_its_figure(browser: Browser, folder: Path, width: int) -> None:
    browser.size(width)
    browser.open(folder / "experiments" / "l4s.html")
    browser.wait_for("Boolean(globalThis.ccperf?.experiment?.plots.has('sweep'))")
    beyond = browser.evaluate(
        """[...document.querySelectorAll('#figure-sweep svg')].flatMap((svg) => {
             const box = svg.getBoundingClientRect();
             return [...svg.querySelectorAll('text')].filter((text) => {
               const { left, right } = text.getBoundingClientRect();
               return text.textContent && (left < box.left - 0.5 || right > box.right + 0.5);
             }).map((text) => text.textContent);
           })"""
    )
    browser.size(1280)
    assert beyond == []
