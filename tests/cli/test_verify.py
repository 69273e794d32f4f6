"""``ccperf verify``."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.verify import matrix, record

needs_ns3 = pytest.mark.skipif(
    importlib.util.find_spec("ns3") is None or shutil.which("c++") is None,
    reason="needs the wheel ns3 and a C++ compiler",
)
SCENARIO = """
stop_time = "500ms"
nodes = ["a", "b"]
links = [{ name = "wire", ends = ["a", "b"], rate = "5Mbps", delay = "5ms" }]
flows = [{ source = "a", destination = "b", cc = "newreno" }]
"""


def test_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["verify", "seeds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "196 of 196 values equal at the printed digits"
    assert lines[0].split() == [
        "experiment",
        "column",
        "metric",
        "published",
        "ours",
        "difference",
        "verdict",
    ]
    assert len(lines) == 196 + 3


def test_a_difference_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["verify", "seeds", "--recovery", "TcpPrrRecovery", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert {row["equal"] for row in rows} == {True, False}


@needs_ns3
@pytest.mark.ns3
@pytest.mark.parametrize("recovery", ["", "TcpClassicRecovery"])
def test_a_scenario_against_real_ns3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recovery: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SCENARIO)
    words = ["verify", "ns3", "--scenario", str(path), "--json"]
    assert invoke(words + (["--recovery", recovery] if recovery else [])) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["scenario"] == "mine"
    assert entry["verdict"] == "identical"
    assert entry["rows"] > 1000


@needs_ns3
@pytest.mark.ns3
def test_what_a_dry_run_prints_can_be_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = (
        "ns3-dev-ccperf-static-dumbbell-default --stop-time=300ms --bw=16Mbps --qlen=20p "
        "--rtts=15ms --algs=TcpNewReno"
    )
    assert invoke(["exec", "-n", "--", line]) == 0
    scenario = json.loads(capsys.readouterr().out)
    # Whoever wrote the file may want to command the terminal.
    Path("line.json").write_text(json.dumps({**scenario, "label": "line\x1b[2J"}))
    assert invoke(["verify", "ns3", "--scenario", "line.json"]) == 0
    out = capsys.readouterr().out
    assert "1 of 1 scenario packet-identical" in out
    assert r"line\x1b[2J" in out
    assert "\x1b" not in out


@needs_ns3
@pytest.mark.ns3
def test_a_record_of_what_was_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "verified.json"
    words = ["verify", "ns3", "--pattern", "drop/*-nosack", "--record", str(path), "--json"]
    assert invoke(words) == 0
    rows = [entry["rows"] for entry in json.loads(capsys.readouterr().out)]
    written = record.Record(**json.loads(path.read_text()))
    assert written.ns3.startswith("3.44")
    assert written.rows == sum(rows) > 10_000
    assert not written.different
    cases = matrix.cases("drop/*-nosack")
    assert list(written.scenarios) == [case.name for case in cases]
    assert all(written.holds(case.scenario) for case in cases)
    # Another scenario under the same name is not in it.
    assert not written.holds(cases[0].scenario.model_copy(update={"seed": 7}))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--scenario", "none.toml"], "none.toml"),
        (["--scenario", "x.json"], "x.json"),
        (["--full", "--fuzz", "3"], "one of"),
        (["--pattern", "nothing/*"], "--pattern"),
        (["--fuzz=-1"], "--fuzz"),
        (["--record", "x.json", "--fuzz", "3"], "--record"),
        (["--record", "x.json", "--scenario", "none.toml"], "--record"),
        (["--record", "nowhere/x.json", "--pattern", "drop/single-nosack"], "--record"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text("{")
    assert invoke(["verify", "ns3", *words]) == 2
    assert says in capsys.readouterr().err
