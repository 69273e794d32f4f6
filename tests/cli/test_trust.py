"""A file that names code runs it only if the user says so."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from user_scenarios import SCENARIO as OF_CUBIC

SCENARIO = OF_CUBIC.replace("cubic", "./mycca.py:MyCca")
PLAN = """
experiment = "aqm"
cc = ["./mycca.py:MyCca"]
stop_time = "60ms"
[parameters]
k = 1
qdisc = "codel"
"""
pytestmark = pytest.mark.usefixtures("beside_mycca")


@pytest.mark.parametrize("text", [SCENARIO, PLAN])
def test_code_in_a_file_needs_trust(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("s.toml").write_text(text)
    assert invoke(["run", "s.toml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: --trust: s.toml runs code on this machine: ")
    assert "mycca.py:MyCca; look at it, then add --trust" in err
    assert sorted(path.name for path in Path().iterdir()) == ["mycca.py", "s.toml"]
    assert invoke(["run", "s.toml", "-n"]) == 0
    assert invoke(["run", "s.toml", "--trust"]) == 0


@pytest.mark.parametrize("of_linux", ["linux:cdg", "linux:fq_codel limit 9"])
def test_what_a_kernel_has_is_nobodys_code(
    capsys: pytest.CaptureFixture[str], of_linux: str
) -> None:
    """The engine says which backend it needs, and nobody is asked whether to trust it."""
    if "codel" in of_linux:
        link = SCENARIO.replace("./mycca.py:MyCca", "cubic").replace(
            "[[flows]]", f'[links.forward]\nqdisc = "{of_linux}"\n[[flows]]'
        )
        Path("s.toml").write_text(link)
    else:
        Path("s.toml").write_text(SCENARIO.replace("./mycca.py:MyCca", of_linux))
    assert invoke(["run", "s.toml"]) == 2
    assert "it needs the backend `linux`" in capsys.readouterr().err


def test_verifying_a_file_runs_its_code_only_if_trusted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Classes of ns-3 are compiled from it, with whatever their constructors do."""
    Path("mine.cc").write_text("#error compiled\n")
    Path("s.toml").write_text(SCENARIO.replace("./mycca.py:MyCca", "./mine.cc:TcpMine"))
    assert invoke(["verify", "ns3", "--scenario", "s.toml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: --trust: s.toml runs code on this machine: ")
    assert "mine.cc:TcpMine; look at it, then add --trust" in err


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("\n", 2), ("n\n", 2)])
def test_on_a_terminal_it_asks(monkeypatch: pytest.MonkeyPatch, answer: str, status: int) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    Path("s.toml").write_text(SCENARIO)
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert invoke(["run", "s.toml"]) == status
    assert "Run it? [y/N]" in screen.getvalue()


def test_files_without_code_and_code_on_the_command_line_need_none() -> None:
    Path("s.toml").write_text(SCENARIO.replace("./mycca.py:MyCca", "cubic"))
    assert invoke(["run", "s.toml"]) == 0
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "60ms"]
    assert invoke(["run", "aqm", "--cc", "./mycca.py:MyCca", *options]) == 0


OWN = """
stop_time = "60ms"
[parameters]
other = ["cubic", "newreno"]
[dumbbell]
rate = "10Mbps"
qlen = "20p"
rtts = ["15ms", "15ms"]
cc = ["$cc", "$other"]
"""


def test_code_that_is_typed_for_a_parameter_of_a_file_is_here_or_said_to_be_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.toml").write_text(OWN)
    assert invoke(["run", "own.toml", "--other", "./mycca.py:MyCca"]) == 0
    assert invoke(["run", "own.toml", "--other", "./nope.py:MyCca", "--trust"]) == 2
    assert f"there is no file {tmp_path / 'nope.py'}" in capsys.readouterr().err
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert invoke(["run", "../own.toml", "--other", "./mycca.py:MyCca"]) == 2
    assert f"there is no file {tmp_path / 'elsewhere' / 'mycca.py'}" in capsys.readouterr().err
    assert invoke(["run", "../own.toml", "--other", "../mycca.py:MyCca"]) == 0
