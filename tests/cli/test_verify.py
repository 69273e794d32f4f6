"""``ccperf verify``."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ccperf.cli.app import invoke
from ccperf.runs.backends.ns3 import Ns3
from ccperf.verify import matrix, record

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

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
    written = record.Record.from_data(json.loads(path.read_text()))
    assert written.ns3.startswith("3.44")
    assert written.rows == sum(rows) > 10_000
    assert not written.different
    cases = matrix.cases("drop/*-nosack")
    assert list(written.scenarios) == [case.name for case in cases]
    assert all(written.holds(case.scenario) for case in cases)
    # Another scenario under the same name is not in it.
    assert not written.holds(cases[0].scenario.model_copy(update={"seed": 7}))


@needs_ns3
@pytest.mark.ns3
def test_a_record_that_is_made_again_lets_ns3_run_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So one that was interrupted goes on; in a folder it has its release's name."""
    asked: list[str] = []
    simulate = Ns3.simulate

    def counted(self: Ns3, scenario: Scenario, **options: Any) -> Any:
        asked.append(scenario.label)
        return simulate(self, scenario, **options)

    monkeypatch.setattr(Ns3, "simulate", counted)
    words = ["verify", "ns3", "--pattern", "drop/single-*", "--fuzz", "2", "--seed", "77"]
    words += ["--record", str(tmp_path), "--json"]
    monkeypatch.setenv("CCPERF_NS3_AGAIN", "1")
    assert invoke(words) == 0
    first = (tmp_path / "verified.json").read_text()
    assert {"fuzz/0", "fuzz/1"} < set(asked)
    monkeypatch.delenv("CCPERF_NS3_AGAIN")
    asked.clear()
    assert invoke(words) == 0
    assert asked == []
    assert (tmp_path / "verified.json").read_text() == first
    written = record.Record.from_data(json.loads(first))
    assert (written.judge.profile, written.judge.build) == ("ns3-3.44", "wheel")
    assert (written.random.scenarios, written.random.identical) == (2, 2)
    assert written.random.seeds == (77,)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--scenario", "none.toml"], "none.toml"),
        (["--scenario", "x.json"], "x.json"),
        (["--full", "--fuzz", "3"], "one of"),
        (["--pattern", "nothing/*"], "known: ack_compression/*, application_limited/*"),
        (["--pattern", "drop/*,drops/*"], "unknown case `drops/*`"),
        (["--fuzz=-1"], "--fuzz"),
        (["--record", "x.json", "--fuzz", "3", "--pattern", "drop/single-nosack"], "--record"),
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
    message = capsys.readouterr().err
    assert says in message
    assert len(message) < 2000, "not two thousand names"
