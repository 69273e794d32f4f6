"""The pages that compare: the score matrix, an experiment's figures, an algorithm's differences."""

from __future__ import annotations

import json
import re
import shutil
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING

import pytest
from site_browser import Browser
from site_html import Element, inflated, parse, parse_text

from ccperf import site
from ccperf.cli.app import invoke
from ccperf.evidence import cells, compare
from ccperf.evidence.verdict import effect_text
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.site.differences import difference_cell
from ccperf.site.inventory import inventory
from ccperf.site.scores import CRITERIA, Scores
from ccperf.store import Store

if TYPE_CHECKING:
    from pathlib import Path

ALGORITHMS = ("TcpCubic", "TcpNewReno", "TcpVegas")
#: Names that a stranger's database may have.
HOSTILE = '"><img src=x onerror=alert(1)>/../../x'


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments, three algorithms, three seeds; and one with names that want to be code."""
    engine = backends.get("native")
    path = tmp_path_factory.mktemp("comparison") / "runs.db"
    with Store(path, "a") as store:
        for name, grid in (
            (
                "aqm",
                [{"k": k, "qdisc": q} for k in "12" for q in ("FifoQueueDisc", "CoDelQueueDisc")],
            ),
            ("competition", [{"against": "TcpCubic"}]),
        ):
            experiment = catalogue.get(name)
            for cc in ALGORITHMS:
                for point in grid:
                    for seed in (1, 2, 3):
                        setup = experiment.setup(cc, seed=seed, stop_time="2s", **point)
                        scenario = experiment.scenario(cc, seed=seed, stop_time="2s", **point)
                        store.add(
                            Result.of(
                                scenario,
                                engine.simulate(scenario),
                                engine,
                                experiment=name,
                                parameters=setup.labels,
                            )
                        )
        scenario = catalogue.get("aqm").scenario("TcpBbr", stop_time="1s", k="1")
        store.add(
            Result.of(
                scenario,
                engine.simulate(scenario),
                engine,
                experiment="of-a-stranger",
                parameters={"aut": HOSTILE, "__proto__": HOSTILE, HOSTILE: "1"},
            )
        )
    return path


@pytest.fixture(scope="module")
def folder(database: Path) -> Path:
    site.build([database], database.parent / "site")
    return database.parent / "site"


@pytest.fixture(scope="module")
def scores(database: Path) -> Scores:
    return Scores(inventory(cells.read([database]), [database.name]))


def test_a_score_is_the_mean_over_points_and_its_interval_that_over_seeds(
    scores: Scores, database: Path
) -> None:
    criterion = CRITERIA[0]
    found = [
        cell
        for cell in cells.read([database])
        if cell.point.experiment == "aqm" and cell.algorithm == "TcpCubic"
    ]
    means = [fmean(cell.metrics[s][criterion.metrics[0]] for s in (1, 2, 3)) for cell in found]
    score = scores.get("aqm", criterion.name, "TcpCubic")
    assert score is not None
    assert score.points == len(found) == 4
    assert score.summary.n == 3
    assert score.summary.mean == pytest.approx(geometric_mean(means))


def test_scores_are_the_values_that_the_comparison_prints(scores: Scores) -> None:
    pair = ("TcpCubic", "TcpVegas")
    checked = 0
    for row in scores.against(pair[0]):
        criterion = next((each for each in CRITERIA if each.has(row.metric)), None)
        if row.side != pair[1] or criterion is None or row.size.mean is None or row.size.zeros:
            continue
        found = [scores.get(row.experiment, criterion.name, name) for name in pair]
        values = [each.summary.mean for each in found if each is not None]
        assert values == pytest.approx(row.means), row.metric
        if row.size.effect == "ratio":
            checked += 1
            # Means over seeds are arithmetic ones, and factors are of each seed.
            assert values[1] / values[0] == pytest.approx(row.size.mean, rel=0.01)
    assert checked >= 4


def test_differences_of_per_cent_are_in_percentage_points(scores: Scores) -> None:
    """`less loss in 3 of 5 (−7.9 %)` says that nearly all of it is left."""
    (row,) = (
        row
        for row in scores.against("TcpNewReno")
        if (row.experiment, row.metric) == ("aqm", "retransmission_rate_l4")
        and row.side == "TcpVegas"
    )
    assert row.verdict.word == "better"
    cell = difference_cell(row)
    assert re.fullmatch(r"▲ −[\d.]+ pp", cell.text)
    assert re.search(r" → [\d.]+ %, .*; −[\d.]+ to [−\d.]+ pp$", cell.title)
    said = scores.sentence("TcpNewReno", "TcpVegas", 9) or ""
    assert re.search(r"less loss in \d of \d( experiments)? \(−[−\d. to]+ pp\)", said)


def test_a_sentence_counts_every_experiment_and_criterion_once(scores: Scores) -> None:
    rows = scores.against("TcpNewReno")
    for algorithm in ("TcpCubic", "TcpVegas"):
        own = [row.verdict for row in rows if row.side == algorithm]
        said = scores.sentence("TcpNewReno", algorithm, 9) or ""
        assert said.startswith("against TcpNewReno: ")
        counts = [int(count) for count in re.findall(r" in (\d+) of \d+", said)]
        assert sum(counts) == sum(each.direction in ("more", "less") for each in own)
        rest = re.search(r"the other (\d+) comparison", said)
        if "equal within 1 % in the rest" not in said:
            assert sum(counts) + int(rest[1] if rest else 0) == len(own)
    assert scores.sentence("TcpNewReno", "TcpNewReno", 9) is None


@pytest.mark.parametrize("seeds", ["1", "1..3"])
def test_a_sentence_names_the_remedy_where_one_seed_leaves_all_open(
    tmp_path: Path, seeds: str
) -> None:
    path = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "newreno,bbr", "--k", "1", "--qdisc", "codel", "--seed", seeds]
    assert invoke([*line, "--stop-time", "2s", "--db", str(path)]) == 0
    made = Scores(inventory(cells.read([path]), [path.name]))
    said = made.sentence("TcpNewReno", "TcpBbr", 2) or ""
    assert not re.search(r" of 1 \w+s\b", said)
    assert ("bench with `--seed 1..10`" in said) == (seeds == "1")


def test_the_baseline_s_sentence_is_the_other_s_turned_round(scores: Scores) -> None:
    """What one has more of, the other has less of, in as many experiments."""

    def counts(base: str, algorithm: str) -> dict[str, str]:
        said = scores.sentence(base, algorithm, 9) or ""
        return dict(re.findall(r"([a-z][a-z ]+) in (\d+) of", said.replace("but ", "")))

    turned = {}
    for criterion in CRITERIA:
        turned |= {criterion.more: criterion.less, criterion.less: criterion.more}
    there = counts("TcpNewReno", "TcpVegas")
    assert there
    back = counts("TcpVegas", "TcpNewReno")
    assert {turned[what]: count for what, count in there.items()} == back


def tables(folder: Path, base: str) -> dict[str, Element]:
    """The matrix of the front page for each question, against a baseline."""
    found = inflated(folder / "fronts" / f"cc-{base}.js")["answers"]
    return {name: parse_text(answer).named("table")[0] for name, (answer, _) in found.items()}


def test_the_front_page_has_a_cell_for_every_algorithm_and_experiment(
    folder: Path, scores: Scores
) -> None:
    criteria = {each.name: each for each in scores.criteria}
    found = tables(folder, "TcpNewReno")
    assert list(found) == list(criteria)
    for name, table in found.items():
        heads = [head.text for head in table.named("thead")[0].named("a")]
        assert sorted(heads) == sorted(scores.algorithms)
        rows = table.named("tbody")[0].named("tr")
        groups = scores.groups_with(criteria[name])
        assert [row.named("th")[0].one("a").text for row in rows] == [
            group.title for group in groups
        ]
        for row, group in zip(rows, groups, strict=True):
            assert (
                f"metric={criteria[name].metric_of(group)}" in row.named("a")[0].attributes["href"]
            )
            for head, cell in zip(heads, row.named("td"), strict=True):
                score = scores.get(group.name, name, head)
                assert cell.attributes["data-order"] == (
                    f"{score.summary.mean:.6g}" if score else ""
                )


def test_the_page_itself_is_the_first_question_against_the_first_baseline(
    folder: Path,
) -> None:
    (own,) = parse(folder / "index.html").named("table")
    first = tables(folder, "TcpNewReno")["throughput"]
    assert [cell.text for cell in own.named("td")] == [cell.text for cell in first.named("td")]


def test_the_matrix_turns_round_with_the_baseline(folder: Path) -> None:
    """What is better against one is worse against the other."""
    kinds = {}
    for base, side in (("TcpNewReno", "TcpVegas"), ("TcpVegas", "TcpNewReno")):
        for name, table in tables(folder, base).items():
            heads = [head.text for head in table.named("thead")[0].named("a")]
            for row in table.named("tbody")[0].named("tr"):
                cell = row.named("td")[heads.index(side)]
                kinds[base, name, row.named("th")[0].text] = cell.attributes["class"]
    turned = {"number good": "number bad", "number bad": "number good"}
    there = {key[1:]: kind for key, kind in kinds.items() if key[0] == "TcpNewReno"}
    assert {"number good", "number bad"} & set(there.values())
    for key, kind in there.items():
        assert kinds[("TcpVegas", *key)] == turned.get(kind, kind)


def test_an_algorithm_s_differences_are_those_of_the_comparison(
    folder: Path, database: Path
) -> None:
    found = cells.by_algorithm(
        [cell for cell in cells.read([database]) if cell.algorithm in ALGORITHMS],
        ["TcpNewReno", "TcpCubic", "TcpVegas"],
    )
    (group,) = [g for g in inventory(cells.read([database]), ["runs.db"]).groups if g.name == "aqm"]
    asked = {criterion: criterion.metric_of(group) for criterion in CRITERIA}
    compared = compare.compare(found, [metric for metric in asked.values() if metric])
    root = parse(folder / "algorithms" / "TcpVegas.html")
    (table,) = [t for t in root.named("table") if "differences" in t.attributes["class"]]
    heads = [head.text for head in table.named("thead")[0].named("th")][1:]
    (row,) = [r for r in table.named("tbody")[0].named("tr") if "Active queue" in r.text]
    shown = dict(zip(heads, row.named("td"), strict=True))
    for criterion in CRITERIA:
        if not asked[criterion]:
            continue
        (wanted,) = [
            each
            for each in compared.rows
            if each.side == "TcpVegas"
            and each.metric == asked[criterion]
            and each.experiment == "aqm"
        ]
        cell = shown[criterion.title]
        assert effect_text(wanted.size.effect, wanted.size.mean) in cell.text
        assert str(wanted.verdict) in cell.attributes["title"]


@pytest.mark.browser
def test_the_matrix_has_a_tab_for_each_criterion_and_is_sorted_by_choice(
    browser: Browser, folder: Path
) -> None:
    browser.open(folder / "index.html")
    asked = "document.getElementById('answer').getAttribute('aria-label')"
    assert browser.evaluate(asked) == "Throughput"
    browser.evaluate("document.querySelector('[data-name=delay]').click()")
    browser.wait_for(f"{asked} === 'Delay'")
    assert browser.evaluate("location.hash") == "#question=delay"
    browser.evaluate("document.querySelectorAll('table.matrix th button')[1].click()")
    rows = "[...document.querySelectorAll('table.matrix tbody tr')]"
    orders = browser.evaluate(f"{rows}.map((row) => row.cells[1].dataset.order)")
    values = [float(order) for order in orders if order]
    assert values == sorted(values)
    browser.evaluate(
        """(() => { const base = document.querySelector("[name=base]");
             base.value = "TcpVegas";
             base.dispatchEvent(new Event("change", { bubbles: true })); })()"""
    )
    against = "document.querySelector('th.base').textContent"
    browser.wait_for(f"{against}.startsWith('TcpVegas')")
    # A reader who follows a link and comes back finds what was chosen.
    browser.evaluate("document.querySelector('table.matrix tbody a').click()")
    browser.wait_for("globalThis.ccperf?.experiment")
    assert browser.evaluate("document.querySelector('#choices select').value") == "mean_srtt_l4"
    browser.evaluate("void setTimeout(() => history.back())")
    browser.wait_for(f"document.querySelector('th.base') && {against}.startsWith('TcpVegas')")
    assert browser.evaluate(asked) == "Delay"
    assert browser.problems() == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "title",
    [
        "99th percentile completion time, small flows",
        # One line, with letters wider than most.
        "Factor over ECNSharpQueueDisc",
        "Factor over MMWMQOMNWQDMWQ",
    ],
)
def test_a_long_title_of_an_axis_is_not_cut(
    browser: Browser, folder: Path, width: int, title: str
) -> None:
    browser.size(width)
    browser.open(folder / "experiments" / "aqm.html")
    browser.wait_for("ccperf.experiment")
    cut = browser.evaluate(
        """((title) => {
             const { figure } = ccperf.experiment.plots.get("sweep");
             figure.panels[0].y.label = title;
             ccperf.experiment.plots.get("sweep").update(figure);
             const svg = document.querySelector("#figure-sweep .area svg");
             const { top, left, bottom } = svg.getBoundingClientRect();
             return [...svg.querySelectorAll("text")].map((text) => text.getBoundingClientRect())
               .filter((box) => box.top < top || box.left < left - 2 || box.bottom > bottom).length;
           })("""
        + json.dumps(title)
        + ")"
    )
    browser.size(1280)
    assert cut == 0


@pytest.mark.browser
def test_an_experiment_draws_a_metric_against_a_parameter_with_intervals(
    browser: Browser, folder: Path, database: Path
) -> None:
    browser.open(folder / "experiments" / "aqm.html")
    browser.wait_for("ccperf.experiment")
    figure = "ccperf.experiment.plots.get('sweep').figure"
    assert browser.evaluate(f"{figure}.subjects.map((s) => s.name)") == list(ALGORITHMS)
    browser.evaluate(
        """(() => { const choice = document.querySelector("#choices select");
             choice.value = "mean_srtt_l4";
             choice.dispatchEvent(new Event("change", { bubbles: true })); })()"""
    )
    assert "metric=mean_srtt_l4" in browser.evaluate("location.hash")
    assert browser.evaluate(f"{figure}.panels[0].y.unit") == "ms"
    shown = browser.evaluate(f"{figure}.panels[0].series.map((s) => [s.y, s.half])")
    over = browser.evaluate(f"{figure}.panels[0].x.label")
    assert over == "k"
    sides = cells.by_algorithm(cells.read([database]), ALGORITHMS)
    for (means, halves), name in zip(shown, ALGORITHMS, strict=True):
        for index, k in enumerate("12"):
            (cell,) = [
                cell
                for cell in sides[name]
                if dict(cell.point.parameters) == {"k": k, "qdisc": "FifoQueueDisc"}
                and cell.point.experiment == "aqm"
            ]
            values = [found["mean_srtt_l4"] for found in cell.metrics.values()]
            assert means[index] == pytest.approx(sum(values) / 3, rel=1e-5)
            assert (halves[index] > 0) == (max(values) - min(values) > 1e-5)
    # Each looks as on the front page, whose columns are in another order.
    looks = browser.evaluate(f"{figure}.subjects.map((one) => `mark c${{one.look}}`)")
    browser.open(folder / "index.html")
    columns = browser.evaluate(
        """[...document.querySelectorAll('.looks span')].map((one) =>
             [one.textContent.trim(), one.querySelector('.mark').getAttribute('class')])"""
    )
    assert [dict(columns)[name] for name in ALGORITHMS] == looks
    assert [name for name, _ in columns if name in ALGORITHMS] != list(ALGORITHMS)


@pytest.mark.browser
def test_an_experiment_has_a_plane_a_map_and_the_runs_over_each_other(
    browser: Browser, folder: Path
) -> None:
    browser.open(folder / "none")
    browser.open(folder / "experiments" / "aqm.html", "#qdisc=FifoQueueDisc&k=2")
    browser.wait_for("ccperf.experiment")
    plane = "ccperf.experiment.plots.get('plane').figure"
    assert browser.evaluate(f"{plane}.subjects.length") == 3
    assert (
        browser.evaluate(f"{plane}.panels[0].series.filter((s) => s.shape === 'outline').length")
        == 3
    )
    assert browser.evaluate("document.querySelectorAll('table.heat tbody td').length") == 4
    assert browser.evaluate("document.querySelectorAll('table.heat a').length") == 4
    browser.evaluate("document.getElementById('series').open = true")
    browser.wait_for("ccperf.experiment.plots.has('distribution')")
    assert browser.evaluate("ccperf.experiment.plots.get('time_series').entries") == list(
        ALGORITHMS
    )
    assert browser.problems() == []


@pytest.mark.browser
def test_runs_that_one_chooses_lie_over_each_other_also_of_several_points(
    browser: Browser, folder: Path
) -> None:
    page = folder / "experiments" / "aqm.html"
    browser.open(folder / "none")
    browser.open(page, "#qdisc=FifoQueueDisc&k=1")
    browser.wait_for("ccperf.experiment")
    browser.evaluate("document.getElementById('series').open = true")
    browser.wait_for("ccperf.experiment.plots.has('distribution')")
    entries = "ccperf.experiment.plots.get('time_series').entries"

    def click(label: str) -> None:
        browser.evaluate(
            f"""[...document.querySelectorAll("#chosen label, #chosen button")]
                  .find((one) => one.textContent.trim() === "{label}").click()"""
        )

    click("TcpVegas")
    browser.wait_for(f"{entries}.length === 2")
    assert browser.evaluate(entries) == ["TcpCubic", "TcpNewReno"]
    click("TcpNewReno")
    browser.wait_for(f"{entries}.length === 1")
    click("Keep these beside other points")
    browser.evaluate(
        """(() => { const choice = document.querySelector("#choices [data-parameter='0']");
             choice.value = "1";
             choice.dispatchEvent(new Event("change", { bubbles: true })); })()"""
    )
    wanted = ["TcpCubic, k = 2", "TcpCubic, k = 1"]
    browser.wait_for(f"{entries}.join() === '{','.join(wanted)}'")
    # A link carries what is chosen.
    fragment = browser.evaluate("location.hash")
    browser.open(folder / "none")
    browser.open(page, fragment)
    browser.wait_for("globalThis.ccperf?.experiment?.plots.has('time_series')")
    assert browser.evaluate(entries) == wanted
    # Nothing chosen is said, and is no end.
    click("TcpCubic, k = 2")
    browser.wait_for(f"{entries}.length === 1")
    click("TcpCubic, k = 1")
    browser.wait_for("document.getElementById('chosen-status').textContent === 'No run is chosen.'")
    click("TcpVegas")
    browser.wait_for("!document.getElementById('overlaid').hidden")
    # Of one run, its flows are told apart.
    assert browser.evaluate(entries) == ["flow_1 TcpVegas", "flow_2 TcpVegas"]
    assert browser.problems() == []


@pytest.mark.browser
def test_an_experiment_s_neighbouring_points_are_one_key_away(
    browser: Browser, folder: Path
) -> None:
    browser.open(folder / "none")
    browser.open(folder / "experiments" / "aqm.html", "#k=1&qdisc=FifoQueueDisc")
    browser.wait_for("globalThis.ccperf?.experiment")

    def press(key: str) -> str:
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        return str(browser.evaluate("location.hash"))

    said = browser.evaluate("document.querySelector('#choices + .note').textContent")
    assert said == "Neighbouring points are one key away: h l for k, j k for qdisc."
    assert "k=2" in press("l")
    assert "k=2" in press("l")  # there is none behind the last one
    assert "k=1" in press("h")
    assert "qdisc=CoDelQueueDisc" in press("k")
    assert "qdisc=FifoQueueDisc" in press("j")
    # The figures are those of the point.
    assert browser.evaluate("ccperf.experiment.plots.get('plane').figure.subjects.length") == 3
    # While one types, letters are letters.
    browser.evaluate("document.querySelector('header .search input').focus()")
    assert "k=1" in press("l")


@pytest.mark.browser
def test_an_algorithm_is_compared_with_the_baseline_one_chooses(
    browser: Browser, folder: Path
) -> None:
    browser.open(folder / "algorithms" / "TcpVegas.html")
    cells_of = (
        "[...document.querySelectorAll('table.differences tbody td')].map((c) => c.textContent)"
    )
    before = browser.evaluate(cells_of)
    browser.evaluate(
        """(() => { const s = document.querySelector("select[name=base]");
             s.value = "TcpCubic"; s.dispatchEvent(new Event("change", { bubbles: true })); })()"""
    )
    browser.wait_for("document.querySelector('table.differences .base').textContent === 'TcpCubic'")
    assert browser.evaluate(cells_of) != before
    shown = "[...document.querySelectorAll('section.against > p')].filter((p) => p.offsetParent)"
    assert browser.evaluate(f"{shown}.length") == 1
    assert "TcpVegas against TcpCubic" in browser.evaluate(f"{shown}[0].textContent")
    assert browser.problems() == []


@pytest.mark.browser
def test_a_stranger_s_names_are_text_everywhere(browser: Browser, folder: Path) -> None:
    pages = [page for page in folder.rglob("*.html") if "img src" in page.read_text()]
    assert {page.parent.name for page in pages} >= {"experiments", "algorithms"}
    assert not list(folder.parent.rglob("x.html"))
    for page in pages:
        browser.open(page)
        browser.wait_for("document.readyState === 'complete'")
        if page.parent.name == "experiments":
            browser.wait_for(
                "globalThis.ccperf?.experiment || !document.getElementById('experiment')"
            )
        assert browser.evaluate("document.querySelectorAll('img[src=x]').length") == 0
        assert browser.evaluate("Object.prototype.onerror === undefined")
        # The policy itself: neither inline code nor another place.
        assert browser.evaluate(
            """new Promise((done) => {
                 globalThis.ran = false;
                 const script = document.createElement("script");
                 script.textContent = "globalThis.ran = true";
                 document.body.append(script);
                 setTimeout(() => done(globalThis.ran === false), 50);
               })"""
        )
    browser.open(folder / "index.html")
    browser.evaluate("document.querySelector('header .search input').focus()")
    browser.call("Input.insertText", text="onerror")
    browser.wait_for("document.querySelectorAll('header .found li').length > 0")
    assert browser.evaluate("document.querySelectorAll('header .found img').length") == 0


def test_what_a_build_remembers_of_comparisons_is_what_it_would_find_anew(
    database: Path, tmp_path: Path
) -> None:
    """A run more changes one experiment; the rows of the other are remembered, corrected anew."""
    copy = tmp_path / database.name
    shutil.copy(database, copy)
    site.build([copy], tmp_path / "grown")
    engine = backends.get("native")
    experiment = catalogue.get("competition")
    options = {"against": "TcpCubic", "seed": 4, "stop_time": "2s"}
    with Store(copy, "a") as store:
        for cc in ALGORITHMS:
            scenario = experiment.scenario(cc, **options)
            result = Result.of(
                scenario,
                engine.simulate(scenario),
                engine,
                experiment="competition",
                parameters=experiment.setup(cc, **options).labels,
            )
            store.add(result)
    site.build([copy], tmp_path / "grown")
    site.build([copy], tmp_path / "new")

    def files(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    assert files(tmp_path / "grown") == files(tmp_path / "new")
