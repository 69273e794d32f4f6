"""The pages that compare where runs are not all of a kind: other points, metrics or settings, or
one seed of own code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from site_browser import Browser
from site_html import parse

from ccperf import site
from ccperf.cli.app import invoke
from ccperf.present.figures.palette import looks_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def ragged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two algorithms at four points, and of a third at one of them."""
    folder = tmp_path_factory.mktemp("ragged")
    line = ["run", "aqm", "--qdisc", "codel,fifo", "--stop-time", "2s", "--db", f"{folder}/a.db"]
    assert invoke([*line, "--cc", "cubic,newreno", "--k", "1,2"]) == 0
    assert invoke([*line[:3], "codel", *line[4:], "--cc", "vegas", "--k", "1"]) == 0
    site.build([folder / "a.db"], folder / "site")
    return folder / "site"


def test_value_and_factor_of_a_cell_are_of_the_same_points(ragged: Path) -> None:
    table = parse(ragged / "index.html").named("table")[0]
    (row,) = table.one("tbody").named("tr")
    said = {}
    for cell, name in zip(row.named("td"), table.one("thead").named("th")[1:], strict=True):
        value, ends = (
            re.match(r"([\d.]+) %.*?, (\d) of \d point", cell.attributes["title"]),
            re.search(r"([\d.]+) → ([\d.]+) %, (\d) point", cell.attributes["title"]),
        )
        assert value
        said[name.text.strip()] = (value[1], value[2], cell.text)
        if ends:
            assert (value[1], value[2]) == (ends[2], ends[3])
    values = {name: (points, text) for name, (_, points, text) in said.items()}
    assert [points for points, _ in values.values()] == ["4", "4", "1"]
    assert ["at 1 of 4" in text for _, text in values.values()] == [False, False, True]


@pytest.mark.browser
def test_a_narrow_front_page_shows_values_beside_factors(browser: Browser, ragged: Path) -> None:
    browser.size(400, 900)
    try:
        browser.open(ragged / "index.html")
        sizes = browser.evaluate(
            """[...document.querySelectorAll("table.matrix td:has(b)")].map((td) =>
                 parseFloat(getComputedStyle(td).fontSize))"""
        )
        assert sizes
        assert min(sizes) >= 9
        assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    finally:
        browser.size(1200, 900)


def test_a_score_by_another_metric_than_its_column_s_says_which(tmp_path: Path) -> None:
    line = ["run", "incast", "--cc", "newreno", "--n", "8", "--size", "20kB", "--stop-time", "1s"]
    assert invoke([*line, "--db", f"{tmp_path}/a.db"]) == 0
    assert invoke(["run", "aqm", "--k", "1", "--stop-time", "1s", "--db", f"{tmp_path}/a.db"]) == 0
    site.build([tmp_path / "a.db"], tmp_path / "site")
    page = parse(tmp_path / "site" / "algorithms" / "TcpNewReno.html")
    (table,) = (t for t in page.named("table") if "scores" in t.attributes.get("class", ""))
    titles = [head.text.strip() for head in table.one("thead").named("th")]
    row = next(row for row in table.named("tr") if "Incast" in row.text)
    cell = [*row.named("th"), *row.named("td")][titles.index("Loss")]
    assert [link.attributes["href"] for link in cell.named("a")] == [
        "../metrics.html#total_timeouts_l4"
    ]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of runs at one point of an experiment that differ in settings."""
    folder = tmp_path_factory.mktemp("mixed")
    line = ["run", "aqm", "--cc", "cubic", "--k", "1,2", "--qdisc", "codel,fifo"]
    for more in (
        ["--stop-time", "2s"],
        ["--stop-time", "2s", "--recovery", "classic"],
        ["--stop-time", "2s", "--profile", "linux"],
        ["--stop-time", "1s"],
    ):
        assert invoke([*line, *more, "--db", f"{folder}/a.db"]) == 0
    site.build([folder / "a.db"], folder / "site")
    return folder / "site"


def test_runs_of_other_settings_have_columns_that_tell_them_apart(mixed: Path) -> None:
    (table,) = (
        table
        for table in parse(mixed / "experiments" / "aqm.html").named("table")
        if "runs" in table.attributes.get("class", "")
    )
    heads = [head.text.strip() for head in table.one("thead").named("th")]
    assert {"stop_time", "recovery", "profile"} <= {*heads}
    assert "stop" not in heads  # says the same as stop_time
    end = heads.index("algorithm") + 1
    rows = [
        tuple(cell.text.strip() for cell in row.named("td")[1:end])
        for row in table.one("tbody").named("tr")
    ]
    assert len(rows) == len(set(rows)) == 16


@pytest.mark.browser
def test_figures_of_runs_of_other_settings_name_them(browser: Browser, mixed: Path) -> None:
    browser.open(mixed / "experiments" / "aqm.html")
    browser.wait_for("globalThis.ccperf?.experiment?.plots.size > 0")
    for figure in ("sweep", "plane"):
        drawn = f"ccperf.experiment.plots.get({figure!r})"
        names = browser.evaluate(f"{drawn}.figure.subjects.map(({{ name }}) => name)")
        assert len(names) == len(set(names)) == 3
        assert any("recovery=TcpClassicRecovery" in name for name in names)
        assert any("profile=linux" in name for name in names)
        looks = browser.evaluate(
            f"(() => {{ const p = {drawn}; return p.entries.map((_, i) => p.lookOf(i)); }})()"
        )
        assert len(looks) == len(set(looks))
    members = browser.evaluate(
        "ccperf.experiment.plots.get('sweep').figure.panels[0].series.map(({ x }) => x.length)"
    )
    assert members == [2, 2, 2]


@pytest.mark.browser
def test_a_map_of_two_parameters_is_of_one_setting(browser: Browser, mixed: Path) -> None:
    browser.open(mixed / "experiments" / "aqm.html")
    browser.wait_for("globalThis.ccperf?.experiment?.plots.size > 0")
    maps = browser.evaluate(
        """(() => {
             const who = document.querySelector("#heat select");
             const first = who.value;
             return [first, ...[...who.options].map(({ value }) => value)].map((value) => {
               who.value = value;
               who.dispatchEvent(new Event("change", { bubbles: true }));
               const links = [...document.querySelectorAll("table.heat a")];
               return [value, links.map((a) => a.href.split("/").at(-2))];
             });
           })()"""
    )
    settings = {
        page["id"]: page["settings"] for page in browser.evaluate("ccperf.experiment.data.pages")
    }
    (first, shown), *maps = maps
    assert [first, shown] in maps
    assert shown
    drawn = [(name, {tuple(settings[each]) for each in ids}, len(ids)) for name, ids in maps if ids]
    assert len(drawn) == 3
    assert all((len(kinds), count) == (1, 4) for _, kinds, count in drawn)
    assert len({name for name, _, _ in drawn}) == 3


@pytest.mark.browser
def test_an_algorithm_keeps_its_look_beside_runs_of_other_settings(
    browser: Browser, tmp_path: Path
) -> None:
    line = ["run", "aqm", "--cc", "newreno,cubic", "--k", "1,2", "--qdisc", "codel"]
    for more in ([], ["--profile", "linux"]):
        assert invoke([*line, "--stop-time", "1s", *more, "--db", f"{tmp_path}/a.db"]) == 0
    site.build([tmp_path / "a.db"], tmp_path / "site")
    browser.open(tmp_path / "site" / "experiments" / "aqm.html")
    browser.wait_for("globalThis.ccperf?.experiment?.plots.size > 0")
    usual = ("TcpNewReno", "TcpCubic")
    for figure in ("sweep", "plane"):
        drawn = f"ccperf.experiment.plots.get({figure!r})"
        looks = browser.evaluate(
            f"(() => {{ const p = {drawn};"
            " return Object.fromEntries(p.entries.map((name, i) => [name, p.lookOf(i)])); })()"
        )
        assert tuple(looks[name] for name in usual) == looks_of(usual)
        assert len(looks) == len({*looks.values()}) == 4


@pytest.mark.parametrize("seeds", ["1", "1..3"])
def test_the_front_page_says_before_all_else_why_nothing_is_known_of_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "cc", "Mine"]) == 0
    line = ["bench", "./mine.py:Mine,cubic", "--experiments", "ecn", "--stop-time", "300ms"]
    assert invoke([*line, "--seed", seeds]) == 0
    page = (tmp_path / "site" / "index.html").read_text()
    told = "ccperf bench ./mine.py:Mine,TcpCubic --seed 1..3"
    assert (told in page) == ("Nothing is known yet of ./mine.py:Mine" in page) == (seeds == "1")
    assert told not in page or page.index(told) < page.index("<table")
    # Of what draws they tell half: no page promises more.
    assert ("Three seeds tell all where nothing is random" in page) == (seeds == "1")
