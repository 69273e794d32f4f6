"""`--sandbox`: user code writes in its run's folder only, and reaches no network and no process."""

from __future__ import annotations

import errno
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
import ctypes, os, socket, subprocess, tempfile
import ccperf
def call(*words):
    if ctypes.CDLL(None, use_errno=True).syscall(*words) < 0:
        raise OSError(ctypes.get_errno(), "a system call")
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
    "a Unix socket for any address": "socket.socketpair(type=socket.SOCK_DGRAM)",
    "such a socket by its other name": "socket.socketpair(type=socket.SOCK_RAW)",
    "a signal": "os.kill({pid}, 0)",
    "a limit of another process": "import resource; resource.prlimit({pid}, resource.RLIMIT_CORE,"
    " resource.prlimit({pid}, resource.RLIMIT_CORE))",
    "a priority of another process": "os.setpriority(os.PRIO_PROCESS, {pid},"
    " os.getpriority(os.PRIO_PROCESS, {pid}))",
    "a priority of all": "os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_PROCESS, 0))",
    "cores of another process": "os.sched_setaffinity({pid}, os.sched_getaffinity({pid}))",
    "the mode of another file": "os.chmod({there!r}, 0)",
    "its mode where it is open": "os.fchmod(os.open({there!r}, os.O_RDONLY), 0)",
    "its mode by the newest call": "call(452, -100, {there!r}.encode(), 0, 0)",
    "its owner": "os.chown({there!r}, os.getuid(), os.getgid())",
    "its owner where it is open": "os.fchown(os.open({there!r}, os.O_RDONLY), -1, -1)",
    "its times": "os.utime({there!r}, (0, 0))",
    "its times where it is open": "os.utime(os.open({there!r}, os.O_RDONLY), (0, 0))",
    "an attribute": "os.setxattr({there!r}, 'user.x', b'1')",
    "an attribute where it is open": "os.setxattr(os.open({there!r}, os.O_RDONLY), 'user.x', b'1')",
    "an attribute less": "os.removexattr({there!r}, 'user.x')",
    "its flags": "import fcntl; fcntl.ioctl(os.open({there!r}, os.O_RDONLY), 0x40086602, bytes(8))",
    "memory that others share": "call({shmget}, 4711, 4096, 0o1600)",
    "a queue that others share": "call({mq_open}, b'no-such', os.O_RDWR, 0, None)",
    "another's queue deleted": "call({mq_open} + 1, b'no-such')",
    "a key for others": "call({add_key}, b'user', b'ccperf', b'x', 1, -3)",
    "another's key": "call({add_key} + 1, b'user', b'no-such', None, 0)",
    "the user's keys": "call({add_key} + 2, 0, -4, 0)",
}
if os.uname().machine == "x86_64":
    ATTEMPTS["a socket by x32's number"] = "call(0x40000000 + 41, socket.AF_INET, 1, 0)"
#: Those that nothing but the filter of system calls refuses.
BY_CALL = list(ATTEMPTS)[list(ATTEMPTS).index("a Unix socket for any address") :]
BY_CALL.remove("a signal")
#: System calls that Python has no name for.
NUMBERS = (
    {"shmget": 29, "mq_open": 240, "add_key": 248}
    if os.uname().machine == "x86_64"
    else {"shmget": 194, "mq_open": 180, "add_key": 217}
)
#: What honest code does.
ALLOWED = {
    "its own limits": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0));"
    " resource.prlimit(os.getpid(), resource.RLIMIT_CORE)",
    "limits of others, to look at": "import resource as r; r.prlimit({pid}, r.RLIMIT_CORE)",
    "its own priority": "os.nice(1)",
    "its own cores": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "a pair of streams": "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'",
    "an event loop": "import asyncio; asyncio.run(asyncio.sleep(0))",
    "a process and its end": "p = subprocess.Popen(['sleep', '9']); p.kill(); p.wait()",
    "a copy of its own": "import shutil; shutil.copyfile({there!r}, tempfile.mkdtemp() + '/x')",
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there"
    there.write_text("mine")
    os.utime(there, (1e9, 1e9))
    before = there.stat()
    with socket.create_server(("127.0.0.1", 0)) as server:
        does = ATTEMPTS[what].format(
            elsewhere=str(tmp_path / "elsewhere"),
            there=str(there),
            port=server.getsockname()[1],
            pid=os.getpid(),
            **NUMBERS,
        )
        said = outcome(tmp_path, does, capsys, "--sandbox")
        # A shell has an error of its own; the file is what counts.
        expected = f"refused: PermissionError {errno.EPERM}" if what in BY_CALL else "refused: "
        assert expected in said or "CalledProcessError" in said
    assert tuple(there.stat()) == tuple(before)
    assert there.read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("what", ALLOWED)
def test_what_honest_code_does_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there"
    there.write_text("mine")
    does = ALLOWED[what].format(there=str(there), pid=os.getpid())
    assert "done" in outcome(tmp_path, does, capsys, "--sandbox")


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


def test_who_is_rated_is_shut_in_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = (
        "import ccperf\nopen('elsewhere', 'w')\nclass Mine(ccperf.CongestionControl):\n    pass\n"
    )
    Path("mine.py").write_text(mine.replace("elsewhere", str(tmp_path / "elsewhere")))
    assert invoke(["score", "./mine.py:Mine", "--stop-time", "1s", "--sandbox"]) == 2
    assert "PermissionError" in capsys.readouterr().err
    assert not Path("elsewhere").exists()


def test_where_it_does_not_reach_it_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--sandbox"]
    for more in (["--on", "dask://127.0.0.1:1"], ["--backend", "ns3"]):
        assert invoke([*words, *more]) == 2
        assert "--sandbox: " in capsys.readouterr().err


@pytest.mark.parametrize("form", ["pcapng", "flowmonitor", "hpcc"])
def test_to_export_a_stranger_s_run_asks_before_its_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import ccperf\nclass Mine(ccperf.CongestionControl):\n    pass\n"
    )
    invoke("run dumbbell --cc ./mine.py:Mine --time 1s --db x.db".split())
    words = ["export", "--db", "x.db", "--format", form]
    capsys.readouterr()
    assert invoke(words) == 2
    assert "--trust: x.db runs code on this machine: mine.py:Mine" in capsys.readouterr().err
    assert invoke([*words, "--trust"]) == 0
