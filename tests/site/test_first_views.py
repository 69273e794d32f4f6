"""What an experiment's page shows before anybody chooses anything: for every experiment."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from site_built import built
from site_html import Element, inflated, parse, parse_text
from tiny_catalogue import algorithms_of, run, tiny_runs

import ccperf
from ccperf.experiments import catalogue
from ccperf.site.printed import differing

if TYPE_CHECKING:
    from site_browser import Browser

#: Each figure of the page: its name, the points of its longest line, the number of its lines.
FIGURES = """[...ccperf.experiment.plots].map(([name, plot]) => {
    const series = plot.figure.panels.flatMap((panel) => panel.series);
    return [name, Math.max(0, ...series.map((one) => one.x.length)), series.length];
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("tiny"), tiny_runs())


def opened(browser: Browser, folder: Path, name: str) -> dict[str, Any]:
    browser.open(folder / "experiments" / f"{name}.html")
    last = "time_series" if catalogue.get(name).answer.shape == "time" else "sweep"
    browser.wait_for(f"Boolean(globalThis.ccperf?.experiment?.plots.has({last!r}))")
    assert browser.problems() == []
    return {name: figure for name, *figure in browser.evaluate(FIGURES)}


@pytest.mark.parametrize("name", catalogue.EXPERIMENTS)
def test_a_page_opens_on_values_and_a_line_with_several_points(
    browser: Browser, folder: Path, name: str
) -> None:
    experiment = catalogue.get(name)
    figures = opened(browser, folder, name)
    assert all(lines for _, lines in figures.values()), "a figure without values"
    is_time = experiment.answer.shape == "time"
    points, lines = figures["time_series" if is_time else "sweep"]
    assert points > 1
    assert is_time or lines == len(algorithms_of(experiment))


#: A front page for each kind of algorithm.
FRONTS = ("index.html", "datacentre.html", "loadbalance.html")


@pytest.mark.parametrize("name", FRONTS)
def test_a_front_page_opens_on_values_for_every_experiment(
    browser: Browser, folder: Path, name: str
) -> None:
    browser.open(folder / name)
    assert browser.problems() == []
    rows = browser.evaluate(
        """[...document.querySelectorAll('table.matrix tbody tr')].map((row) =>
             [row.textContent, [...row.querySelectorAll('td')].map((cell) => cell.textContent)])"""
    )
    values = [cells for _, cells in rows if cells]
    assert values
    assert all(any(cell.strip() != "–" for cell in cells) for cells in values)
    drawn = browser.evaluate(
        """[...document.querySelectorAll('.multiples svg')]
             .map((figure) => figure.querySelectorAll('.mark').length)"""
    )
    assert drawn
    assert all(drawn)
    kind = {"index.html": "cc", "datacentre.html": "qdisc"}.get(name, "routing")
    listed = browser.evaluate("document.querySelectorAll('.list li').length")
    assert listed == sum(each.kind == kind for each in catalogue.EXPERIMENTS.values())


@pytest.mark.parametrize("name", FRONTS)
def test_every_question_against_every_baseline_has_values(folder: Path, name: str) -> None:
    page = parse(folder / name)
    questions = [
        e.attributes["data-name"] for e in page.named("button") if "data-name" in e.attributes
    ]
    bases = [e.attributes["data-file"] for e in page.named("option")]
    assert questions
    assert len(bases) > 1
    for base in bases:
        found = inflated(folder / base)["answers"]
        assert list(found) == questions
        for answer, beneath in found.values():
            cells = [cell.text.strip() for cell in parse_text(answer + beneath).named("td")]
            assert set(cells) - {"", "–"}


@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("width", [360, 390, 1440, 2560])
def test_a_front_page_fits_its_window(
    browser: Browser, folder: Path, name: str, width: int
) -> None:
    browser.size(width)
    browser.open(folder / name)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.size(1280)


def test_a_front_page_loads_less_than_300_kB(browser: Browser, folder: Path) -> None:
    browser.open(folder / "index.html")
    loaded = [Path(unquote(urlsplit(url).path)) for url in browser.requested()]
    assert sum(path.stat().st_size for path in loaded if path.suffix) < 300_000


@pytest.mark.parametrize("name", catalogue.EXPERIMENTS)
def test_a_table_of_runs_has_no_column_without_values(folder: Path, name: str) -> None:
    page = parse(folder / "experiments" / f"{name}.html")
    table = next(e for e in page.named("table") if "runs" in e.attributes.get("class", ""))
    head, *rows = [
        [cell.text.strip() for cell in row.children if isinstance(cell, Element)]
        for row in table.named("tr")
    ]
    for column, *values in zip(head, *rows, strict=True):
        assert set(values) - {"", "–"}, column
    for metric in catalogue.get(name).answer.metrics:
        assert any(metric in cell.attributes.get("title", "") for cell in table.named("th")), metric


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
    choose(browser, "Metric", "95th percentile smoothed RTT")
    assert browser.evaluate(caption).startswith("95th percentile smoothed RTT over k")
    label = "document.querySelector('#figure-sweep .area').getAttribute('aria-label')"
    assert "95th percentile smoothed RTT" in browser.evaluate(label)


def test_a_published_value_stands_beside_a_run_of_another_network_only_with_what_differs(
    folder: Path,
) -> None:
    page = parse(folder / "experiments" / "hermes_symmetric.html")
    rows = next(e for e in page.all() if e.attributes.get("aria-label") == "Published values")
    ours = [row.named("td")[-1].text for row in rows.named("tr")[1:]]
    beside = [text for text in ours if text != "–"]
    assert beside
    for text in beside:
        assert "but at leaves = 2 (not 8), spines = 2 (not 8), servers = 2 (not 16)" in text


def test_parameters_that_the_catalogue_varies_are_free() -> None:
    hermes = catalogue.get("hermes_black_hole")
    point = {each.name: str(each.default) for each in hermes.parameters} | {"load": "0.7"}
    group: Any = SimpleNamespace(described=hermes)
    page: Any = SimpleNamespace(point=point, settings={})
    assert hermes.printed is not None
    assert differing(group, page, hermes.printed.values[0]) == ()


def test_a_fabric_is_drawn_by_layers_with_the_ports_under_test_marked(folder: Path) -> None:
    page = parse(folder / "experiments" / "hermes_symmetric.html")
    (drawing,) = [e for e in page.named("svg") if e.attributes.get("class") == "topology"]
    height = {
        text.text: float(text.attributes["y"])
        for text in drawing.named("text")
        if text.text.startswith(("leaf", "spine"))
    }
    leaves, spines = (
        {y for name, y in height.items() if name.startswith(kind)} for kind in ("leaf", "spine")
    )
    assert len(leaves) == len(spines) == 1
    assert spines.pop() < leaves.pop()
    tested = [e for e in drawing.named("path") if "tested" in e.attributes.get("class", "")]
    assert len(tested) == 4


def test_the_port_under_test_of_a_star_is_the_one_that_is_measured(folder: Path) -> None:
    page = parse(folder / "experiments" / "testbed.html")
    (drawing,) = [e for e in page.named("svg") if e.attributes.get("class") == "topology"]
    texts = [text.text for text in drawing.named("text")]
    assert "ECNSharpQueueDisc" in texts or "StepRedQueueDisc" in texts
    assert "FqCoDelQueueDisc" not in texts
    assert sum(e.attributes.get("class") == "narrow" for e in drawing.named("path")) == 1


def test_the_use_of_a_fabric_s_links_is_a_map(folder: Path) -> None:
    link = next(
        link.attributes["href"]
        for link in parse(folder / "experiments" / "hermes_symmetric.html").named("a")
        if link.attributes["href"].startswith("../runs/")
    )
    page = parse(folder / "experiments" / link)
    result = inflated((folder / "experiments" / link).parent / "result.js")
    (table,) = [t for t in page.named("table") if t.attributes.get("data-csv") == "links"]
    columns = [head.text for head in table.named("thead")[0].named("th")][1:]
    for row in table.named("tbody")[0].named("tr"):
        start = row.named("th")[0].text
        for end, cell in zip(columns, row.named("td"), strict=True):
            names = [f"{start}_{end}_forward", f"{end}_{start}_reverse"]
            found = [result["link_metrics"][n] for n in names if n in result["link_metrics"]]
            wanted = f"{found[0]['used_capacity_l1']:.1f}" if found else ""
            assert cell.text == wanted


def test_failed_paths_are_drawn_on_their_run_s_page_with_the_reason(tmp_path: Path) -> None:
    point = {"leaves": "2", "spines": "2", "servers": "4", "load": "0.7", "arrivals": "60ms"}
    lossy = run("hermes_random_drops", "hermes", 1, "200ms", point)
    table = lossy.recording.failed_paths
    assert table is not None
    folder = built(tmp_path, [lossy]) / "runs" / lossy.id
    said = parse(folder / "index.html").one("figure").text
    count = len(set(zip(table.strings("source"), table.strings("destination"), strict=True)))
    assert "Failed paths." in said
    drawing = (folder / "picture.svg").read_text()
    assert f"Failed paths over time in ms: {count} paths by random drops." in drawing
    texts = [text.text for text in ElementTree.fromstring(drawing).iter() if text.text]
    for source, destination in zip(
        table.strings("source"), table.strings("destination"), strict=True
    ):
        assert f"{source} > {destination} by 0" in texts


def test_a_filter_is_in_the_address_and_survives_back(browser: Browser, folder: Path) -> None:
    opened(browser, folder, "aqm")
    rows = "[...document.querySelectorAll('tr[data-search]')].filter((row) => !row.hidden).length"
    everything = browser.evaluate(rows)
    browser.evaluate(
        """(() => { const words = document.querySelector('form.filter [name=words]');
             words.value = 'k=5 cubic';
             words.dispatchEvent(new Event('input', { bubbles: true })); })()"""
    )
    some = browser.evaluate(rows)
    assert 0 < some < everything
    choose(browser, "Metric", "95th percentile smoothed RTT")
    assert "filter=k%3D5+cubic" in browser.evaluate("location.hash")
    browser.evaluate("document.querySelector('tr[data-search]:not([hidden]) a').click()")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    browser.evaluate("void setTimeout(() => history.back())")
    browser.wait_for("Boolean(globalThis.ccperf?.experiment) && " + rows + f" === {some}")
    metric = "document.querySelector('#choices select').value"
    assert browser.evaluate(metric) == "p95_srtt_l4"


def test_a_zoom_is_in_the_address(browser: Browser, folder: Path) -> None:
    opened(browser, folder, "aqm")
    browser.evaluate("ccperf.experiment.plots.get('plane').scale(0.5)")
    address = browser.evaluate("location.hash")
    assert "zoom-plane=" in address
    shown = "ccperf.experiment.plots.get('plane').boxes[0].domain"
    before = browser.evaluate(shown)
    browser.open(folder / "none")
    browser.open(folder / "experiments" / "aqm.html", address)
    browser.wait_for("Boolean(globalThis.ccperf?.experiment)")
    assert browser.evaluate(shown) == pytest.approx(before, rel=1e-4)


def test_figures_and_tables_are_saved_as_files(browser: Browser, folder: Path) -> None:
    """What buttons hand over: an SVG with title and legend, a PNG of three times its size, CSV."""
    opened(browser, folder, "aqm")
    browser.evaluate(
        "globalThis.saved = []; ccperf.save = (name, content) => { saved.push([name, content]); }"
    )
    for label in ("Save as SVG", "Save as PNG"):
        browser.evaluate(f"document.querySelector('#figure-sweep [title=\"{label}\"]').click()")
    browser.evaluate("document.querySelector('table.runs').closest('.scroll').nextSibling.click()")
    browser.wait_for("saved.length === 3")
    kinds = browser.evaluate("saved.map(([name]) => name).sort()")
    assert kinds == ["aqm.csv", "sweep.png", "sweep.svg"]
    svg = browser.evaluate("saved.find(([name]) => name === 'sweep.svg')[1]")
    drawing = ElementTree.fromstring(svg)
    words = " ".join(drawing.itertext())
    assert "TcpCubic" in words
    assert "over k" in words
    assert "var(" not in svg
    size = browser.evaluate(
        """createImageBitmap(saved.find(([name]) => name === 'sweep.png')[1])
             .then(({ width, height }) => [width, height])"""
    )
    assert size == [3 * float(drawing.attrib[side]) for side in ("width", "height")]
    lines = browser.evaluate("saved.find(([name]) => name === 'aqm.csv')[1]").splitlines()
    assert len(lines) == 1 + browser.evaluate(
        "document.querySelectorAll('table.runs tbody tr').length"
    )
    assert len({len(row) for row in csv.reader(lines)}) == 1
    assert browser.problems() == []


def test_lines_of_a_run_say_whose_they_are(browser: Browser, folder: Path) -> None:
    page = parse(folder / "experiments" / "competition.html")
    row = next(
        r for r in page.named("tr") if "TcpNewReno" in r.text and "data-runs" in r.attributes
    )
    browser.open(folder / "experiments" / row.named("a")[0].attributes["href"])
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    names = browser.evaluate(
        "ccperf.page.plots.get('time_series').figure.subjects.map((s) => s.name)"
    )
    assert all(re.fullmatch(r"flow_\d Tcp\w+", name) for name in names)
    assert len({name.split()[1] for name in names}) > 1
    browser.evaluate("ccperf.page.plots.get('distribution').setLog(true)")
    axis = (
        "[...document.querySelectorAll('#figure-distribution svg text')].map((t) => t.textContent)"
    )
    assert "10" in browser.evaluate(axis)
    assert browser.problems() == []


def test_an_algorithm_s_page_begins_with_its_answer(browser: Browser, folder: Path) -> None:
    browser.size(1440)
    browser.open(folder / "algorithms" / "TcpCubic.html")
    rows = "[...document.querySelectorAll('.differences tbody tr')]"
    bottoms = browser.evaluate(f"{rows}.map((row) => row.getBoundingClientRect().bottom)")
    assert len([bottom for bottom in bottoms if bottom < 900]) >= 5
    browser.size(1280)


def test_a_line_breaks_where_something_never_came_and_the_caption_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    """Beside a BBR of twice its round trip CUBIC does not come to half with this seed."""
    point = {"against": "bbr", "buffer": "4", "seed": 2}
    rtts = ("[40ms,40ms]", "[40ms,80ms]", "[80ms,40ms]")
    runs = [ccperf.run("competition", cc="cubic", rtts=each, **point) for each in rtts]
    folder = built(tmp_path, runs)
    chosen = "#metric=convergence_time_l4&over=rtts&base="
    browser.open(folder / "experiments" / "competition.html", chosen)
    browser.wait_for("Boolean(globalThis.ccperf?.experiment?.plots.has('sweep'))")
    caption = browser.evaluate("document.querySelector('#figure-sweep figcaption').textContent")
    assert "convergence_time_l4" in caption
    assert caption.endswith("No value: TcpCubic at [40ms,80ms].")
    drawn = "ccperf.experiment.plots.get('sweep').figure.panels[0].series[0].y"
    assert browser.evaluate(f"{drawn}.map(Number.isFinite)") == [True, False, True]
    # No line reaches either mean, so that they are marked.
    assert browser.evaluate("document.querySelectorAll('#figure-sweep .area .mark').length") == 1
    assert browser.problems() == []
