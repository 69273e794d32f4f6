"""A site of real, short runs of the catalogue and of a scenario of one's own, built once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from site_browser import Browser, executable

from ccperf import site
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Experiment, parameters, stop time.
POINTS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("ecn", {"k": "1", "ce_threshold": "10ms"}, "1s"),
    ("ecn", {"k": "2", "ce_threshold": "2ms"}, "1s"),
    ("aqm", {"k": "5", "qdisc": "FqCoDelQueueDisc"}, "15s"),
    ("aqm", {"k": "5", "qdisc": "FqCoDelQueueDisc"}, "1s"),
    ("aqm", {"k": "1", "qdisc": "FifoQueueDisc"}, "1s"),
    ("aqm", {"k": "10", "qdisc": "FifoQueueDisc"}, "1s"),
    ("scalability", {"bw": "256Mbps", "rtt": "15ms"}, "5s"),
    ("scalability", {"bw": "32Mbps", "rtt": "60ms"}, "1s"),
)
HOSTILE = "<script>alert('x')</script> & \"co\""


def results() -> Iterator[Result]:
    engine = backends.get("native")
    for name, parameters, stop_time in POINTS:
        experiment = catalogue.get(name)
        scenario = experiment.scenario("TcpNewReno", stop_time=stop_time, **parameters)
        yield Result.of(
            scenario,
            engine.simulate(scenario),
            engine,
            experiment=name,
            parameters={"aut": "TcpNewReno", **parameters},
            wall_seconds=1.0,
        )
    own = scenario.model_copy(update={"label": HOSTILE, "seed": 7})
    yield Result.of(own, engine.simulate(own), engine)
    # Ends before its first sample, so that there is nothing to draw and little to measure.
    short = catalogue.get("aqm").scenario("TcpNewReno", stop_time="20ms", k="1")
    yield replace(Result.of(short, engine.simulate(short), engine, parameters={}), experiment="aqm")


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "benchmark_TcpNewReno.db"
    with Store(path, "a") as store:
        for result in results():
            store.add(result)
    return path


@pytest.fixture(scope="session")
def folder(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; tests that change it build their own."""
    folder = tmp_path_factory.mktemp("built") / "site"
    site.build([database], folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of a desk's width for each file of tests."""
    path = executable()
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium (or CHROMIUM=/path/to/one)")
    with Browser(path) as browser:
        browser.size(1280)
        yield browser


@pytest.fixture(scope="session")
def published(database: Path, folder: Path) -> Path:
    """The page of the run whose tables are published (AQM, run #5)."""
    with Store(database, "r") as store:
        (run,) = [
            run
            for run in store.runs(experiment="aqm", parameters={"k": "5"})
            if store.scenario(run.id)["stop_time"] == "15s"
        ]
    return folder / "runs" / run.id / "index.html"
