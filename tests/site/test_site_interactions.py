"""What else a reader does on pages: marks, distributions, the network, the seeds, the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from site_browser import Browser
from site_built import built

from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import FlowSeries
from ccperf.runs.result import Result
from ccperf.site import engine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    """Two flows whose packets are marked, with three seeds that draw their starts."""
    native = backends.get("native")
    experiment = catalogue.get("ecn")
    point = {"k": "2", "ce_threshold": "1ms"}
    found = []
    for seed in (1, 2, 3):
        settings = {**point, "stop_time": "3s", "seed": seed, "jitter": "10ms"}
        scenario = experiment.scenario("TcpDctcp", **settings)
        found.append(
            Result.of(
                scenario,
                native.simulate(scenario),
                native,
                experiment="ecn",
                parameters=experiment.setup("TcpDctcp", **settings).labels,
            )
        )
    return found


@pytest.fixture(scope="module")
def folder(runs: list[Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("interactions"), runs)


@pytest.fixture
def page(browser: Browser, folder: Path, runs: list[Result]) -> Browser:
    browser.open(folder / "none")  # so that the next address is another page
    browser.open(folder / "runs" / runs[0].id / "index.html")
    browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
    return browser


def test_marks_are_ticks_where_they_happened(page: Browser, runs: list[Result]) -> None:
    links = FlowSeries(runs[0].scenario, runs[0].recording).links
    marked = links.marks[:, links.names.index("btl_forward")] > 0
    assert marked.any()
    drawn = page.evaluate(
        """ccperf.page.plots.get("queue").figure.panels[1].series
             .filter((one) => one.shape === "ticks" && one.label === "marks")[0].x"""
    )
    assert drawn == pytest.approx(links.time[marked].tolist())


def test_a_distribution_is_that_of_the_samples(page: Browser, runs: list[Result]) -> None:
    flows = FlowSeries(runs[0].scenario, runs[0].recording)
    for panel, series in enumerate((flows.throughput_l4, flows.srtt)):
        shown = page.evaluate(
            f"""ccperf.page.plots.get("distribution").figure.panels[{panel}].series
                  .filter((one) => one.role === "subject").map(({{ x, y }}) => [[...x], [...y]])"""
        )
        assert len(shown) == 2
        for flow, (values, shares) in enumerate(shown):
            known = np.sort(series[:, flow][~np.isnan(series[:, flow])])
            for value, share in zip(values, shares, strict=True):
                # A point (v, p): about the share p of the samples is at most v.
                below = np.searchsorted(known, value * (1 + 1e-4), side="right") / known.size
                under = np.searchsorted(known, value * (1 - 1e-4), side="left") / known.size
                assert under - 0.03 <= share <= below + 0.03


def test_the_table_of_seeds_is_sorted_and_shows_each_run(page: Browser, runs: list[Result]) -> None:
    rows = "[...document.querySelectorAll('table.seeds tbody tr')]"
    column = "[...document.querySelectorAll('table.seeds thead th')]"
    values = f"{rows}.map((row) => Number(row.cells[3].dataset.order ?? row.cells[3].textContent))"
    assert page.evaluate(f"{rows}.map((row) => row.cells[1].textContent)") == [r.id for r in runs]
    page.evaluate(f"{column}[3].querySelector('button').click()")
    rising = page.evaluate(values)
    assert rising == sorted(rising)
    page.evaluate(f"{column}[3].querySelector('button').click()")
    assert page.evaluate(values) == rising[::-1]


def test_all_seeds_over_each_other_differ(page: Browser) -> None:
    page.evaluate(
        """(() => { const s = document.querySelector("#runs select"); s.value = "all";
             s.dispatchEvent(new Event("change")); })()"""
    )
    page.wait_for("ccperf.page.runs.size === 3")
    means = page.evaluate("[...ccperf.page.runs.values()].map((run) => run.means.srtt.join())")
    assert len(set(means)) == 3


def test_an_experiment_draws_its_network(browser: Browser, folder: Path) -> None:
    browser.open(folder / "experiments" / "ecn.html")
    texts = browser.evaluate(
        "[...document.querySelectorAll('svg.topology text')].map((text) => text.textContent)"
    )
    assert {"src_0", "src_1", "dst_0", "dst_1"} <= set(texts)
    # The link that both flows share says what it is.
    assert any("Mbps" in text for text in texts)
    assert browser.evaluate("document.querySelectorAll('svg.topology path.narrow').length") == 1


def test_the_command_of_other_settings_is_copied(page: Browser) -> None:
    if not engine.module():
        pytest.skip("needs the engine for browsers: make wasm")
    page.call(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    page.call("Page.bringToFront")
    page.evaluate("document.querySelector('#live summary').click()")
    page.wait_for("!document.querySelector('#live fieldset').disabled")
    page.evaluate(
        """(() => { const field = document.querySelector("#live [name=rtt]"); field.value = "40ms";
             field.dispatchEvent(new Event("input", { bubbles: true })); })()"""
    )
    page.wait_for("document.getElementById('live-command').textContent.includes('rtt=40ms')")
    page.evaluate("document.querySelector('button[data-copy=live-command]').click()")
    page.wait_for(
        "document.querySelector('button[data-copy=live-command]').textContent === 'Copied'"
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("ccperf run ecn --cc TcpDctcp")
    assert copied.endswith("--what-if rtt=40ms")
