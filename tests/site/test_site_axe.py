"""Every kind of page, asked by axe-core what people with assistive technology could not use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from site_browser import Browser

from ccperf.site import engine

if TYPE_CHECKING:
    pass

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: npm ci --prefix tests/site"),
]


def open_all(browser: Browser) -> None:
    """Open what a page of runs has to simulate with, with a run made and a mistake told."""
    browser.evaluate("document.querySelector('#live').open = true")
    browser.wait_for("!document.querySelector('#live fieldset').disabled")
    for value, sign in (("40ms", "simulated"), ("40", "")):
        browser.evaluate(
            f"""(() => {{ const field = document.querySelector("#live [name=rtt]");
                 field.value = "{value}";
                 field.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()"""
        )
        status = "document.querySelector('#live [role=status]').textContent"
        alert = "document.querySelector('#live [role=alert]')"
        browser.wait_for(f"{status}.includes('{sign}')" if sign else f"!{alert}.hidden")
    browser.evaluate("document.querySelector('#runs .buttons button').click()")
    browser.wait_for("ccperf.page.plots.get('window').figure.panels.length === 2")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_no_violations(
    browser: Browser, folder: Path, published: Path, width: int, scheme: str
) -> None:
    browser.size(width)
    browser.media(prefers_color_scheme=scheme)
    pages = [
        folder / "index.html",
        folder / "experiments" / "aqm.html",
        folder / "algorithms" / "TcpNewReno.html",
        folder / "metrics.html",
        folder / "fidelity.html",
        folder / "ns3.html",
        folder / "play.html",
        published,
    ]
    found = {}
    for page in pages:
        browser.open(page)
        if page == published:
            browser.wait_for("ccperf.page?.plots.size === 5")
        if page == published and engine.module():
            open_all(browser)
        if page.parent.name == "experiments":
            browser.wait_for("globalThis.ccperf?.experiment")
            browser.evaluate("document.getElementById('series').open = true")
            browser.wait_for("ccperf.experiment.plots.has('distribution')")
        # By the protocol, which the pages' policy does not bind.
        browser.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
        violations = browser.evaluate(
            """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
                 violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html)]))"""
        )
        if violations:
            found[page.name] = violations
    browser.media()
    assert not found
