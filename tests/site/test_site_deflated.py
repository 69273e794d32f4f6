"""Scripts of compressed data: what a page gets of them, byte for byte, and how small they are."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from site_browser import Browser
from site_html import bytes_of, text_of

from ccperf import site
from ccperf.site import deflated, engine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site without runs, which tests may write into."""
    folder = tmp_path_factory.mktemp("empty") / "site"
    site.build([], folder)
    return folder


@given(st.binary(min_size=1, max_size=64))
def test_characters_carry_bytes_and_need_no_escape(data: bytes) -> None:
    text = deflated.characters(data).decode("utf-16-le")
    assert bytes_of(text, len(data)) == data
    assert len(text) == -(-8 * len(data) // 15)
    # Neither a quote nor a line's end, and no half of a pair.
    assert all("\u0100" <= character <= "\u80ff" for character in text)


@pytest.mark.browser
def test_a_page_gets_the_bytes_that_were_given(browser: Browser, empty: Path) -> None:
    """Random ones, which do not get smaller: of each remainder by fifteen."""
    chance = random.Random(20261126)
    given = [chance.randbytes(size) for size in (*range(40), 100_000)]
    for index, data in enumerate(given):
        script = deflated.deflated(f"bytes {index}", data, "arrayBuffer")
        (empty / f"bytes-{index}.js").write_bytes(script)
    browser.open(empty / "index.html")
    said = browser.evaluate(
        f"""Promise.all([...Array({len(given)}).keys()].map(async (index) => {{
          const data = await ccperf.load(`bytes-${{index}}.js`, `bytes ${{index}}`);
          const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
          return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
        }}))"""
    )
    assert said == [hashlib.sha256(data).hexdigest() for data in given]
    assert browser.problems() == []


@pytest.mark.browser
def test_a_page_says_what_it_cannot_inflate(browser: Browser, empty: Path) -> None:
    script = text_of(deflated.deflated("damaged", b"abc" * 100))
    damaged = script[:-6] + chr(ord(script[-6]) ^ 0x40) + script[-5:]
    (empty / "damaged.js").write_text(damaged, encoding="utf-16")
    browser.open(empty / "index.html")
    said = browser.evaluate("ccperf.load('damaged.js', 'damaged').catch((e) => e.message)")
    assert said.startswith("this browser cannot inflate the data of this page: ")


@pytest.mark.skipif(not engine.module(), reason="needs the engine: make wasm")
def test_the_engine_is_a_script_of_at_most_900_kb() -> None:
    script = dict(engine.files_of_site())["static/engine.js"]
    assert len(script) <= 900_000
