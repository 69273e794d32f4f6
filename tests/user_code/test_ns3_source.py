"""A user's ns-3 classes named by `--ns3-source`: on the command line, in files, in the run's id."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from ccperf.algorithms.user_code import names
from ccperf.cli.app import invoke
from ccperf.runs.backends.ns3 import Ns3
from ccperf.runs.result import identify
from ccperf.scenario import Scenario
from user_scenarios import EXAMPLES, scenario

needs_ns3 = [
    pytest.mark.ns3,
    pytest.mark.skipif(Ns3().available() is not None, reason=str(Ns3().available())),
]
CC = "tcp-fixed-window.cc,tcp-fixed-window.h"
QDISC = "threshold-queue-disc.cc,threshold-queue-disc.h"
SHORT = ["--k", "1", "--qdisc", "codel", "--stop-time", "1s"]


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (EXAMPLES / "ns3").iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = invoke(words)
    out, err = capsys.readouterr()
    return status, out, err


def results(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    status, out, err = command(capsys, words[0], "--json", *words[1:])
    assert status == 0, err
    found = json.loads(out)
    return found if isinstance(found, list) else [found]


class TestOnNs3:
    pytestmark = needs_ns3

    def test_the_documented_commands(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """The class by its name alone, the same by its files, and the command that is printed."""
        ns3 = ["--backend", "ns3"]
        (run,) = results(
            capsys, "run", "aqm", *ns3, "--ns3-source", CC, "--cc", "TcpFixedWindow", *SHORT
        )
        window = run["flow_metrics"]["flow_1"]["mean_cwnd_l4"]
        assert 18 < window <= 20  # `Segments` is 20 from the first ACK on, 10 before
        assert (tmp_path / "benchmark_TcpFixedWindow.db").exists()
        named = "./tcp-fixed-window.cc:./tcp-fixed-window.h:TcpFixedWindow"
        (same,) = results(capsys, "run", "aqm", *ns3, "--cc", named, *SHORT)
        assert same["run"] == run["run"]
        (again,) = results(capsys, *shlex.split(run["command"])[1:])
        assert again["run"] == run["run"]

    def test_bench_and_a_queue_discipline(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`bench` takes classes next to built-in ones; a class may be a queue discipline."""
        status, out, err = command(
            capsys, "bench", "TcpFixedWindow,cubic", "--backend", "ns3", "--ns3-source", CC,
            "--experiments", "ack_compression", "--stop-time", "20ms", "--no-site",
        )  # fmt: skip
        assert status == 0, err
        assert "benchmark_TcpFixedWindow.db" in out
        assert "--backend ns3" in err
        (run,) = results(
            capsys, "run", "aqm", "--backend", "ns3", "--ns3-source", QDISC, "--k", "1",
            "--qdisc", "ThresholdQueueDisc", "--cc", "newreno", "--stop-time", "1s",
        )  # fmt: skip
        assert run["scenario"]["links"][0]["forward"]["qdisc"]["type"].endswith(
            "threshold-queue-disc.h:ThresholdQueueDisc"
        )

    def test_a_published_line_and_a_scenario_file(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        line = (
            "ns3-dev-ccperf-static-dumbbell-default --stop-time=500ms --bw=16Mbps --qlen=20p "
            "--rtts=15ms --algs=TcpFixedWindow"
        )
        options = ["--backend", "ns3", "--ns3-source", CC]
        (run,) = results(capsys, "exec", *options, "--", *line.split())
        assert run["scenario"]["flows"][0]["cc"]["type"].endswith(":TcpFixedWindow")
        file = tmp_path / "mine.toml"
        file.write_text(
            'stop_time = "500ms"\nnodes = ["a", "b"]\n\n'
            '[[links]]\nname = "wire"\nends = ["a", "b"]\nrate = "10Mbps"\ndelay = "5ms"\n\n'
            '[[flows]]\nsource = "a"\ndestination = "b"\n'
            'cc = { type = "TcpFixedWindow", attributes = { Segments = 7 } }\n'
        )
        (run,) = results(capsys, "run", str(file), *options)
        assert 6 < run["flow_metrics"]["flow_1"]["mean_cwnd_l4"] < 28

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--cc", "TcpFixedWindw"], "TcpFixedWindw: is no class derived from ns3::TcpConges"),
            (["--cc", "TcpFixedWindw"], "tcp-fixed-window.cc, tcp-fixed-window.h registers; reg"),
            (
                ["--cc", "newreno", "--qdisc", "TcpFixedWindow"],
                "is no class derived from ns3::QueueDisc",
            ),
        ],
    )
    def test_a_class_that_is_not_there(
        self, capsys: pytest.CaptureFixture[str], options: list[str], message: str, tmp_path: Path
    ) -> None:
        words = ["run", "aqm", "--backend", "ns3", "--ns3-source", CC, *SHORT]
        if "--qdisc" in options:
            words = [*words[: -len(SHORT)], "--k", "1", "--stop-time", "1s"]
        status, _, err = command(capsys, *words, *options)
        assert status == 2
        assert message in err
        assert not list(tmp_path.glob("*.db"))

    def test_what_does_not_compile_is_shown_before_anything_runs(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "bad.cc").write_text("int f() { return nonsense; }\n")
        words = ["--backend", "ns3", "--ns3-source", "bad.cc", "--cc", "TcpBad", *SHORT]
        status, _, err = command(capsys, "run", "aqm", *words)
        assert status == 1
        assert "bad.cc does not compile" in err
        assert err.count("nonsense") < 4
        assert not list(tmp_path.glob("*.db"))

    def test_a_class_in_a_second_file(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """The files are compiled together; a header may lie in a folder of its own."""
        (tmp_path / "include").mkdir()
        (tmp_path / "include" / "window.h").write_text("unsigned Window();\n")
        (tmp_path / "window.cc").write_text(
            '#include "window.h"\nunsigned Window() { return 6; }\n'
        )
        source = tmp_path / "tcp-fixed-window.cc"
        text = source.read_text().replace("UintegerValue(20)", "UintegerValue(Window())")
        source.write_text('#include "window.h"\n' + text)
        files = f"{CC},window.cc,include/window.h"
        (run,) = results(
            capsys, "run", "aqm", "--backend", "ns3", "--ns3-source", files,
            "--cc", "TcpFixedWindow", *SHORT,
        )  # fmt: skip
        assert run["flow_metrics"]["flow_1"]["mean_cwnd_l4"] < 7

    def test_a_class_named_like_one_of_ns3(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """By its file it is the user's; the name alone stays ns-3's."""
        source = tmp_path / "mine.cc"
        text = (tmp_path / "tcp-fixed-window.cc").read_text()
        source.write_text(text.replace('TypeId("TcpFixedWindow")', 'TypeId("TcpCubic")'))
        words = ["run", "aqm", "--backend", "ns3", "--seed", "1", *SHORT]
        (mine,) = results(capsys, *words, "--cc", "./mine.cc:TcpCubic")
        (theirs,) = results(capsys, *words, "--cc", "TcpCubic", "--ns3-source", "mine.cc")
        assert mine["flow_metrics"]["flow_1"]["mean_cwnd_l4"] <= 20
        assert theirs["scenario"]["flows"][0]["cc"]["type"] == "TcpCubic"
        assert theirs["flow_metrics"]["flow_1"]["mean_cwnd_l4"] > 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ns3-source", CC], "--ns3-source: needs --backend ns3, not `native`"),
        (["--backend", "ns3", "--ns3-source", "none.cc"], "there is no file none.cc"),
        (["--backend", "ns3", "--ns3-source", "a.py"], "`a.py` is no C++ file"),
        (["--backend", "ns3", "--ns3-source", "tcp-fixed-window.h"], "has only headers"),
        (["--backend", "ns3", "--ns3-source", "tcp-fixed-window.cc,,b.h"], "`` is no C++ file"),
    ],
)
def test_wrong_sources(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    status, _, err = command(capsys, "run", "aqm", "--cc", "TcpFixedWindow", *words, *SHORT)
    assert status == 2
    assert message in err


@pytest.mark.parametrize("name", [*CC.split(","), "deep.h", "apart.h", "more.cc"])
def test_every_file_is_part_of_the_id(tmp_path: Path, name: str) -> None:
    """Those listed, and headers that they include, directly or through another header."""
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "apart.h").write_text("\n")
    (tmp_path / "deep.h").write_text("\n")
    (tmp_path / "more.cc").write_text('#include "apart.h"\n')
    header = tmp_path / "tcp-fixed-window.h"
    header.write_text('#include "deep.h"\n' + header.read_text())
    files = ("tcp-fixed-window.cc", "tcp-fixed-window.h", "more.cc", "apart/apart.h")
    used = scenario(":".join(f"{tmp_path}/{file}" for file in files) + ":TcpFixedWindow")
    before = identify(used, Ns3()).id
    assert identify(used, Ns3()).id == before
    changed = next(tmp_path.rglob(name))
    changed.write_text(changed.read_text() + "// another line\n")
    assert identify(used, Ns3()).id != before


def test_a_declaration_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "aqm", "--backend", "ns3", "--ns3-source", CC, *SHORT]
    status, out, _ = command(capsys, *words, "--cc", "TcpFixedWindow", "-n")
    assert status == 0
    assert "tcp-fixed-window.cc:" in out
    assert names.declared("cc", "TcpFixedWindow") == "TcpFixedWindow"
    status, _, err = command(capsys, "run", "aqm", "--cc", "TcpFixedWindow", *SHORT, "-n")
    assert status == 2
    assert "is not a congestion control" in err


def test_relative_files_of_a_scenario_start_where_it_is(tmp_path: Path) -> None:
    named = scenario("./tcp-fixed-window.cc:./tcp-fixed-window.h:TcpFixedWindow")
    absolute = f"{tmp_path}/tcp-fixed-window.cc:{tmp_path}/tcp-fixed-window.h:TcpFixedWindow"
    assert named.flows[0].cc.type == absolute
    assert Scenario.model_validate(named.canonical()).flows[0].cc.type == absolute
