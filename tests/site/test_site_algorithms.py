"""The pages of algorithms, whatever their kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from site_built import built
from site_html import parse
from tiny_catalogue import run

from ccperf.algorithms import registry
from ccperf.cli.app import invoke
from ccperf.site.naming import slug

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result

SMALL = {"workload": "web_search", "load": "0.5", "flows": 5}
OWN = "mine.py:Mine"


def of(scheme: str) -> Result:
    return run("testbed", scheme, 1, "20ms", SMALL)


def balanced(name: str) -> Result:
    point = {"leaves": 2, "spines": 2, "servers": 2, "arrivals": "1ms", "load": 0.5}
    point |= {"workload": "web_search", "condition": "symmetric"}
    return run("load_balancing", name, 1, "20ms", point)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = of("TCN(Threshold=90us)")
    own = replace(own, id="0" * 16, parameters={**own.parameters, "aut": OWN})
    runs = [of("PIE"), of("RED-tail"), of("TCN(Threshold=80us)"), own, balanced("conga")]
    return built(
        tmp_path_factory.mktemp("algorithms"),
        [*runs, run("aqm", "cubic", 1, "100ms", {"k": 1}), run("pfc_mice", "Dcqcn", 1, "1ms", {})],
    )


@pytest.mark.parametrize(
    ("page", "kind", "name"),
    [
        ("PieQueueDisc", "qdisc", "PieQueueDisc"),
        ("RED-tail", "qdisc", "StepRedQueueDisc"),
        ("TcnQueueDisc(Threshold=80us)", "qdisc", "TcnQueueDisc"),
        ("conga", "routing", "conga"),
        ("TcpCubic", "cc", "TcpCubic"),
        ("Dcqcn", "rate_control", "Dcqcn"),
    ],
)
def test_a_page_says_what_an_algorithm_of_ccperf_s_is(
    folder: Path, page: str, kind: registry.Kind, name: str
) -> None:
    spec = registry.algorithms(kind)[name]
    text = parse(folder / "algorithms" / f"{slug(page)}.html").one("main").text
    for said in (spec["doc"], f"Defined in: {spec['source']}", "Judged by"):
        assert said.replace("`", "") in text
    assert "one's own" not in text


def test_a_page_says_of_one_s_own_that_it_is(folder: Path) -> None:
    (page,) = (folder / "algorithms").glob("mine*.html")
    text = parse(page).one("main").text
    assert "its file says what it is" in text
    assert "Judged by" not in text


@pytest.mark.parametrize("made", [of("RED-tail"), of("PIE"), balanced("ecmp")])
def test_what_runs_it_beside_another_is_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: Result
) -> None:
    folder = built(tmp_path, [made])
    commands = set()
    for page in (folder / "index.html", *(folder / "algorithms").glob("*.html")):
        commands |= {c.text for c in parse(page).named("code") if "ccperf bench" in c.text}
    (command,) = commands
    assert invoke([*command.split()[1:], "--dry-run"]) == 0
    assert "ccperf run " in capsys.readouterr().out
