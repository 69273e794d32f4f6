"""The site in a real browser: opened from its folder, looked at, clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from site_browser import Browser
from site_html import parse

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser

WIDTHS = (375, 768, 1280)


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Browser:
    """An experiment, as wide as a desk, nothing typed."""
    browser.size(1280)
    browser.media()
    browser.open(folder / "experiments" / "aqm.html")
    return browser


def some_pages(folder: Path, published: Path) -> list[Path]:
    runs = sorted((folder / "runs").glob("*/index.html"))
    assert published in runs
    return [
        folder / "index.html",
        folder / "metrics.html",
        folder / "fidelity.html",
        *sorted((folder / "experiments").glob("*.html")),
        *sorted((folder / "algorithms").glob("*.html")),
        *runs,
    ]


def visible_rows(browser: Browser, table: int = 0) -> list[str]:
    """The first cells of the rows shown, without white space at the ends."""
    cells: list[str] = browser.evaluate(
        f"""[...document.querySelectorAll("table.runs")[{table}].tBodies[0].rows]
            .filter((row) => row.offsetParent !== null)
            .map((row) => row.cells[0].querySelector("code").textContent)"""
    )
    return cells


def press(browser: Browser, key: str, command: str) -> None:
    browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, commands=[command])


def column(browser: Browser, head: str, table: int = 0) -> list[str]:
    cells: list[str] = browser.evaluate(
        f"""(() => {{
          const table = document.querySelectorAll("table.runs")[{table}];
          const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
          const index = heads.findIndex((text) => text.startsWith({head!r}));
          return [...table.tBodies[0].rows].map((row) => row.cells[index].textContent.trim());
        }})()"""
    )
    return cells


def click_head(browser: Browser, head: str, table: int = 0) -> None:
    browser.evaluate(
        f"""[...document.querySelectorAll("table.runs")[{table}].querySelectorAll("th button")]
            .find((button) => button.textContent.startsWith({head!r})).click()"""
    )


def type_words(browser: Browser, words: str) -> None:
    browser.evaluate("document.querySelector('input[name=words]').select()")
    browser.call("Input.insertText", text=words)


def test_pages_open_from_a_folder_without_complaints(
    browser: Browser, folder: Path, published: Path
) -> None:
    for page in some_pages(folder, published):
        browser.open(page)
        browser.evaluate("document.querySelectorAll('img').forEach((i) => { i.loading = 'eager' })")
        browser.wait_for("[...document.images].every((image) => image.complete)")
        assert browser.problems() == [], page
        assert browser.requested(), page
        assert all(url.startswith("file://") for url in browser.requested()), page
        assert browser.evaluate("[...document.images].every((i) => i.naturalWidth > 100)"), page


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(
    browser: Browser, folder: Path, published: Path, width: int
) -> None:
    browser.size(width)
    for page in some_pages(folder, published):
        browser.open(page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, page
        # Nothing sticks out of the window unless it can be scrolled to.
        outside = browser.evaluate(
            """[...document.querySelectorAll("main *")]
              .filter((e) => !e.closest(".scroll") && e.getBoundingClientRect().right > innerWidth)
              .map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert outside == [], page


def test_a_click_on_a_head_sorts_and_another_turns_round(opened: Browser) -> None:
    click_head(opened, "Smoothed RTT")
    values = [
        float(text.replace(",", "")) for text in column(opened, "Smoothed RTT") if text != "–"
    ]
    assert values == sorted(values)
    assert len(values) >= 3
    assert opened.evaluate("document.querySelectorAll('th[aria-sort=ascending]').length") == 1
    click_head(opened, "Smoothed RTT")
    texts = column(opened, "Smoothed RTT")
    values = [float(text.replace(",", "")) for text in texts if text != "–"]
    assert values == sorted(values, reverse=True)
    # What has no value stays at the end.
    assert "–" not in texts[: len(values)]
    assert opened.evaluate("document.querySelectorAll('th[aria-sort=descending]').length") == 1


def test_rates_are_sorted_by_size_not_by_letter(opened: Browser, folder: Path) -> None:
    opened.open(folder / "experiments" / "scalability.html")
    click_head(opened, "bw")
    assert column(opened, "bw") == ["32Mbps", "256Mbps"]
    click_head(opened, "bw")
    assert column(opened, "bw") == ["256Mbps", "32Mbps"]


def test_the_filter_keeps_runs_that_have_every_word(opened: Browser) -> None:
    everything = opened.evaluate("document.querySelectorAll('tr[data-search]').length")
    assert opened.evaluate("document.querySelector('form.filter output').textContent") == (
        f"{everything} runs"
    )
    type_words(opened, "AQM fifo")
    assert opened.evaluate("document.querySelector('form.filter output').textContent") == (
        f"2 of {everything} runs"
    )
    assert len(visible_rows(opened)) == 2
    type_words(opened, "no such thing")
    assert not visible_rows(opened)
    press(opened, "a", "selectAll")
    press(opened, "Backspace", "deleteBackward")
    assert len(visible_rows(opened)) == everything


def test_published_points_can_be_picked(opened: Browser, published: Path) -> None:
    opened.evaluate("document.querySelector('input[name=published]').click()")
    assert visible_rows(opened) == [published.parent.name[:8]]


def test_the_copy_button_copies_the_command(browser: Browser, published: Path) -> None:
    browser.open(published)
    (code,) = [
        code for code in parse(published).named("code") if code.attributes.get("id") == "command"
    ]
    browser.call(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    browser.call("Page.bringToFront")
    # Chromium refuses the clipboard to a page in the background.
    browser.wait_for("document.hasFocus()")
    # The label would be back after 1.5 s, before a busy machine has looked.
    browser.evaluate("window.setTimeout = () => 0")
    browser.evaluate("document.querySelector('button.copy[data-copy=command]').click()")
    browser.wait_for(
        "document.querySelector('button.copy[data-copy=command]').textContent === 'Copied'"
    )
    assert browser.evaluate("navigator.clipboard.readText()") == code.text


def test_copying_works_where_the_clipboard_is_denied(browser: Browser, published: Path) -> None:
    browser.open(published)
    browser.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))")
    browser.evaluate("document.querySelector('button.copy[data-copy=command]').click()")
    browser.wait_for(
        "document.querySelector('button.copy[data-copy=command]').textContent !== 'Copy'"
    )
    (code,) = [
        code for code in parse(published).named("code") if code.attributes.get("id") == "command"
    ]
    assert browser.evaluate("getSelection().toString()") == code.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser: Browser, folder: Path, published: Path, scheme: str) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1 between every text and what is behind it."""
    browser.size(1280)
    browser.media(prefers_color_scheme=scheme)
    for page in (
        folder / "index.html",
        folder / "metrics.html",
        folder / "fidelity.html",
        folder / "experiments" / "aqm.html",
        folder / "algorithms" / "TcpNewReno.html",
        published,
    ):
        browser.open(page)
        assert browser.evaluate(_LOW_CONTRAST) == [], page
    browser.media()


def test_a_print_has_everything_and_no_buttons(browser: Browser, published: Path) -> None:
    browser.size(700)
    browser.media("print")
    browser.open(published)
    assert (
        browser.evaluate("document.querySelector('button.copy[data-copy=command]').offsetParent")
        is None
    )
    assert browser.evaluate(
        """[...document.querySelectorAll(".scroll")]
          .every((e) => e.scrollHeight <= e.clientHeight + 1)"""
    )
    browser.media()
    browser.size(1280)


def test_a_print_is_as_wide_as_the_paper_and_names_its_question(
    browser: Browser, folder: Path, published: Path
) -> None:
    """Of buttons there is left what is said by one: the chosen question, and heads of columns."""
    browser.size(700)
    browser.media("print")
    try:
        for page in (folder / "experiments" / "aqm.html", folder / "index.html", published):
            browser.open(page)
            shown = browser.evaluate(
                """[...document.querySelectorAll("button")].filter((e) => e.offsetParent !== null)
                  .filter((e) => e.closest("th, .legend") === null).map((e) => e.textContent)"""
            )
            assert shown == (["Throughput"] if page == folder / "index.html" else [])
            beyond = browser.evaluate(
                """[...document.querySelectorAll("main *")].map((e) => e.tagName + " " + e.className
                  + " " + Math.round(e.getBoundingClientRect().right)).filter((text) =>
                  text.split(" ").at(-1) > document.documentElement.clientWidth + 1)"""
            )
            # Five flows in two windows are wider than any paper.
            assert beyond == [] or page == published, page
    finally:
        browser.media()
        browser.size(1280)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_edges_of_fields_stand_out(browser: Browser, folder: Path, scheme: str) -> None:
    """WCAG 2.2, 1.4.11: three to one against what is in them."""
    browser.media(prefers_color_scheme=scheme)
    browser.open(folder / "play.html")
    edges = browser.evaluate(_EDGES)
    browser.media()
    assert len(edges) >= 8
    assert min(edges) >= 3


#: How much lighter or darker the edge of each field is than its inside.
_EDGES = """
(() => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3)
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
  return [...document.querySelectorAll("main input:not([type=range]), main select")]
    .filter((field) => field.offsetParent !== null)
    .map((field) => getComputedStyle(field))
    .map((look) => [light(look.borderTopColor), light(look.backgroundColor)])
    .map((both) => Math.max(...both) / Math.min(...both));
})()
"""


def test_pages_say_everything_without_their_script(
    browser: Browser, folder: Path, published: Path
) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        for page in (folder / "index.html", published):
            browser.open(page)
            tree = parse(page)
            assert all("hidden" in form.attributes for form in tree.named("form"))
            within = [button for form in tree.named("form") for button in form.named("button")]
            for button in tree.named("button"):
                assert "hidden" in button.attributes or button in within, (
                    "a button that does nothing is shown"
                )
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


_LOW_CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const found = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || element.offsetParent === null || element.closest(".hidden, .skip")) continue;
    const behind = [];
    for (let e = element; e; e = e.parentElement)
      behind.unshift(getComputedStyle(e).backgroundColor);
    const paper = over(behind);
    const ink = over([...behind, getComputedStyle(element).color]);
    const [a, b] = [light(paper), light(ink)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.add(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 90)}`);
  }
  return [...found];
})()
"""
