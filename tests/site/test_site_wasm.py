"""The engine in a real browser records what the native one does, byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from packed import pack
from site_browser import Browser

from ccperf import _native
from ccperf.experiments import catalogue
from ccperf.verify import matrix

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.scenario import Scenario

pytestmark = pytest.mark.browser

MODULE = files("ccperf") / "data" / "engine.wasm"
HAS_MODULE = MODULE.is_file() and len(MODULE.read_bytes()) > 0

#: Substrings of names, and how many of the scenarios that have them.
CHOSEN = {
    "TcpBbr": 5,
    "TcpCubic": 5,
    "RedQueueDisc": 4,
    "loss/": 4,
    "TcpHybla": 2,
    "poisson": 3,
    "udp/": 2,
    "workload": 3,
    "FqCoDel": 2,
}

_LOAD = """(async () => {
  const bytes = Uint8Array.from(atob('%s'), c => c.charCodeAt(0));
  globalThis.engine = (await WebAssembly.instantiate(bytes, {})).instance.exports;
  globalThis.answer = () =>
    new Uint8Array(engine.memory.buffer, engine.output(), engine.output_length()).slice();
  globalThis.give = (text) => {
    const bytes = new TextEncoder().encode(text);
    const place = engine.input(bytes.length);
    new Uint8Array(engine.memory.buffer).set(bytes, place);
    return bytes.length;
  };
  globalThis.simulate = (text) => {
    const start = performance.now();
    if (engine.open(give(text)) !== 1 || engine.finish() !== 0) {
      throw new Error(new TextDecoder().decode(answer()));
    }
    return performance.now() - start;
  };
  globalThis.hashed = async () => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', answer()));
    return Array.from(digest).map(x => x.toString(16).padStart(2, '0')).join('');
  };
})()"""


@pytest.fixture(scope="module")
def browser(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    if not HAS_MODULE:
        pytest.skip("needs the engine for browsers: make wasm")
    page: Path = tmp_path_factory.mktemp("page") / "page.html"
    page.write_text("<!doctype html><title>engine</title>")
    browser.open(page)
    browser.evaluate(_LOAD % base64.b64encode(MODULE.read_bytes()).decode())
    return browser


def chosen() -> list[tuple[str, Scenario]]:
    cases = list(matrix.cases())
    found = {}
    for part, count in CHOSEN.items():
        named = [case for case in cases if part in case.name and not case.heavy]
        found |= {
            case.name: case.scenario for case in named[:: max(1, len(named) // count)][:count]
        }
    return list(found.items())


def native(scenario: Scenario) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    tables = _native.Simulation(scenario.lowered()).finish()
    return tables, (time.perf_counter() - start) * 1e3


def text(scenario: Scenario) -> str:
    return json.dumps(json.dumps(scenario.canonical()))


def test_tables_of_the_browser_are_those_of_the_native_engine(browser: Browser) -> None:
    scenarios = chosen()
    assert len(scenarios) >= 20
    ours = theirs = 0.0
    for name, scenario in scenarios:
        tables, wall = native(scenario)
        ours += wall
        theirs += browser.evaluate(f"simulate({text(scenario)})")
        digest = hashlib.sha256(pack(tables)).hexdigest()
        assert browser.evaluate("hashed()") == digest, name
    print(f"{len(scenarios)} scenarios, {theirs / ours:.2f} times the native engine's time")


def test_steps_and_settings_leave_what_the_native_engine_leaves(browser: Browser) -> None:
    scenario = catalogue.get("aqm").scenario("TcpCubic", k="1", stop_time="3s")
    settings = {"cc": ["TcpBbr"], "flows": 2, "rtt": "40ms", "seed": 9}
    changed = json.loads(_native.what_if(scenario.model_dump_json(), json.dumps(settings)))
    steps, opened = browser.evaluate(
        f"""(() => {{
          const length = new TextEncoder().encode({text(scenario)}).length;
          give({text(scenario)} + {json.dumps(json.dumps(settings))});
          engine.open(length);
          const opened = new TextDecoder().decode(answer());
          let steps = 0;
          while (engine.advance(2000) === 1) {{ engine.so_far(); steps++; }}
          engine.finish();
          return [steps, opened];
        }})()"""
    )
    assert steps > 10
    assert json.loads(opened) == changed
    tables = _native.Simulation(_native.lower(json.dumps(changed))).finish()
    assert browser.evaluate("hashed()") == hashlib.sha256(pack(tables)).hexdigest()


def test_a_run_of_the_catalogue_answers_soon(browser: Browser) -> None:
    """Goal: three times the native time; twice that, since others may be at work."""
    for name in ("aqm", "ecn", "scalability"):
        scenario = catalogue.get(name).scenario("TcpCubic")
        walls = [browser.evaluate(f"simulate({text(scenario)})") for _ in range(5)]
        best = min(native(scenario)[1] for _ in range(5))
        print(f"{name}: {min(walls):.0f} ms, {min(walls) / best:.2f} times the native engine's")
        assert min(walls) < 6 * best, name
