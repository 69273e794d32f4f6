"""Every page of a built site: valid, linked, self-contained, and true to the store."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from site_html import Element, inflated, parse, text_of

from ccperf import site
from ccperf.experiments import catalogue
from ccperf.experiments.published import published as published_pages
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS
from ccperf.runs.result import Result
from ccperf.scenario import Scenario
from ccperf.store import Store
from ccperf.verify import page as fidelity


def pages(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.html"))
    assert len(found) >= 12
    return found


def test_every_page_is_valid_html(folder: Path) -> None:
    html5lib = pytest.importorskip("html5lib", reason="needs html5lib (extra `dev`)")
    for page in pages(folder):
        html5lib.HTMLParser(strict=True).parse(page.read_text(encoding="utf-8"))


def test_ids_are_unique_and_references_to_them_hold(folder: Path) -> None:
    for page in pages(folder):
        root = parse(page)
        ids = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
        assert len(ids) == len(set(ids)), page
        for element in root.all():
            for attribute in ("aria-labelledby", "data-copy", "for"):
                if attribute in element.attributes:
                    assert element.attributes[attribute] in ids, page


def test_every_link_leads_somewhere(folder: Path) -> None:
    anchors = {
        page: {e.attributes["id"] for e in parse(page).all() if "id" in e.attributes}
        for page in pages(folder)
    }
    reached = set()
    for page in anchors:
        for element in parse(page).all():
            for attribute in ("href", "src"):
                link = element.attributes.get(attribute)
                if link is None or urlsplit(link).scheme in ("http", "https"):
                    continue
                parts = urlsplit(link)
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                assert target.is_file(), f"{page}: {link}"
                assert target.is_relative_to(folder.resolve()), f"{page}: {link}"
                # What a page is to show first is no place on it.
                if parts.fragment and "=" not in parts.fragment:
                    known = {key.resolve(): value for key, value in anchors.items()}
                    assert parts.fragment in known[target.resolve()], f"{page}: {link}"
                reached.add(target.resolve())
    files = {path.resolve() for path in folder.rglob("*") if path.is_file()}
    unlinked = {path.name for path in files - reached}
    # Scripts load data: a page's own, and what searches look through.
    own = {page.with_suffix(".js").name for page in anchors}
    engine = {"engine.js", "result.js"}
    memory = {".ccperf-site"}
    fronts = {path.name for path in files if path.parent.name == "fronts"}
    assert unlinked <= {*memory, *engine, *fronts, "run.js", "scenario.js"} | own


def test_nothing_is_loaded_from_elsewhere(folder: Path) -> None:
    for page in pages(folder):
        for element in parse(page).all():
            # What a click opens may be elsewhere; what a page loads may not.
            for attribute in {"src", "srcset", "data", "poster", "style"} | (
                {"href"} if element.name == "link" else set()
            ):
                assert "//" not in element.attributes.get(attribute, ""), page
    for sheet in (folder / "static").glob("*.css"):
        styles = sheet.read_text()
        assert "@import" not in styles
        assert "url(" not in styles
    for file in folder.rglob("*.js"):
        script = text_of(file.read_bytes())
        # From its own site, where there is one; `connect-src` allows no other.
        assert "fetch(" not in script
        assert "XMLHttpRequest" not in script
        assert "://" not in script.replace("http://www.w3.org/2000/svg", "")


def test_pages_can_be_used_without_a_mouse_or_eyes(folder: Path) -> None:
    for page in pages(folder):
        root = parse(page)
        assert root.one("html").attributes["lang"] == "en"
        assert root.one("title").text.strip()
        assert len(root.named("h1")) == 1
        for landmark in ("main", "header", "footer"):
            assert root.named(landmark), page
        levels = [int(e.name[1]) for e in root.all() if re.fullmatch("h[1-6]", e.name)]
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        for image in root.named("img"):
            assert len(image.attributes["alt"]) > 40
        for table in root.named("table"):
            for head in table.named("th"):
                assert head.attributes.get("scope") in ("col", "row", "colgroup", "rowgroup"), page
        for field in root.named("input"):
            assert field.inside("label"), page


def test_text_of_users_is_text(folder: Path, database: Path) -> None:
    with Store(database, "r") as store:
        (run,) = [run for run in store.runs() if run.label and "alert" in run.label]
    for page in (folder / "index.html", folder / "runs" / run.id / "index.html"):
        root = parse(page)
        assert all("alert" not in script.text for script in root.named("script"))
        assert "<script>alert('x')</script>" in root.text


def test_every_experiment_lists_its_runs(folder: Path, database: Path) -> None:
    with Store(database, "r") as store:
        rows = store.runs()
    names = {row.experiment for row in rows if row.experiment}
    pages = {name: folder / "experiments" / f"{name}.html" for name in names}
    assert set(pages.values()) == set((folder / "experiments").glob("*.html"))
    pages |= {None: folder / "index.html"}
    for name, page in pages.items():
        wanted = {row.id for row in rows if (row.experiment or None) == name}
        (table,) = [
            table
            for table in parse(page).named("table")
            if "runs" in table.attributes.get("class", "")
        ]
        linked = {
            link.attributes["href"].split("/")[-2]
            for link in table.named("a")
            if link.attributes["href"].endswith("/index.html")
        }
        assert linked == wanted


def test_runs_are_listed_by_the_size_of_their_parameters(folder: Path) -> None:
    section = parse(folder / "experiments" / "aqm.html").named("table")[-1]
    ks = [row.named("td")[1].text for row in section.named("tr")[1:]]
    numbers = [int(k) for k in ks if k.isdigit()]
    assert numbers == sorted(numbers)
    assert len(numbers) >= 4


def test_only_the_published_run_bears_the_mark(folder: Path, published: Path) -> None:
    rows = [
        row
        for page in (folder / "experiments").glob("*.html")
        for row in parse(page).named("tr")
        if "data-search" in row.attributes
    ]
    marked = [row for row in rows if row.attributes.get("class") == "published"]
    links = [[link.attributes["href"] for link in row.named("a")] for row in marked]
    assert links == [
        [f"../runs/{published.parent.name}/index.html", "https://ccperf.net/experiments/aqm"]
    ]
    assert "run #5" in " ".join(parse(published).text.split())


def test_a_run_s_page_prints_the_published_tables(published: Path) -> None:
    (page,) = [page for page in published_pages() if page.experiment == "aqm"]
    shown = _metric_tables(published)
    whole = inflated(published.parent / "result.js")
    for table, column, metric, value in page.values():
        full = whole[table][column][metric]
        assert f"{full:.2f}" == f"{value:.2f}", metric
        text = shown[table.replace("_metrics", "")][metric][column]
        printed = float(text.replace(",", "").replace("−", "-"))
        assert printed == pytest.approx(full, rel=0.01), metric


def test_the_best_of_a_row_is_bold_by_the_metric_s_own_direction(published: Path) -> None:
    bold = 0
    flows = inflated(published.parent / "result.js")["flow_metrics"]
    whole = {name: [flow.get(name) for flow in flows.values()] for name in METRICS}
    for row in _rows(published, "Flow metrics"):
        metric = METRICS[_name(row)]
        # Every other value is that of the steady state.
        cells = row.named("td")[1::2]
        values = list(whole[metric.name])
        strong = [value for cell, value in zip(cells, values, strict=True) if cell.named("strong")]
        if metric.better is None or len({cell.text for cell in cells}) == 1:
            assert not strong, metric.name
            continue
        best = max(values) if metric.better == "higher" else min(values)
        assert best in strong, metric.name
        texts = {cell.text for cell in cells if cell.named("strong")}
        assert len(texts) == 1
        bold += 1
    assert bold >= 5
    # One column alone has no best.
    assert not any(row.named("strong") for row in _rows(published, "Link metrics"))
    assert not any(row.named("strong") for row in _rows(published, "Network metrics"))


def test_every_metric_links_to_its_definition(folder: Path, published: Path) -> None:
    definitions = parse(folder / "metrics.html")
    for caption in ("Flow metrics", "Link metrics", "Network metrics"):
        for row in _rows(published, caption):
            assert row.named("a")[0].text == METRICS[_name(row)].title
    articles = {article.attributes["id"]: article for article in definitions.named("article")}
    assert set(articles) == set(METRICS)
    for name, metric in METRICS.items():
        text = " ".join(articles[name].text.split())
        assert metric.formula in text
        assert {"higher": "higher is better", "lower": "lower is better", None: "neither"}[
            metric.better
        ] in text


def test_a_run_s_page_has_all_its_parts(published: Path, database: Path) -> None:
    root = parse(published)
    heads = [" ".join(head.text.split()) for head in root.named("h2")]
    assert heads == [
        "Figures",
        "Parameters",
        "Make it again",
        "Bottleneck",
        "Flows",
        "Flow metrics",
        "Link metrics",
        "Network metrics",
        "Provenance",
    ]
    flows = next(table for table in root.named("table") if "transport_protocol" in table.text)
    assert [head.text for head in flows.named("thead")[0].named("th")][1:] == [
        "src",
        "dst",
        "transport_protocol",
        "cca",
        "cc_recovery_alg",
        "traffic_model",
        "start_time",
        "stop_time",
    ]
    assert len(flows.named("tr")) == 6
    with Store(database, "r") as store:
        result = store.load(published.parent.name)
    for part in (
        result.provenance.engine_hash,
        result.provenance.scenario_hash,
        result.provenance.ccperf_version,
        result.provenance.backend_version,
        str(result.provenance.seed),
    ):
        assert part in root.text
    stored = inflated(published.parent / "scenario.js")
    assert expanded(stored) == result.scenario.canonical()
    downloaded = inflated(published.parent / "result.js")
    assert downloaded["flow_metrics"] == result.flow_metrics


def expanded(scenario: dict[str, Any]) -> dict[str, Any]:
    """What `ccperf.expand` makes of a stored scenario."""
    lists = {
        name: [{**scenario[name][0], **row} for row in scenario[name][1:]]
        for name in ("links", "flows")
    }
    return {**scenario, **lists}


def commands(page: Element) -> list[Element]:
    """Those that make the run again, not what the reader makes of it."""
    found = [code for code in page.named("code") if "id" in code.attributes]
    return [code for code in found if code.attributes["id"] != "live-command"]


def test_the_commands_on_the_page_are_the_short_and_the_published_one(published: Path) -> None:
    (page,) = [page for page in published_pages() if page.experiment == "aqm"]
    command, line = commands(parse(published))
    assert command.text == (
        "ccperf run aqm --cc TcpNewReno --k 5 --qdisc FqCoDelQueueDisc --seed 42"
    )
    assert line.text == f"ccperf exec -- {page.command}"
    assert "--recoveries=TcpPrrRecovery" in line.text
    said = " ".join(parse(published).text.split())
    assert "reduction of RFC 6937, which is PrrRfc6937 here" in said


def test_a_scenario_of_one_s_own_says_how_to_run_it(folder: Path, database: Path) -> None:
    with Store(database, "r") as store:
        (run,) = [run for run in store.runs() if not run.experiment]
    root = parse(folder / "runs" / run.id / "index.html")
    (command,) = commands(root)
    assert f"{run.id}.json" in command.text


def test_figures_are_there_and_how_to_have_them_for_a_paper(published: Path) -> None:
    (figure,) = parse(published).named("figure")
    assert figure.inside("noscript")
    (image,) = figure.named("img")
    assert (published.parent / image.attributes["src"]).read_text().startswith("<svg ")
    run = published.parent.name
    assert f"ccperf plot {run} --db benchmark_TcpNewReno.db" in parse(published).text


def test_a_run_without_samples_has_a_page_that_says_so(folder: Path, database: Path) -> None:
    with Store(database, "r") as store:
        (run,) = [row for row in store.runs() if store.scenario(row.id)["stop_time"] == "20ms"]
    page = folder / "runs" / run.id
    assert "There is nothing to draw" in parse(page / "index.html").text
    assert not list(page.glob("*.svg"))


def _rows(page: Path, caption: str) -> list[Element]:
    (table,) = [
        table
        for table in parse(page).named("table")
        if any(each.text == caption for each in table.named("caption"))
    ]
    return table.named("tbody")[0].named("tr")


def _name(row: Element) -> str:
    return row.named("a")[0].attributes["href"].partition("#")[2]


def _metric_tables(page: Path) -> dict[str, dict[str, dict[str, str]]]:
    """`{scope: {metric: {column: text}}}`, those of the steady state under their own names."""
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for scope, caption in (
        ("flow", "Flow metrics"),
        ("link", "Link metrics"),
        ("network", "Network metrics"),
    ):
        rows = _rows(page, caption)
        (table,) = [
            table
            for table in parse(page).named("table")
            if any(each.text == caption for each in table.named("caption"))
        ]
        first = table.named("thead")[0].named("tr")[0]
        columns = [head.text for head in first.named("th")][2:]
        found = tables[scope] = {}
        for row in rows:
            cells = [cell.text for cell in row.named("td")][1:]
            found[_name(row)] = dict(zip(columns, cells[::2], strict=True))
            found[f"steady_{_name(row)}"] = dict(zip(columns, cells[1::2], strict=True))
    return tables


def test_the_page_on_fidelity_has_every_section_and_row(folder: Path) -> None:
    document = parse(folder / "fidelity.html")
    headings = [element.text for element in document.named("h2")]
    assert headings == [section.title for section in fidelity.sections()]
    tables = {
        caption.text: table
        for table in document.named("table")
        for caption in table.named("caption")
    }
    for section in fidelity.sections():
        for block in section.blocks:
            if isinstance(block, fidelity.Table):
                rows = tables.pop(block.caption).named("tbody")[0].named("tr")
                assert [
                    [cell.text for cell in row.children if isinstance(cell, Element)]
                    for row in rows
                ] == [
                    [
                        f"{cell:,}" if isinstance(cell, int) else cell.replace("`", "")
                        for cell in row
                    ]
                    for row in block.rows
                ]
    assert not tables
    assert 'href="fidelity.html"' in (folder / "index.html").read_text(encoding="utf-8")


def test_values_that_are_ns_3_s_doing_link_to_what_it_does(tmp_path: Path, published: Path) -> None:
    """The window of ns-3's BBR, and a queue that a discipline does not see."""
    engine = backends.get("native")
    long = catalogue.get("steady_state_single_flow")
    bbr = long.scenario("TcpBbr", path="static.aws_korea_to_china", stop_time="3s")
    point = {"k": "1", "qdisc": "FifoQueueDisc", "stop_time": "2s"}
    written = catalogue.get("aqm").scenario("TcpCubic", **point).canonical()
    (bottleneck,) = [link for link in written["links"] if link["name"] == "btl"]
    bottleneck["forward"]["device_queue"] = "1000p"
    unseen = Scenario.model_validate(written)
    results = [Result.of(each, engine.simulate(each), engine) for each in (bbr, unseen)]
    with Store(tmp_path / "runs.db", "a") as store:
        for result in results:
            store.add(result)
    site.build([tmp_path / "runs.db"], tmp_path / "site")
    page = parse(tmp_path / "site" / "ns3.html")
    anchors = {element.attributes.get("id") for element in page.all()}

    def links(path: Path) -> set[str]:
        found = {element.attributes.get("href", "") for element in parse(path).named("a")}
        return {link.partition("#")[2] for link in found if "ns3.html#" in link}

    runs = tmp_path / "site" / "runs"
    assert links(runs / results[0].id / "index.html") == {"window"}
    assert links(runs / results[1].id / "index.html") == {"device-queue"}
    assert links(published) == set()
    assert {"window", "device-queue"} <= anchors
    assert "ns3.html" in {Path(e.attributes.get("href", "")).name for e in page.named("a")}


def test_an_experiment_s_picture_has_its_metric_in_words(folder: Path) -> None:
    page = parse(folder / "experiments" / "aqm.html")
    (figure,) = (each for each in page.named("figure") if each.inside("noscript"))
    assert figure.text.strip().startswith("Smoothed RTT over ")


def test_a_page_has_at_most_one_static_picture(folder: Path, tmp_path: Path) -> None:
    """Also where a run has completion times, which stand below its series over time."""
    scenario = catalogue.get("incast").scenario("TcpNewReno", stop_time="1s")
    engine = backends.get("native")
    with Store(tmp_path / "incast.db", "a") as store:
        store.add(Result.of(scenario, engine.simulate(scenario), engine))
    site.build([tmp_path / "incast.db"], tmp_path / "site")
    pages = [*folder.rglob("*.html"), *(tmp_path / "site").rglob("*.html")]
    assert len(pages) > 10
    assert max(len(parse(page).named("img")) for page in pages) == 1
    (page,) = (tmp_path / "site" / "runs").glob("*/index.html")
    (figure,) = parse(page).named("figure")
    # For all readers, the part that scripts draw cut off by them.
    assert not figure.inside("noscript")
    assert 0 < float(figure.attributes["data-cut"]) < 2
    assert "Completion times." in figure.text
