"""`--sandbox`: user code writes nowhere but in its run's folder, and reaches no network."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.runs.backends import sandbox

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or bool(sandbox.confinement_missing()), reason="no Landlock here"
)

#: Does something while the run is on, and says in the run's error what came of it.
CLASS = """
import os, socket, subprocess, tempfile
import ccperf
class Mine(ccperf.CongestionControl):
    def cong_avoid(self, tcb, segments_acked):
        raise ValueError(attempt())
def attempt():
    try:
        {does}
    except OSError as error:
        return f"refused: {{type(error).__name__}} {{error.errno}}"
    return "done"
"""


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.CONFINED, "")


def outcome(folder: Path, does: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    (folder / "mine.py").write_text(CLASS.format(does=does))
    words = ["run", "dumbbell", "--cc", "./mine.py:Mine", "--time", "1s", "--db", "x.db"]
    invoke([*words, *options])
    return capsys.readouterr().err


ATTEMPTS = {
    "a file elsewhere": "open({elsewhere!r}, 'w')",
    "another file cut off": "os.truncate({there!r}, 0)",
    "another file deleted": "os.unlink({there!r})",
    "a folder elsewhere": "os.mkdir({elsewhere!r})",
    "by another program": "subprocess.run(['/bin/sh', '-c', 'echo > \"$1\"', '-', {elsewhere!r}],"
    " check=True, stderr=-3)",
    "a TCP socket": "socket.create_connection(('127.0.0.1', {port}))",
    "a UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a Unix socket": "socket.socket(socket.AF_UNIX)",
    "a signal": "os.kill({pid}, 0)",
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there"
    there.write_text("mine")
    with socket.create_server(("127.0.0.1", 0)) as server:
        does = ATTEMPTS[what].format(
            elsewhere=str(tmp_path / "elsewhere"),
            there=str(there),
            port=server.getsockname()[1],
            pid=os.getpid(),
        )
        said = outcome(tmp_path, does, capsys, "--sandbox")
        # A shell has an error of its own; the file is what counts.
        assert "refused: " in said or "CalledProcessError" in said
    assert there.read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_without_it_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    does = ATTEMPTS["a file elsewhere"].format(elsewhere=str(tmp_path / "elsewhere"))
    assert "done" in outcome(tmp_path, does, capsys)
    assert (tmp_path / "elsewhere").exists()


def test_temporary_files_and_traces_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = outcome(
        tmp_path, "tempfile.TemporaryFile().write(b'x'); open(os.devnull, 'w')", capsys, "--sandbox"
    )
    assert "done" in said
    (tmp_path / "fine.py").write_text(
        "import ccperf\nclass Fine(ccperf.CongestionControl):\n"
        "    def cong_avoid(self, tcb, segments_acked):\n        pass\n"
    )
    words = ["run", "dumbbell", "--cc", "./fine.py:Fine", "--time", "200ms", "--db", "y.db"]
    assert invoke([*words, "--sandbox", "--packets", "p.csv"]) == 0, capsys.readouterr().err
    assert Path("p.csv").stat().st_size > 1000
    assert "--sandbox" in capsys.readouterr().err


def test_where_it_does_not_reach_it_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--sandbox"]
    for more in (["--on", "dask://127.0.0.1:1"], ["--backend", "ns3"]):
        assert invoke([*words, *more]) == 2
        assert "--sandbox: " in capsys.readouterr().err
