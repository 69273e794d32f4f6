"""What texts say of speed is what the benchmarks found, and these measure what they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from benchmarks import claims, growth, user_code

from ccperf import _native
from ccperf.experiments import catalogue

ROOT = Path(__file__).parent.parent
#: What only a measurement says.
SPEED = re.compile(r"packet-hops/s|times as fast as|times (the speed of )?(the wheel|ns-3)")
#: Parts that say it with a measurement of their own beside them, and its command.
MEASURED_THERE = {
    "docs/cluster.md": "benchmarks.cluster",
    "docs/datacentre.md": "benchmarks.datacentre",
}


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("document", "sentence"), list(claims.sentences()))
def test_a_document_says_what_was_measured(document: str, sentence: str) -> None:
    assert in_one_line(sentence) in in_one_line((ROOT / document).read_text(encoding="utf-8"))


def test_no_other_part_of_a_document_speaks_of_speed() -> None:
    claimed = [in_one_line(sentence) for _, sentence in claims.sentences()]
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(ROOT))
        if name == "docs/speed.md":  # made of the figures
            continue
        if name in MEASURED_THERE:
            assert MEASURED_THERE[name] in text
            continue
        for part in re.split(r"\n\s*\n|\n(?=\||[-*] )", text):
            line = in_one_line(part)
            assert not SPEED.search(line) or any(each in line for each in claimed), (name, line)


@pytest.mark.parametrize("kind", ["shared", "own", "after"])
def test_every_flow_of_the_growth_benchmark_delivers_bytes(kind: str) -> None:
    case = growth.Case(300, kind)
    tables = _native.Simulation(case.scenario().lowered()).finish()
    assert growth.living(tables) == case.flows


def test_the_benchmark_of_user_code_runs_each_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "REPEATS", 1)
    try:
        library = user_code.c_library(tmp_path, "mycca")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a C compiler")
    base = catalogue.get("aqm").scenario("newreno", k=8, qdisc="fifo", stop_time="300ms")
    own = f"{user_code.ROOT}/examples/python/mycca.py:MyCca"
    half = {"beta": "0.5"}
    ways = {"built in": ("TcpNewReno", {}), "C": (library, half), "Python": (own, half)}
    rows = user_code.table("of", {way: user_code.with_cc(base, *cc) for way, cc in ways.items()})
    assert {f"of, {way}" for way in ways} == set(rows)
    assert rows["of, built in"]["ratio"] == 1
