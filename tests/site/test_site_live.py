"""Pages that simulate: settings changed by hand or by a link, and what the figures then show."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from site_browser import Browser
from site_built import built

import ccperf
from ccperf import site
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.experiments import what_if
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS
from ccperf.runs.result import Result
from ccperf.site import drawing, engine
from ccperf.site.drawing import ANSWERS

needs_engine = pytest.mark.skipif(not engine.module(), reason="needs the engine: make wasm")
browser_test = pytest.mark.browser

STATUS = "document.querySelector('#live [role=status]').textContent"
ALERT = "document.querySelector('#live [role=alert]').textContent"
COMMAND = "document.getElementById('live-command').textContent"
NUMBERS = (
    "[...document.querySelectorAll('#live-numbers tr')]"
    ".map((row) => [...row.cells].map((cell) => cell.textContent))"
)
RUNS = "[...ccperf.page.runs.keys()]"


@pytest.fixture(scope="module")
def browser(browser: Browser) -> Browser:
    if not engine.module():
        pytest.skip("needs the engine for browsers: make wasm")
    return browser


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.play(tmp_path_factory.mktemp("play") / "play")


def put(browser: Browser, **values: str) -> None:
    """Write into fields, as a reader does who types."""
    for name, value in values.items():
        browser.evaluate(
            f"""(() => {{
              const field = document.querySelector('#live [name="{name}"]');
              field.value = {json.dumps(value)};
              field.dispatchEvent(new Event('input', {{ bubbles: true }}));
            }})()"""
        )


def wait_for_run(browser: Browser, text: str = "simulated") -> None:
    browser.wait_for(f"{STATUS}.includes({json.dumps(text)})")


def opened(browser: Browser, page: Path, fragment: str = "") -> None:
    browser.open(page.parent / "metrics.html" if (page.parent / "metrics.html").exists() else page)
    browser.open(page, fragment)


@browser_test
def test_a_run_page_simulates_other_settings_beside_the_recorded_run(
    browser: Browser, published: Path
) -> None:
    opened(browser, published)
    browser.wait_for(f"{RUNS}.length === 1")
    # Nothing of the engine is loaded before it is asked for.
    assert not any("engine" in url for url in browser.requested() if "live_engine" not in url)
    browser.evaluate("document.querySelector('#live summary').click()")
    wait_for_run(browser, "As recorded.")
    put(browser, cc="TcpBbr", rtt="30ms")
    wait_for_run(browser)
    assert browser.evaluate(RUNS) == [published.parent.name, "live"]
    assert browser.evaluate("document.body.innerText").count("what-if cc=TcpBbr,rtt=30ms") == 1
    assert "what-if=cc%3DTcpBbr%2Crtt%3D30ms" in browser.evaluate("location.hash")
    browser.evaluate("document.querySelector('#live button.reset').click()")
    wait_for_run(browser, "As recorded.")
    assert browser.evaluate(RUNS) == [published.parent.name]
    assert browser.evaluate("location.hash") == ""
    assert browser.problems() == []
    assert all(url.startswith(("file://", "blob:")) for url in browser.requested())


@browser_test
def test_a_link_carries_the_settings_and_the_command_means_the_same(
    browser: Browser,
    play: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = "#what-if=cc%3DTcpCubic%2BTcpBbr%2Cflows%3D2%2Crtt%3D25ms%2Cstop_time%3D3s"
    opened(browser, play, link)
    wait_for_run(browser)
    assert browser.evaluate("document.querySelector('[name=against]').value") == "TcpBbr"
    command = browser.evaluate(COMMAND)
    settings = "cc=TcpCubic+TcpBbr,flows=2,rtt=25ms,stop_time=3s"
    assert command == f"ccperf run dumbbell --what-if {settings}"
    shown = browser.evaluate("ccperf.page.runs.get('live').means.throughput")
    monkeypatch.chdir(tmp_path)
    assert invoke([*command.split()[1:], "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    flows = run["flow_metrics"].values()
    assert shown == pytest.approx([flow["mean_throughput_l4"] for flow in flows], rel=1e-9)
    # And so do the numbers beneath the settings, to the metrics' definitions.
    metrics = [METRICS[name] for name in ANSWERS]
    wanted = [each.of_run(run[f"{each.scope}_metrics"]) for each in metrics]
    answers = browser.evaluate("ccperf.page.runs.get('live').answers")
    assert answers == pytest.approx(wanted, rel=1e-9)
    assert all(answers)
    rows = browser.evaluate(NUMBERS)
    assert rows[0] == ["", "simulated"]
    assert rows[1][0] == "Throughput of all flows"
    assert float(rows[1][1].split("\u202f")[0]) == pytest.approx(answers[0], rel=1e-3)


@browser_test
def test_what_is_simulated_stands_in_numbers_beside_the_recorded_run(
    browser: Browser, published: Path
) -> None:
    browser.open(published.parents[2] / "metrics.html")
    browser.open(published, "#what-if=rtt%3D200ms")
    wait_for_run(browser)
    head, *rows = browser.evaluate(NUMBERS)
    assert head == ["", "recorded", "rtt=200ms"]
    assert [row[0] for row in rows] == [METRICS[name].title for name in ANSWERS]
    srtt = [float(text.split("\u202f")[0]) for text in rows[1][1:]]
    assert srtt[1] > 190 > srtt[0]
    # The page's first headline is that of the recorded run.
    headline = browser.evaluate("document.querySelector('.answers dd').textContent")
    assert f"{srtt[0]:g}" in headline
    browser.evaluate("document.querySelector('#live button.reset').click()")
    wait_for_run(browser, "As recorded.")
    assert browser.evaluate("document.getElementById('live-numbers').hidden") is True


@browser_test
def test_numbers_of_a_long_run_are_of_all_its_samples(browser: Browser, play: Path) -> None:
    """Figures have room for 2,000 moments only."""
    link = "#what-if=rtt%3D10ms%2Cstop_time%3D130s"
    opened(browser, play, link)
    wait_for_run(browser, "130s simulated")
    scenario = what_if.what_if(what_if.playground(), {"rtt": "10ms", "stop_time": "130s"})
    native = backends.get("native")
    run = Result.of(scenario, native.simulate(scenario), native)
    assert run.recording.flow_samples.rows > 2 * 2_000
    answers = browser.evaluate("ccperf.page.runs.get('live').answers")
    assert answers == pytest.approx(drawing.answers(run), rel=1e-9)


EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


@needs_engine
@browser_test
def test_a_page_says_that_it_cannot_run_the_reader_s_own_algorithm(
    browser: Browser, tmp_path: Path
) -> None:
    own = f"{EXAMPLES / 'mycca.py'}:MyCca"
    run = ccperf.run("aqm", cc=own, k=1, qdisc="fifo", stop_time="1s")
    folder = built(tmp_path, [run])
    (page,) = folder.glob("runs/*/index.html")
    opened(browser, page)
    browser.evaluate("document.querySelector('#live summary').click()")
    wait_for_run(browser, "Choose another algorithm")
    fields = "#live :is(input, select):not([name=cc], [name=against])"
    states = f"[...document.querySelectorAll('{fields}')].map((each) => each.disabled)"
    assert all(browser.evaluate(states))
    shown = "document.querySelector('#live [name=cc]').selectedOptions[0].textContent"
    assert browser.evaluate(shown) == "mycca.py:MyCca (your own)"
    assert "A page cannot run your own code" in browser.evaluate(
        "document.querySelector('#live .note').textContent"
    )
    assert browser.evaluate(ALERT) == ""
    put(browser, cc="TcpCubic")
    wait_for_run(browser)
    assert not any(browser.evaluate(states))
    put(browser, rtt="40ms")
    wait_for_run(browser, "Run 2:")
    assert browser.evaluate(NUMBERS)[0] == ["", "recorded", "cc=TcpCubic,rtt=40ms"]
    assert browser.problems() == []


@needs_engine
def test_licences_of_the_engine_go_where_it_goes(folder: Path) -> None:
    notices = (folder / "static/notices.txt").read_text("utf-8")
    assert "Copyright (c) 2015 Danny Guo" in notices  # strsim's, under MIT
    assert "Apache License" in notices
    assert "static/notices.txt" in (folder / "play.html").read_text("utf-8")


@needs_engine
def test_where_no_setting_replaces_own_code_none_is_offered(tmp_path: Path) -> None:
    own = f"{EXAMPLES / 'myqdisc.py'}:MyQueue"
    run = ccperf.run("aqm", cc="cubic", k=1, qdisc=own, stop_time="1s")
    (page,) = built(tmp_path, [run]).glob("runs/*/index.html")
    text = " ".join(page.read_text().split())
    assert 'id="live"' not in text
    assert "it cannot run your own code (<code>myqdisc.py:MyQueue</code>)" in text


def test_a_page_says_which_version_of_own_code_ran(tmp_path: Path) -> None:
    """The name of a file says nothing of what was in it."""
    own = EXAMPLES / "mycca.py"
    run = ccperf.run("aqm", cc=f"{own}:MyCca", k=1, qdisc="fifo", stop_time="300ms")
    (page,) = built(tmp_path, [run]).glob("runs/*/index.html")
    digest = hashlib.sha256(own.read_bytes()).hexdigest()
    said = f"<dt>Code of mycca.py:MyCca</dt><dd>SHA-256 <code>{digest}</code></dd>"
    assert said in page.read_text()


@browser_test
def test_a_slider_writes_its_field_and_simulates(browser: Browser, play: Path) -> None:
    opened(browser, play)
    wait_for_run(browser)
    before = browser.evaluate("ccperf.page.runs.get('live').means.throughput")
    put(browser, **{"rate-slider": "7.6"})
    assert browser.evaluate("document.querySelector('[name=rate]').value") == "40Mbps"
    browser.wait_for(f"ccperf.page.runs.get('live').means.throughput[0] > 2 * {before[0]}")
    assert browser.evaluate(COMMAND).endswith("--what-if rate=40Mbps")


@browser_test
def test_who_takes_turns_with_one_flow_gets_a_second_one(browser: Browser, play: Path) -> None:
    opened(browser, play)
    wait_for_run(browser)
    put(browser, against="TcpBbr")
    browser.wait_for("ccperf.page.runs.get('live').means.throughput.length === 2")
    assert browser.evaluate(COMMAND).endswith("--what-if cc=TcpCubic+TcpBbr,flows=2")


@browser_test
def test_what_no_setting_can_say_is_not_offered(browser: Browser, play: Path) -> None:
    """It would be shown, and something else simulated."""
    opened(browser, play, "#what-if=flows%3D2")
    wait_for_run(browser)
    none = "document.querySelector('[name=qdisc]').options[0]"
    assert browser.evaluate(f"[{none}.text, {none}.disabled]") == ["none", True]
    against = "document.querySelector('[name=against]').disabled"
    assert not browser.evaluate(against)
    put(browser, cc="", against="TcpBbr")
    browser.wait_for(against)
    # Those that are there, and not BBR alone.
    assert browser.evaluate(COMMAND) == "ccperf run dumbbell --what-if flows=2"


@browser_test
def test_what_cannot_be_is_told_at_its_field(browser: Browser, play: Path) -> None:
    opened(browser, play)
    wait_for_run(browser)
    put(browser, rtt="1ms")
    browser.wait_for(f"{ALERT}.includes('too short')")
    invalid = "[...document.querySelectorAll('#live [aria-invalid]')].map((each) => each.name)"
    assert browser.evaluate(invalid) == ["rtt"]
    put(browser, rtt="40ms")
    browser.wait_for(f"{ALERT} === ''")
    for count in ("2.5", "-3", "two"):
        put(browser, flows=count)
        browser.wait_for(f"{ALERT} === 'flows: `{count}` is not a whole number'")
    assert browser.evaluate(invalid) == ["flows"]
    put(browser, flows="2", stop_time="0s")
    told = "stop_time: 0s leaves nothing to simulate; write a time above 0"
    browser.wait_for(f"{ALERT} === '{told}'")
    put(browser, stop_time="5s")
    browser.wait_for(f"{ALERT} === ''")
    assert browser.evaluate(invalid) == []


@browser_test
def test_a_long_run_shows_itself_on_the_way_and_is_cancelled(browser: Browser, play: Path) -> None:
    opened(browser, play)
    wait_for_run(browser)
    put(browser, stop_time="200s", flows="4", rate="1Gbps")
    browser.wait_for("ccperf.page.runs.get('live').flows.length === 4")
    assert browser.evaluate("ccperf.page.runs.get('live').end") < 200
    assert browser.evaluate("document.querySelector('#live progress').hidden") is False
    browser.evaluate("document.querySelector('#live button.cancel').click()")
    wait_for_run(browser, "Cancelled.")
    assert browser.evaluate("document.querySelector('#live progress').hidden") is True
    put(browser, stop_time="1s")
    wait_for_run(browser, "1s simulated")


@browser_test
def test_an_engine_that_fails_says_so_and_is_started_anew(browser: Browser, play: Path) -> None:
    opened(browser, play)
    wait_for_run(browser)
    # The next worker fails at one setting, as a trap of the module makes it.
    browser.evaluate(
        """(() => {
          const trap = "if (settings.includes('777')) throw new Error('unreachable');";
          const text = String(ccperf.liveWorker).replace("for (;;) {", "for (;;) { " + trap);
          ccperf.liveWorker = { toString: () => text };
          const start = ccperf.Engine.prototype.restart;
          globalThis.starts = 0;
          ccperf.Engine.prototype.restart = function () { starts++; start.call(this); };
        })()"""
    )
    browser.evaluate("ccperf.Engine.start('').then((engine) => { globalThis.own = engine; })")
    ask = "own.simulate({scenario}, {{ seed: {seed} }}).then(() => 'done', (e) => e.message)"
    scenario = json.dumps(what_if.playground().canonical())
    said = browser.evaluate(ask.format(scenario=scenario, seed=777))
    assert said.startswith("The simulation failed: ")
    assert browser.evaluate("starts") == 2
    assert browser.evaluate(ask.format(scenario=scenario, seed=5)) == "done"


@browser_test
@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=iso-8859-1"])
def test_a_server_sends_the_module_itself(browser: Browser, play: Path, charset: str) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        extensions_map: ClassVar = {
            **SimpleHTTPRequestHandler.extensions_map,
            ".js": f"text/javascript{charset}",
        }

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=play.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.events.clear()
        url = f"http://127.0.0.1:{server.server_port}/play.html"
        browser.call("Page.navigate", url=url)
        browser.wait_for(
            f"location.href === {json.dumps(url)} && document.readyState === 'complete'"
        )
        wait_for_run(browser)
        assert browser.problems() == []
        names = [address.rpartition("/")[2] for address in browser.requested()]
        assert "engine.js" in names
    finally:
        server.shutdown()
        server.server_close()


@browser_test
def test_the_panel_fits_a_phone(browser: Browser, play: Path) -> None:
    browser.size(375)
    try:
        opened(browser, play)
        wait_for_run(browser)
        assert browser.evaluate("document.documentElement.scrollWidth") <= 375
    finally:
        browser.size(1280)


def test_without_the_engine_pages_say_so(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccperf.site import pages

    absent = engine.EngineView(False)
    monkeypatch.setattr(engine, "module", lambda: b"")
    monkeypatch.setattr(engine, "view", lambda: absent)
    pages._environment.cache_clear()
    try:
        site.build([database], tmp_path / "site")
        pages_of_runs = [
            path.read_text() for path in (tmp_path / "site" / "runs").glob("*/index.html")
        ]
        # Runs that drew nothing have nothing to change, either.
        with_figures = [page for page in pages_of_runs if 'id="plots"' in page]
        assert with_figures
        assert all("built without the engine for browsers" in page for page in with_figures)
        assert not any("wasm-unsafe-eval" in page for page in pages_of_runs)
        assert not list((tmp_path / "site").rglob("engine.*"))
        with pytest.raises(UsageError, match="make wasm"):
            site.play(tmp_path / "play")
    finally:
        pages._environment.cache_clear()


@needs_engine
def test_play_writes_a_page_and_leaves_a_site_as_it_is(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["play", "--no-open"]) == 0
    assert (tmp_path / "play" / "play.html").is_file()
    # Who serves the folder has its front page seen first.
    front = (tmp_path / "play" / "index.html").read_text(encoding="utf-8")
    assert "There are no runs yet: " in front
    assert '<a href="play.html">Play</a> simulates without any.' in front
    site.build([database], tmp_path / "site")
    before = sorted((tmp_path / "site").rglob("*"))
    assert invoke(["play", "--no-open", "-o", "site"]) == 0
    assert sorted((tmp_path / "site").rglob("*")) == before


@needs_engine
def test_only_pages_that_simulate_may_compile(folder: Path, published: Path) -> None:
    assert "wasm-unsafe-eval" in published.read_text()
    assert "wasm-unsafe-eval" not in (folder / "index.html").read_text()
