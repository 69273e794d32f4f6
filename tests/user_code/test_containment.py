"""What user code leaves behind, files or processes, does not reach who asked for the run."""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ccperf.runs.backends import get, sandbox
from ccperf.runs.recording import RecordingError
from user_code.test_misbehaviour import AT, fails, python_class
from user_scenarios import ROOT, environment, scenario

TABLE = "os.mkdir(f'{sys.argv[2]}/tables'); "
RESULT = TABLE + "there = f'{sys.argv[2]}/tables/flows.parquet'; "
ERROR = "there = f'{sys.argv[2]}/error.json'; "
LEFT = {
    "pipe for a result": (RESULT + "os.mkfifo(there)", "is no regular file"),
    "pipe for an error": (ERROR + "os.mkfifo(there)", "is no regular file"),
    "endless result": (RESULT + "os.symlink('/dev/zero', there)", "symbolic links"),
    "endless error": (ERROR + "os.symlink('/dev/zero', there)", "symbolic links"),
    "somebody's file": (RESULT + "os.symlink('/etc/passwd', there)", "symbolic links"),
    "folder elsewhere": ("os.symlink('/etc', f'{sys.argv[2]}/tables')", "status 0"),
    "huge result": (RESULT + "open(there, 'w').truncate(2**43)", r"is larger than \d+ bytes"),
    "huge error": (ERROR + "open(there, 'w').truncate(2**30)", r"is larger than \d+ bytes"),
    "no error": (ERROR + "open(there, 'w').write('cut o')", "something else than an error"),
    "odd error": (ERROR + "open(there, 'w').write('[1]')", "something else than an error"),
    "deep error": (ERROR + "open(there, 'w').write('[' * 10**6)", "something else than an error"),
    "no folder": ("import shutil; shutil.rmtree(sys.argv[2])", "ended with status 0"),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_lies_in_the_folder_is_read_as_files_of_limited_size(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is over within moments, and its error says who and when."""
    monkeypatch.setenv("CCPERF_RUN_LIMIT", "15")
    body, message = LEFT[what]
    name = python_class(tmp_path, f"{body}; os._exit(0)")
    started = time.monotonic()
    text = fails(name)
    assert time.monotonic() - started < 15
    assert re.search(rf"{re.escape(name)} failed {AT}: .*{message}", text), text


def test_results_that_cannot_be_read_in_the_time_of_the_run_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow file system is the case; a folder whose time is over stands for it."""
    monkeypatch.setenv("CCPERF_RUN_LIMIT", "0")
    with sandbox._Folder() as folder:
        (folder.path / "error.json").write_bytes(bytes(100))
        with pytest.raises(RecordingError, match=r"error.json was not read in time \(CCPERF_RUN"):
            folder.read("error.json", 100)
        folder.until = math.inf
        assert folder.read("error.json", 100) == bytes(100)
        (folder.path / "error.json").write_bytes(large := os.urandom(2 * sandbox._PIECE + 1))
        assert folder.read("error.json", len(large)) == large


def test_who_has_a_thousand_files_open_runs_user_code() -> None:
    script = (
        "import os, resource\n"
        "_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))\n"
        "files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]\n"
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})\n"
        "import ccperf\n"
        "from user_scenarios import EXAMPLES, scenario\n"
        "own = f'{EXAMPLES}/python/mycca.py:MyCca'\n"
        "print(ccperf.simulate(scenario(own, stop_time='2s')).id)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment()
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.usefixtures("short_limit")
def test_a_monitor_that_is_cut_off_ends_its_own_run_only(tmp_path: Path) -> None:
    """The one who watches had it in memory, and died of SIGBUS."""
    name = python_class(tmp_path, "open(f'{sys.argv[2]}/monitor', 'w').close(); time.sleep(9)")
    assert "crashed with SIGBUS" in fails(name) or "no progress" in fails(name)
    assert psutil.pid_exists(os.getpid())


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize(
    "words", [(0, 0, 99 << 8 | 4), (2**63, 7, 1 << 8 | 250), (0, 0, 2**64 - 1)]
)
def test_a_monitor_that_lies_is_not_believed(tmp_path: Path, words: tuple[int, ...]) -> None:
    import struct

    lie = struct.pack("=QQQ", *words)
    body = f"open(f'{{sys.argv[2]}}/monitor', 'r+b').write({lie!r}); os._exit(3)"
    name = python_class(tmp_path, body)
    assert "its process ended with status 3" in fails(name)


def test_what_the_system_says_has_who_and_when(
    tmp_path: Path, compile_c: Callable[[Path], Path]
) -> None:
    """With all descriptors closed it was `[Errno 9] Bad file descriptor` alone."""
    source = tmp_path / "bad.c"
    source.write_text(
        "#include <ccperf.h>\n#include <unistd.h>\n"
        "static int64_t ssthresh(void *self, ccperf_tcb *tcb, int64_t in_flight) {\n"
        "    (void)self; (void)tcb; return in_flight;\n}\n"
        "static void cong_avoid(void *self, ccperf_tcb *tcb, int64_t acked) {\n"
        "    (void)self; (void)acked; (void)tcb;\n"
        "    for (int file = 0; file < 1024; file++) close(file);\n}\n"
        "CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {\n"
        "    CCPERF_CCA_HEADER, .ssthresh = ssthresh, .cong_avoid = cong_avoid};\n"
    )
    library = compile_c(source)
    text = fails(str(library))
    assert re.search(rf"{library} failed {AT}: .*Bad file descriptor", text), text


@pytest.mark.parametrize(
    ("write", "message"),
    [
        ("lambda *_: os.write(os.open('/dev/full', 1), b'x')", "is full; TM"),
        ("None", "TypeError: 'NoneType' object is not callable"),
    ],
    ids=["full", "other"],
)
def test_a_result_that_cannot_be_written_has_who_and_what(
    write: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It had a traceback, and a process that ended with status 1."""
    name = python_class(tmp_path, f"import pathlib; pathlib.Path.write_bytes = {write}")
    text = fails(name)
    assert re.search(rf"{re.escape(name)} failed {AT}: .*{re.escape(message)}", text), text
    assert "Traceback" not in capfd.readouterr().err


def test_a_number_beyond_64_bits_is_called_too_large(tmp_path: Path) -> None:
    """It was called no whole number."""
    text = fails(python_class(tmp_path, "tcb.pacing_rate_bps = 2**64 - 1"))
    assert "pacing_rate_bps is 18446744073709551615 bits per second, beyond the 64 bits" in text


#: Processes that leave the session of the run, or the family.
CHILDREN = {
    "session": "subprocess.Popen([*SLEEP], start_new_session=True)",
    "double fork": (
        "os.fork() or (os.setsid(), os.fork() and os._exit(0), os.execvp('sleep', SLEEP))"
    ),
    "daemon of a daemon": (
        "subprocess.run([sys.executable, '-c', 'import subprocess, sys; "
        "subprocess.Popen(sys.argv[1:], start_new_session=True)', *SLEEP], start_new_session=True)"
    ),
}


@pytest.mark.parametrize("end", ["pass", "os._exit(3)", "os.kill(os.getpid(), 9)"])
@pytest.mark.parametrize("child", CHILDREN)
def test_processes_of_other_sessions_end_with_the_run(tmp_path: Path, child: str, end: str) -> None:
    seconds = f"30{os.getpid()}{abs(hash((child, end))) % 10**6}"
    path = tmp_path / "bad.py"
    path.write_text(
        "import os, subprocess, sys\nimport ccperf\n"
        f"SLEEP = ['sleep', '{seconds}']\n\n"
        "class Bad(ccperf.CongestionControl):\n"
        "    def __init__(self):\n"
        f"        {CHILDREN[child]}\n"
        "    def cong_avoid(self, tcb, segments_acked):\n"
        "        super().cong_avoid(tcb, segments_acked)\n"
        f"        if tcb.now_ns > 10**8: {end}\n"
    )
    name = f"{path}:Bad"
    if end == "pass":
        assert get("native").simulate(scenario(name)).flows.rows == 3
    else:
        fails(name)
    left = [p for p in psutil.process_iter(["cmdline"]) if seconds in (p.info["cmdline"] or ())]
    for process in left:
        process.kill()
    assert left == []


def test_a_process_that_stands_ready_ends_in_silence_when_who_asks_is_killed() -> None:
    """With an answer that nobody has read, the system says more than that there is no more."""
    asks, stands = socket.socketpair()
    code = "from ccperf.runs.backends.warm import main; main()"
    with stands:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=stands, stderr=subprocess.PIPE, text=True
        )
        stands.send(b"answer")
    asks.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
