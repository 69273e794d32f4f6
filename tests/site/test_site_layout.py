"""What a page looks like in a window: nothing is cut, overlaps or says more than there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from site_browser import Browser
from site_built import built
from site_html import parse
from tiny_catalogue import run

from ccperf.algorithms import registry
from ccperf.evidence import cells
from ccperf.present.figures.palette import SUBJECTS, looks_of
from ccperf.runs.metrics import metric_named
from ccperf.runs.result import Result

#: Texts of figures that stand beyond their frame, by more than half a pixel.
BEYOND = """[...document.querySelectorAll('figure')].flatMap((figure) => {
    const frame = figure.getBoundingClientRect();
    return [...figure.querySelectorAll('.plot svg text, .plot .area > svg')].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width && (box.left < frame.left - 0.5 || box.right > frame.right + 0.5);
    }).map((one) => one.textContent || one.localName);
})"""
#: Pairs of heads of a table that overlap, and heads that are wider than their cells.
HEADS = """[...document.querySelectorAll('table.matrix thead th')].map((head, i, all) => {
    const texts = document.createRange();
    texts.selectNodeContents(head);
    const box = texts.getBoundingClientRect(), cell = head.getBoundingClientRect();
    return [box.left >= cell.left - 0.5 && box.right <= cell.right + 0.5, head.textContent];
}).filter(([fits]) => !fits).map(([, text]) => text)"""
SCHEMES = ("ECNSharpQueueDisc", "RED-tail", "RED-average", "MarkingCoDelQueueDisc", "TcnQueueDisc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    competing = [
        run("competition", cc, seed, "6s", {"against": "TcpCubic", "rtts": rtts, "buffer": "1"})
        for cc in ("TcpVegas", "TcpBbr", "TcpPrague")
        for seed in (1, 2)
        for rtts in ("[40ms,40ms]", "[40ms,80ms]")
    ]
    queues = [
        run("aqm", cc, 1, "3s", {"k": "2", "qdisc": qdisc})
        for cc in ("TcpVegas", "TcpBbr", "TcpPrague")
        for qdisc in ("FifoQueueDisc", "FqCoDelQueueDisc")
    ]
    mixed = [
        run("l4s", "TcpPrague", 1, "3s", {"mix": mix, "rtts": rtts})
        for mix in ("0:1", "1:1")
        for rtts in ("[5ms,5ms]", "[25ms,25ms]", "[100ms,100ms]")
    ]
    moved = [run("handover", "TcpBbr", seed, "16s", {}) for seed in (1, 2)]
    served = [
        run("testbed", scheme, seed, "1s", {"workload": "web_search", "load": "0.5", "flows": 20})
        for scheme in SCHEMES
        for seed in (1, 2)
    ]
    lossless = [
        run("pfc_incast", "", 1, "100ms", {"transport": law, "n": n})
        for law in ("dcqcn", "line_rate")
        for n in ("4", "16")
    ]
    place = tmp_path_factory.mktemp("layout")
    return built(place, [*competing, *queues, *mixed, *moved, *served, *lossless])


def opened(browser: Browser, page: Path, width: int, scheme: str = "light") -> None:
    browser.size(width)
    browser.media(prefers_color_scheme=scheme)
    browser.open(page.parent / "none")
    browser.open(page)
    if page.parent.name == "experiments":
        browser.wait_for("Boolean(globalThis.ccperf?.experiment)")
    elif page.parent.parent.name == "runs":
        browser.wait_for("globalThis.ccperf?.page?.plots.size")


def competing_run(folder: Path) -> Path:
    pages = sorted(folder.glob("runs/*/index.html"))
    return next(page for page in pages if "<title>Competition: " in page.read_text())


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["competition", "aqm", "l4s", "handover", "pfc_incast"])
def test_figures_end_within_their_frames(
    browser: Browser, folder: Path, name: str, width: int
) -> None:
    opened(browser, folder / "experiments" / f"{name}.html", width)
    assert browser.evaluate("document.querySelectorAll('.plot svg').length")
    assert browser.evaluate(BEYOND) == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [375, 1280])
def test_a_name_that_is_wider_than_the_window_is_broken(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    runs = [
        run("aqm", cc, 1, "1s", {"k": k, "qdisc": "FifoQueueDisc"})
        for cc in ("TcpVegas", "TcpCubic")
        for k in "12"
    ]
    name = {"aut": f"mine.py:{'Long' * 30}"}
    long = [replace(one, parameters={**one.parameters, **name}) for one in runs[2:]]
    folder = built(tmp_path, [*runs[:2], *long])
    pages = [folder / "index.html", *folder.glob("[ea][xl]*/*.html"), *folder.glob("runs/*/*.html")]
    assert len(pages) == 1 + 1 + 2 + 4
    for page in pages:
        opened(browser, page, width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["index", "datacentre"])
def test_heads_of_tables_fit_their_columns(
    browser: Browser, folder: Path, name: str, width: int, scheme: str
) -> None:
    opened(browser, folder / f"{name}.html", width, scheme)
    assert browser.evaluate("document.querySelectorAll('table.matrix thead th').length") > 3
    assert browser.evaluate(HEADS) == []


def test_a_table_of_five_schemes_fits_a_desk(browser: Browser, folder: Path) -> None:
    opened(browser, folder / "datacentre.html", 1280)
    room = browser.evaluate(
        """[...document.querySelectorAll('table.matrix')].map((table) =>
             [table.rows[0].cells.length,
              table.offsetWidth - table.closest('.scroll').clientWidth])"""
    )
    assert [columns for columns, _ in room] == [6]
    assert all(beyond <= 0 for _, beyond in room)


@pytest.mark.parametrize("name", ["competition", "l4s", "handover", "pfc_incast"])
def test_a_small_network_is_seen_as_a_whole_on_a_phone(
    browser: Browser, folder: Path, name: str
) -> None:
    opened(browser, folder / "experiments" / f"{name}.html", 375)
    width, room = browser.evaluate(
        """(() => { const drawing = document.querySelector('svg.topology');
             const { width } = drawing.getBoundingClientRect();
             return [width, drawing.parentElement.clientWidth]; })()"""
    )
    assert 200 < width <= room


def test_a_word_of_a_command_stays_with_its_value(browser: Browser, folder: Path) -> None:
    opened(browser, folder / "index.html", 375)
    broken = browser.evaluate(
        """[...document.querySelectorAll('.said code')].filter((code) =>
             code.getClientRects().length > 1).map((code) => code.textContent)"""
    )
    assert broken == []
    assert browser.evaluate("document.querySelectorAll('.said code').length") > 0


def test_items_of_the_list_of_experiments_do_not_meet(browser: Browser, folder: Path) -> None:
    for width in (375, 1280):
        opened(browser, folder / "index.html", width)
        boxes = browser.evaluate(
            """[...document.querySelectorAll('.list li')].map((item) => {
                 const texts = document.createRange();
                 texts.selectNodeContents(item);
                 const { left, right, top, bottom } = texts.getBoundingClientRect();
                 return [left, right, top, bottom]; })"""
        )
        assert len(boxes) == 5
        for i, one in enumerate(boxes):
            for other in boxes[i + 1 :]:
                beside = one[1] + 16 <= other[0] or other[1] + 16 <= one[0]
                assert beside or one[3] <= other[2] or other[3] <= one[2]


@pytest.mark.parametrize("name", ["competition", "aqm", "l4s", "handover"])
def test_a_vertical_axis_is_at_least_a_hundredth_of_its_values_long(
    browser: Browser, folder: Path, name: str
) -> None:
    opened(browser, folder / "experiments" / f"{name}.html", 1280)
    ends = browser.evaluate(
        "[...ccperf.experiment.plots.values()].flatMap((plot) => plot.boxes.map((box) => box.y))"
    )
    assert ends
    for low, high in ends:
        assert high - low >= 0.01 * max(abs(low), abs(high)) * (1 - 1e-6)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (375, 800)])
def test_a_page_of_runs_begins_with_its_headlines(
    browser: Browser, folder: Path, width: int, height: int
) -> None:
    database = folder.parent / "runs.db"
    for cell in cells.read([database]):
        if cell.point.experiment != "competition":
            continue
        page = folder / "runs" / cell.runs[min(cell.runs)] / "index.html"
        opened(browser, page, width)
        found = browser.evaluate(
            """[...document.querySelectorAll('.answers > div')].map((one) =>
                 [one.querySelector('a').hash.slice(1), one.querySelector('dd').textContent.trim(),
                  one.getBoundingClientRect().bottom])"""
        )
        assert len(found) == 4
        assert all(bottom <= height for _, _, bottom in found)
        for name, text, _ in found:
            values = [metrics[name] for metrics in cell.metrics.values() if name in metrics]
            never = sum(map(metric_named(name).is_never, cell.metrics.values()))
            if values:
                assert text.startswith(f"{sum(values) / len(values):.2f}")
            else:
                assert text == "never"
            assert (f"never in {never} of {len(cell.metrics)}" in text) == bool(values and never)


def test_groups_of_flows_that_never_end_are_not_called_transfers(folder: Path) -> None:
    for name, title in (("l4s", "Groups of flows"), ("testbed", "Completion times")):
        cell = next(
            cell
            for cell in cells.read([folder.parent / "runs.db"])
            if cell.point.experiment == name and ("mix", "0:1") not in cell.point.parameters
        )
        page = parse(folder / "runs" / cell.runs[min(cell.runs)] / "index.html")
        (heading,) = [e.text for e in page.named("h2") if e.attributes.get("id") == "class-metrics"]
        assert heading == title


def test_what_never_came_is_said_and_counted_where_algorithms_are_compared(
    browser: Browser, folder: Path
) -> None:
    browser.size(1280)
    browser.open(folder / "none")
    browser.open(folder / "index.html", "#question=convergence")
    browser.wait_for("document.querySelector('#answer').ariaLabel === 'Convergence'")
    row = "[...document.querySelector('table.matrix tbody tr').cells].map((c) => c.innerText)"
    browser.wait_for("document.querySelectorAll('table.matrix tbody tr').length === 1")
    heads = browser.evaluate(
        "[...document.querySelectorAll('table.matrix thead th')].map((one) => one.textContent)"
    )
    texts = dict(zip(heads, browser.evaluate(row), strict=True))
    cell = next(text for head, text in texts.items() if "TcpBbr" in head)
    counts = [
        sum("convergence_time_l4" not in metrics for metrics in cell.metrics.values())
        for cell in cells.read([folder.parent / "runs.db"])
        if cell.point.experiment == "competition" and cell.algorithm == "TcpBbr"
    ]
    assert any(counts)
    assert f"never at {sum(map(bool, counts))}" in cell


def test_a_small_figure_says_at_which_point_it_is(browser: Browser, folder: Path) -> None:
    opened(browser, folder / "index.html", 1280)
    figures = browser.evaluate(
        """[...document.querySelectorAll('.multiples a')].map((one) =>
             [one.querySelector('span').textContent, one.querySelector('small')?.textContent ?? '',
              new URL(one.href).hash])"""
    )
    said = {title: (at, link) for title, at, link in figures}
    at, link = said["L4S beside classic traffic"]
    assert at == "mix = 1:1, rtts = [25ms,25ms]"
    assert "mix=1%3A1" in link
    assert said["Competition"][0].startswith("rtts = ")
    # Where there is no choice there is nothing to say.
    assert said["Handovers"][0] == ""


def test_an_experiment_opens_and_is_drawn_where_the_algorithm_under_test_has_runs(
    browser: Browser, folder: Path
) -> None:
    page = folder / "experiments" / "l4s.html"
    opened(browser, page, 1280)
    first = browser.evaluate("ccperf.experiment.data.parameters.map((p) => p.values[p.first])")
    assert first == ["TcpCubic", "off", "1:1", "100Mbps", "[25ms,25ms]"]
    rtts = browser.evaluate("ccperf.experiment.data.parameters.at(-1).values")
    assert rtts == ["[5ms,5ms]", "[25ms,25ms]", "[100ms,100ms]"]
    document = parse(page)
    drawn = next(code.text for code in document.named("code") if "mix =" in code.text)
    assert "mix = 1:1" in drawn
    assert "rtts = [25ms,25ms]" in drawn


def test_all_transports_of_a_lossless_fabric_are_in_one_figure(
    browser: Browser, folder: Path
) -> None:
    opened(browser, folder / "experiments" / "pfc_incast.html", 1280)
    names = "ccperf.experiment.plots.get('sweep').figure.subjects.map((one) => one.name)"
    assert browser.evaluate(names) == ["Dcqcn", "LineRate"]


def test_over_words_nothing_joins_points(browser: Browser, folder: Path) -> None:
    opened(browser, folder / "experiments" / "aqm.html", 1280)
    shapes = (
        "[...new Set(ccperf.experiment.plots.get('sweep').figure.panels[0].series"
        ".map((one) => one.shape))]"
    )
    over = browser.evaluate("ccperf.experiment.data.over")
    assert browser.evaluate(shapes) == (["points"] if over == "qdisc" else ["line"])
    opened(browser, folder / "experiments" / "competition.html", 1280)
    assert browser.evaluate(
        "ccperf.experiment.data.parameters.map(({ name, isWords }) => [name, isWords])"
    ) == [["against", True], ["rtts", False], ["buffer", False]]


def _ink(browser: Browser, selector: str) -> str:
    return str(
        browser.evaluate(
            f"getComputedStyle(document.querySelector({selector!r})).getPropertyValue('--ink').trim()"
        )
    )


def test_an_algorithm_looks_the_same_on_all_pages(browser: Browser, folder: Path) -> None:
    place = registry.USUAL.index("TcpBbr")
    opened(browser, folder / "index.html", 1280)
    looks = browser.evaluate(
        """Object.fromEntries([...document.querySelectorAll('.looks span')].map((one) =>
             [one.textContent.trim(), one.querySelector('.mark').getAttribute('class')]))"""
    )
    assert looks["TcpBbr"] == f"mark c{place}"
    opened(browser, folder / "experiments" / "competition.html", 1280)
    drawn = browser.evaluate(
        """Object.fromEntries(ccperf.experiment.plots.get('sweep').entries.map((name, i) =>
             [name, ccperf.experiment.plots.get('sweep').look(i)]))"""
    )
    assert all(looks[name] == f"mark {look}" for name, look in drawn.items())
    link = browser.evaluate(
        """[...document.querySelectorAll('tr[data-search]')].find((row) =>
             row.textContent.includes('TcpBbr')).querySelector('a').href"""
    )
    page = folder / "runs" / link.split("/")[-2] / "index.html"
    opened(browser, page, 1280)
    of_flows = browser.evaluate(
        """Object.fromEntries(ccperf.page.plots.get('time_series').entries.map((name, i) =>
             [name, ccperf.page.plots.get('time_series').look(i)]))"""
    )
    cubic = registry.USUAL.index("TcpCubic")
    assert of_flows == {"flow_1 TcpBbr": f"c{place}", "flow_2 TcpCubic": f"c{cubic}"}
    assert _ink(browser, f".c{place}") in (SUBJECTS[place].colour, "#000")


def test_runs_beside_each_other_look_the_same_in_all_figures(
    browser: Browser, folder: Path
) -> None:
    """Also where one is a user's own, and where what is drawn is no flow's."""
    opened(browser, competing_run(folder), 1280)
    names = ["TcpCubic", "mine.py:Mine", "TcpNewReno"]
    drawn = browser.evaluate(
        f"""(() => {{
             const [run] = ccperf.page.runs.values();
             ccperf.page.runs.clear();
             for (const name of {names!r}) {{
               ccperf.page.show({{ ...run, id: name, name, algorithm: name }});
             }}
             return [...ccperf.page.plots.values()].map((plot) =>
               plot.entries.map((_, i) => plot.look(i)));
           }})()"""
    )
    assert drawn == [[f"c{look}" for look in looks_of(names)]] * len(drawn)
    assert len(drawn) > 3


def test_a_line_and_its_band_break_where_there_is_no_value(browser: Browser, folder: Path) -> None:
    """Of one algorithm alone, too, whose last mean then has a marker and a bar."""
    opened(browser, competing_run(folder), 1280)
    numbers = "{ x: [1, 2, 3, 4], y: [16, 17, null, 62], half: [1, 1, 0, 2] }"
    drawn = browser.evaluate(
        f"""(() => {{
             const axis = {{ label: "k", unit: "", lower: null, upper: null }};
             const series = {{ ...{numbers}, shape: "line", role: "subject", subject: 0 }};
             const host = document.createElement("div");
             document.querySelector("main").append(host);
             new ccperf.Plot(host, {{
               name: "sweep", title: "", alt: "", roles: [], subjects: [{{ name: "a", run: "" }}],
               panels: [{{ x: axis, y: axis, series: [series], lines: [] }}],
             }});
             const paths = (kind) => [...host.querySelectorAll(`.area path.${{kind}}`)]
               .map((path) => path.getAttribute("d"));
             const kinds = ["line", "band", "stroke", "mark"];
             return Object.fromEntries(kinds.map((kind) => [kind, paths(kind)]));
           }})()"""
    )
    (line,), (band,), (bar,), (mark,) = (drawn[kind] for kind in ("line", "band", "stroke", "mark"))
    assert line.count("M") == 2
    assert band.count("M") == 1
    assert bar.count("L") == 1
    assert mark.count("M") == 1


@pytest.mark.parametrize(
    "names",
    [
        ["TcpBbr", "TcpCubic"],
        ["mine.py:Mine", "TcpPrague", "TcpCubic", "TcpCubic(Beta=0.5)"],
        ["TcpVegas", "TcpYeah", "TcpLp", "TcpBbr3", "TcpCopa", "TcpLedbat", "b.py:B", "a.py:A"],
        ["TcnQueueDisc", "ECNSharpQueueDisc", "RED-tail"],
    ],
)
def test_pages_and_papers_choose_looks_alike(
    browser: Browser, folder: Path, names: list[Any]
) -> None:
    opened(browser, folder / "experiments" / "aqm.html", 1280)
    assert tuple(browser.evaluate(f"ccperf.looksOf({names!r})")) == looks_of(names)


def test_a_front_page_says_which_of_many_algorithms_small_figures_leave_out(
    tmp_path: Path,
) -> None:
    names = list(registry.algorithms("cc"))[:12]
    point = {"k": "1", "qdisc": "FifoQueueDisc"}
    runs = [run("aqm", cc, 1, "200ms", point) for cc in names]

    def key(name: str, runs: list[Result]) -> str:
        (tmp_path / name).mkdir()
        page = parse(built(tmp_path / name, runs) / "index.html")
        return next(
            one.text for one in page.named("p") if "looks" in one.attributes.get("class", "")
        )

    drawn, left_out = key("many", runs).split("not drawn: ")
    others = left_out.strip().split(", ")
    assert sorted([*drawn.split(), *others]) == sorted(names)
    assert len(others) == 2
    assert "not drawn" not in key("few", runs[:3])
