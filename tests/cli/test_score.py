"""``ccperf score``: what it prints, and its exit statuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import ccperf
from ccperf.cli.app import invoke

Captured = pytest.CaptureFixture[str]
LINE = ["score", "bbr", "--experiments", "policer", "--stop-time", "1s"]

pytestmark = pytest.mark.usefixtures("own_folder")


def test_the_number_comes_first(capsys: Captured) -> None:
    assert invoke(LINE) == 0
    score = ccperf.score("bbr", experiments="policer", stop_time="1s")
    said = capsys.readouterr().out
    assert said.startswith(f"{score.value:.4f}  TcpBbr against TcpCubic\n")
    # Of rates and delays, too, for which less is better.
    assert "headlines (above 1: better)" in said


def test_json_has_the_parts_and_the_database_all_runs(capsys: Captured) -> None:
    assert invoke([*LINE, "--json", "--seed", "1..2", "--budget", "60", "--against", "reno"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["base"] == "TcpLinuxReno"
    assert found["parts"]["policer"]["value"] == found["value"] != 1
    assert (found["seeds"], found["budget_s"], found["failures"]) == ([1, 2], 60, [])
    assert len(found["points"]) == 6 * 3
    assert invoke(["compare", "TcpLinuxReno", "bbr"]) == 0


def test_what_failed_is_said_with_file_and_line(capsys: Captured, tmp_path: Path) -> None:
    lines = [
        "import ccperf",
        "class Mine(ccperf.CongestionControl):",
        "    def cong_avoid(self, tcb, segments_acked):",
        "        tcb.cwnd = float('nan')",
    ]
    (tmp_path / "mine.py").write_text("\n".join(lines))
    assert invoke(["score", "./mine.py:Mine", *LINE[2:], "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["value"] < 0.1
    assert "mine.py:Mine failed at 0." in err
    assert "(mine.py:4)" in err
    # Of both sides a run may fail: whose was it, and where?
    assert re.match(r"failed: mine\.py:Mine at policer \w+=\S+ .*seed=\d+: ", err)
    assert "and 5 runs more" in err
    shown = ccperf.score("./mine.py:Mine", experiments="policer", stop_time="1s")
    assert repr(shown).endswith(": mine.py:Mine against TcpCubic; 6 runs failed>")
    assert "(mine.py:4)" in shown._repr_html_()
    assert shown._repr_html_().count("<tr>") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cubik"], "name: "),
        (["./nowhere.py:Mine"], "name: "),
        (["bbr,cubic"], "name: "),
        (["bbr", "--against", "cubik"], "--against: "),
        (["bbr", "--set", "rfc1"], "--set: unknown set `rfc1`"),
        (["bbr", "--set", "rfc9743", "--experiments", "aqm"], "--set: "),
        (["bbr", "--experiments", "aqn"], "--experiments: unknown experiment `aqn`"),
        (["bbr", "--experiments", "testbed"], "--experiments: "),
        (["bbr", "--seed", "0"], "--seed: "),
        (["bbr", "--budget", "-1"], "--budget: "),
        (["bbr", "--budget", "soon"], "soon"),
        (["bbr", "--stop-time", "soon"], "--stop-time: "),
        (["bbr", "--jobs", "-1"], "--jobs: "),
        (["bbr", "--backend", "nope"], "--backend: "),
    ],
)
def test_wrong_usage_exits_with_2_and_writes_nothing(
    capsys: Captured, words: list[str], said: str, tmp_path: Path
) -> None:
    assert invoke(["score", *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_two_of_one_name_are_told_apart_by_their_folders(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("v1", "v2"):
        Path(folder).mkdir()
        Path(folder, "mycca.py").write_text(
            "import ccperf\nclass MyCca(ccperf.CongestionControl):\n    pass\n"
        )
    words = ["./v1/mycca.py:MyCca", "--against", "./v2/mycca.py:MyCca", "--stop-time", "500ms"]
    assert invoke(["score", *words]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "1.0000  v1/mycca.py:MyCca against v2/mycca.py:MyCca"


def test_exec_shows_user_code_as_run_does(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mycca.py").write_text("import ccperf\nclass MyCca(ccperf.CongestionControl):\n    pass\n")
    line = "ns3-dev-ccperf-static-dumbbell-default --stop-time=500ms --bw=16Mbps --qlen=20p"
    assert invoke(["exec", "--", *line.split(), "--rtts=15ms", "--algs=./mycca.py:MyCca"]) == 0
    out = capsys.readouterr().out
    assert "flow_1 mycca.py:MyCca " in out
    assert str(tmp_path) not in out
