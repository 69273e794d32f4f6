"""The figures of a run's page in a real browser: asked, zoomed, compared, made of other data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from site_browser import Browser
from site_built import built

import ccperf
from ccperf.experiments import catalogue
from ccperf.present.figures import packed, quantities
from ccperf.runs import backends
from ccperf.runs.metrics import FlowSeries
from ccperf.runs.metrics.capacity import steps_of
from ccperf.runs.result import Result
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    engine = backends.get("native")
    experiment = catalogue.get("aqm")
    found = []
    for cc, k, seed in (
        ("TcpNewReno", "2", 1),
        ("TcpNewReno", "2", 2),
        ("TcpBbr", "2", 1),
        ("TcpNewReno", "5", 1),
        ("TcpNewReno", "1", 1),
    ):
        point = {"k": k, "qdisc": "FifoQueueDisc"}
        scenario = experiment.scenario(cc, stop_time="4s", seed=seed, **point)
        found.append(
            Result.of(
                scenario,
                engine.simulate(scenario),
                engine,
                experiment="aqm",
                parameters={"aut": cc, **point},
            )
        )
    return found


@pytest.fixture(scope="module")
def pages(runs: list[Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("figures"), runs) / "runs"


@pytest.fixture
def page(browser: Browser, pages: Path, runs: list[Result]) -> Browser:
    """The page of NewReno with two flows and two seeds."""
    browser.open(pages / "none")  # so that the next address is another page
    browser.open(pages / runs[0].id / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    return browser


def place(browser: Browser, figure: str, across: float, panel: int = 0) -> tuple[float, float]:
    """A place in a panel, in pixels of the window."""
    x, y = browser.evaluate(
        f"""(() => {{
          const plot = ccperf.page.plots.get({figure!r});
          plot.area.scrollIntoView({{ block: "center" }});
          const box = plot.boxes[{panel}], area = plot.area.getBoundingClientRect();
          return [area.left + box.left + {across} * box.width, area.top + box.top + box.height / 2];
        }})()"""
    )
    return x, y


def mouse(browser: Browser, kind: str, at: tuple[float, float], **more: Any) -> None:
    browser.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=at[0], y=at[1], **more)


def key(browser: Browser, name: str, text: str = "") -> None:
    browser.call("Input.dispatchKeyEvent", type="keyDown", key=name, text=text)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key=name)


def readout(browser: Browser, figure: str) -> str:
    text: str = browser.evaluate(
        f"""(() => {{ const r = ccperf.page.plots.get({figure!r}).readout;
             return r.hidden ? "" : r.innerText; }})()"""
    )
    return text


def drag(browser: Browser, figure: str, start: float, end: float) -> None:
    mouse(browser, "Pressed", place(browser, figure, start), button="left", buttons=1, clickCount=1)
    mouse(browser, "Moved", place(browser, figure, end), button="left", buttons=1)
    mouse(browser, "Released", place(browser, figure, end), button="left", clickCount=1)


def domain(browser: Browser, figure: str) -> list[float]:
    found: list[float] = browser.evaluate(f"ccperf.page.plots.get({figure!r}).boxes[0].domain")
    return found


def test_values_under_the_pointer_are_those_of_the_run_with_their_units(
    page: Browser, runs: list[Result]
) -> None:
    mouse(page, "Moved", place(page, "time_series", 0.5, panel=1))
    text = readout(page, "time_series")
    assert "flow_1" in text
    assert "flow_2" in text
    assert "ms" in text
    cursor = page.evaluate("ccperf.page.link.cursor")
    flows = FlowSeries(runs[0].scenario, runs[0].recording)
    at = int(np.abs(flows.time - cursor).argmin())
    shown = page.evaluate(
        """(() => { const p = ccperf.page.plots.get("time_series");
             return p.valuesAt(p.boxes[1], ccperf.page.link.cursor).map((v) => v.y); })()"""
    )
    assert shown[:2] == pytest.approx(flows.srtt[at].tolist(), rel=1e-4)


def test_a_value_of_an_interval_is_drawn_over_all_of_it_the_first_one_too(page: Browser) -> None:
    left, first = page.evaluate(
        """(() => {
          const plot = ccperf.page.plots.get('time_series');
          const box = plot.boxes[2];
          const [series] = box.panel.series.filter(({ role }) => role === 'subject');
          const d = ccperf.axes.path(series, box);
          return [box.toX(0), Number(d.match(/^M([0-9.]+) /)[1])];
        })()"""
    )
    assert first == pytest.approx(left, abs=0.1)


def test_dragging_zooms_all_axes_of_time_and_a_double_click_shows_everything(
    page: Browser,
) -> None:
    whole = domain(page, "time_series")
    drag(page, "time_series", 0.25, 0.5)
    low, high = domain(page, "time_series")
    assert low == pytest.approx(whole[1] * 0.25, abs=0.1)
    assert high == pytest.approx(whole[1] * 0.5, abs=0.1)
    for linked in ("window", "queue"):
        assert domain(page, linked) == pytest.approx([low, high])
    # A plane of throughput and delay has no time.
    assert domain(page, "operating_point")[1] > 5
    at = place(page, "window", 0.5)
    for count in (1, 2):
        mouse(page, "Pressed", at, button="left", clickCount=count)
        mouse(page, "Released", at, button="left", clickCount=count)
    assert domain(page, "time_series") == pytest.approx(whole)


def test_the_cursor_stands_in_all_figures_over_time(page: Browser) -> None:
    mouse(page, "Moved", place(page, "queue", 0.5))
    assert readout(page, "queue")
    assert "%" in readout(page, "queue")
    for figure in ("time_series", "window"):
        assert page.evaluate(
            f"document.querySelectorAll('#figure-{figure} .cursor .hair').length"
        ) == page.evaluate(f"ccperf.page.plots.get({figure!r}).boxes.length")
        assert not readout(page, figure)


def test_keys_move_the_cursor_and_zoom_and_are_read_aloud(page: Browser) -> None:
    page.evaluate("ccperf.page.plots.get('time_series').area.focus()")
    for _ in range(3):
        key(page, "ArrowRight")
    page.wait_for("ccperf.page.plots.get('time_series').said.textContent.includes('flow_1')")
    whole = domain(page, "time_series")
    key(page, "+", "+")
    zoomed = domain(page, "time_series")
    assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) / 2)
    key(page, "0", "0")
    assert domain(page, "time_series") == pytest.approx(whole)


def test_a_legend_s_entry_switches_its_series_off_and_on(page: Browser) -> None:
    lines = "document.querySelectorAll('#figure-window .line').length"
    before = page.evaluate(lines)
    button = "[...document.querySelectorAll('#figure-window .legend button')][0]"
    page.evaluate(f"{button}.click()")
    assert page.evaluate(lines) < before
    assert page.evaluate(f"{button}.getAttribute('aria-pressed')") == "false"
    mouse(page, "Moved", place(page, "window", 0.5))
    assert "flow_1" not in readout(page, "window")
    page.evaluate(f"{button}.click()")
    assert page.evaluate(lines) == before


def test_a_double_click_in_the_legend_leaves_that_series_only(page: Browser) -> None:
    page.evaluate(
        """[...document.querySelectorAll('#figure-window .legend button')][1]
             .dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))"""
    )
    mouse(page, "Moved", place(page, "window", 0.5))
    assert "flow_2" in readout(page, "window")
    assert "flow_1" not in readout(page, "window")


def test_drops_are_ticks_where_they_happened(page: Browser, runs: list[Result]) -> None:
    links = FlowSeries(runs[0].scenario, runs[0].recording).links
    forward = links.names.index("btl_forward")
    when = links.time[links.drops[:, forward] > 0]
    assert when.size
    drawn = page.evaluate(
        """ccperf.page.plots.get("queue").figure.panels[1].series
             .filter((one) => one.shape === "ticks" && one.rank === 0)[0].x"""
    )
    assert drawn == pytest.approx(when.tolist())
    assert page.evaluate("document.querySelectorAll('#figure-queue .stroke').length") == 1


def test_the_optimum_has_shares_where_there_are_several_flows(page: Browser) -> None:
    said = page.evaluate(
        """[1, 2].map((all) => ccperf.figuresOf([{ ...[...ccperf.page.runs.values()][0], all }])
             .flatMap(({ roles }) => roles.map(([, label]) => label)))"""
    )
    assert {"optimum"} == set(said[0])
    assert {"optimum, equal shares"} == set(said[1])


def test_another_seed_or_all_of_them_are_shown(page: Browser, runs: list[Result]) -> None:
    choose = "(v) => { const s = document.querySelector('#runs select'); s.value = v; "
    choose += "s.dispatchEvent(new Event('change')); }"
    page.evaluate(f"({choose})({runs[1].id!r})")
    page.wait_for(f"[...ccperf.page.runs.keys()].join() === {runs[1].id!r}")
    assert runs[1].id in page.evaluate("location.hash")
    page.evaluate(f"({choose})('all')")
    page.wait_for("ccperf.page.runs.size === 2")
    legend = page.evaluate(
        "[...document.querySelectorAll('#figure-window .legend button')].map((b) => b.innerText)"
    )
    assert legend[:2] == ["seed 1", "seed 2"]


def test_a_run_is_found_and_laid_over_and_the_address_remembers(
    page: Browser, runs: list[Result], pages: Path
) -> None:
    page.evaluate("document.querySelector('#runs .finder input').focus()")
    page.call("Input.insertText", text="bbr k=2")
    page.wait_for("document.querySelectorAll('#runs .found li').length === 1")
    key(page, "Enter", "\r")
    page.wait_for("ccperf.page.runs.size === 2")
    entries = page.evaluate("ccperf.page.plots.get('time_series').entries")
    assert entries == ["TcpNewReno", "TcpBbr"]
    fragment = page.evaluate("location.hash")
    assert runs[2].id in fragment
    page.open(pages / "none")
    page.open(pages / runs[0].id / "index.html", fragment)
    page.wait_for("ccperf.page?.runs.size === 2")
    assert page.evaluate("document.querySelectorAll('.chips li').length") == 1
    page.evaluate("document.querySelector('.chips button').click()")
    page.wait_for("ccperf.page.runs.size === 1")
    assert page.evaluate("location.hash") == ""
    assert page.problems() == []


def test_neighbouring_points_are_one_key_away(page: Browser, runs: list[Result]) -> None:
    key(page, "l", "l")
    page.wait_for(f"location.href.includes({runs[3].id!r})")
    page.wait_for("document.readyState === 'complete'")
    key(page, "h", "h")
    page.wait_for(f"location.href.includes({runs[0].id!r})")
    page.wait_for("document.readyState === 'complete'")
    key(page, "j", "j")  # the algorithm before
    page.wait_for(f"location.href.includes({runs[2].id!r})")


def test_the_search_of_every_page_finds_runs_and_metrics(page: Browser) -> None:
    key(page, "/", "/")
    assert page.evaluate("document.activeElement.closest('header') !== null")
    page.call("Input.insertText", text="qdisc_delay")
    # The metric of the whole run, and that of its steady state.
    page.wait_for("document.querySelectorAll('header .found li').length === 2")
    key(page, "Enter", "\r")
    page.wait_for("location.href.endsWith('metrics.html#mean_qdisc_delay_l2')")


def draw_live(page: Browser, result: Result) -> None:
    """Draw a run from its tables, and compare the columns with those that the package computes."""
    tables = {
        name: {
            column: list(values) if isinstance(values, list) else values.tolist()
            for column, values in result.recording.tables[name].items()
        }
        for name in ("flows", "links", "flow_samples", "link_samples")
    }
    for name in ("flow_samples", "link_samples"):  # JSON has no NaN; typed arrays have
        tables[name] = {
            column: [None if value != value else value for value in values]
            for column, values in tables[name].items()
        }
    scenario = result.scenario.canonical()
    about = {
        "id": "live",
        "name": "in the page",
        "seed": 1,
        "flows": [
            {
                "algorithm": f["cc"]["type"],
                "segment": int(f["tcp"].get("SegmentSize", 536)),
                "headers": 42 if f["tcp"].get("Timestamp") == "false" else 54,
            }
            for f in scenario["flows"]
        ],
        "links": [
            {
                "qdisc": link[side]["qdisc"] is not None,
                "rates": next(steps_of(scenario, [f"{link['name']}_{side}"])),
            }
            for link in scenario["links"]
            for side in ("forward", "reverse")
        ],
    }
    page.evaluate(
        f"""(() => {{
          const tables = {json.dumps(tables)};
          for (const table of Object.values(tables))
            for (const [name, values] of Object.entries(table))
              if (typeof values[0] !== "string")
                table[name] = Float64Array.from(values, (v) => v ?? NaN);
          ccperf.page.show(ccperf.quantities(tables, {json.dumps(about)}));
        }})()"""
    )
    live = page.evaluate(
        """Object.fromEntries(Object.entries(ccperf.page.runs.get("live").columns)
             .map(([name, series]) => [name, series.map(({ y }) =>
               [...y].map((v) => Number.isNaN(v) ? null : v))]))"""
    )
    flows = FlowSeries(result.scenario, result.recording)
    wanted = quantities.columns(flows) | {
        f"optimum_{name}": values[:, None] for name, values in quantities.optima(flows).items()
    }
    assert live.keys() == wanted.keys()
    for name, series in wanted.items():
        found = np.array(live[name], dtype=float).T.reshape(series.shape)
        np.testing.assert_allclose(found, series, rtol=1e-12, atol=1e-9, err_msg=name)


def test_a_run_made_in_the_page_is_drawn_from_its_tables(page: Browser, runs: list[Result]) -> None:
    """What a simulation in the page hands over gives the columns that the package computes."""
    draw_live(page, runs[2])
    assert page.evaluate("ccperf.page.plots.get('window').entries") == ["TcpNewReno", "in the page"]
    page.evaluate("ccperf.page.remove('live')")
    entries = page.evaluate("ccperf.page.plots.get('window').entries")
    assert entries == ["flow_1 TcpNewReno", "flow_2 TcpNewReno"]


def test_a_rate_that_follows_a_trace_is_drawn_as_the_package_does(page: Browser) -> None:
    trace = "3.04mbps-poisson.trace"
    draw_live(page, ccperf.run("replay_rate_trace", cc="cubic", trace_file=trace, stop_time="3s"))
    page.evaluate("ccperf.page.remove('live')")


def test_what_is_stored_in_a_few_kilobytes_keeps_every_peak(
    page: Browser, runs: list[Result]
) -> None:
    result = runs[1]
    flows = FlowSeries(result.scenario, result.recording)
    for room in (packed.FULL, packed.SMALL):
        stored = {"id": "x", "name": "x", "seed": 2, **packed.pack(flows, room, ["", ""])}
        text = json.dumps(stored, separators=(",", ":"))
        assert len(text) <= room.size
        read = page.evaluate(
            f"""Object.entries(ccperf.unpack({text}).columns).map(([name, series]) => [name,
                 series.map(({{ x, y }}) => [[...x], [...y].map((v) => isNaN(v) ? null : v)])])"""
        )
        for name, series in read:
            values = {**quantities.columns(flows)}
            values |= {f"optimum_{n}": v[:, None] for n, v in quantities.optima(flows).items()}
            for column, (x, y) in enumerate(series):
                whole = values[name][:, column]
                known = np.array([value for value in y if value is not None])
                step = (np.nanmax(whole) - np.nanmin(whole)) / 4000 + abs(np.nanmax(whole)) * 1e-3
                if quantities.QUANTITIES.get(name) and (
                    quantities.QUANTITIES[name].shape == "ticks"
                ):
                    assert known.sum() == pytest.approx(whole.sum(), abs=step * known.size)
                    continue
                assert known.max() == pytest.approx(np.nanmax(whole), abs=step), name
                assert known.min() == pytest.approx(np.nanmin(whole), abs=step), name
                assert min(x) >= flows.time[0] - 1e-9
                assert max(x) <= flows.time[-1] + 1e-9


def test_redrawing_for_a_slider_is_fast(page: Browser) -> None:
    """A generous bound: on a quiet machine it takes some 10 ms."""
    took = page.evaluate(
        """(() => {
          const run = [...ccperf.page.runs.values()][0];
          ccperf.page.show({ ...run });
          const start = performance.now();
          for (let i = 0; i < 5; i++) ccperf.page.show({ ...run });
          return (performance.now() - start) / 5;
        })()"""
    )
    assert took < 500


def test_a_run_without_round_trips_is_drawn_without_them(browser: Browser, tmp_path: Path) -> None:
    """Over UDP nobody measures any."""
    engine = backends.get("native")
    scenario = Scenario.model_validate(
        {
            "stop_time": "1s",
            "nodes": ["a", "b"],
            "links": [{"name": "wire", "ends": ["a", "b"], "rate": "8Mbps", "delay": "5ms"}],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "transport": "UDP",
                    "application": {"type": "CBR", "rate": "4Mbps", "write": "1000B"},
                }
            ],
        }
    )
    run = Result.of(scenario, engine.simulate(scenario), engine)
    browser.open(built(tmp_path, [run]) / "runs" / run.id / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    drawn = browser.evaluate(
        """ccperf.page.plots.get("time_series").figure.panels.map((panel) =>
             panel.series.some((one) => one.role === "subject" && one.y.some(Number.isFinite)))"""
    )
    assert drawn == [False, False, True]
    assert browser.problems() == []
