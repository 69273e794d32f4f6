"""What ends a campaign from outside costs nothing that was finished."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ccperf.store import Store, StoreError
from ccperf.store.check import check
from user_scenarios import environment

LINE = ["run", "aqm", "--cc", "newreno,bbr", "--k", "1,2,3", "--seed", "1..3", "--stop-time", "5s"]
RUNS = 3 * 3 + 3 * 3 * 3  # NewReno draws nothing


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "ccperf", *LINE, "--db", str(folder / "runs.db"), *words]


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(folder, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def stored(folder: Path) -> list[str]:
    try:
        with Store(folder / "runs.db", "r") as store:
            return store.ids()
    except StoreError:
        return []  # not there yet


def wait_for_some(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while len(stored(folder)) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def finish(process: subprocess.Popen[str]) -> str:
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return err


def test_a_coordinator_killed_has_stored_what_was_finished(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_for_some(tmp_path, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = stored(tmp_path)
    assert 3 <= len(before) < RUNS
    assert check(tmp_path / "runs.db").damaged == {}
    finish(start(tmp_path))
    assert len(stored(tmp_path)) == RUNS
    assert stored(tmp_path)[: len(before)] == before


def test_two_campaigns_on_one_database_make_it_together(tmp_path: Path) -> None:
    one = start(tmp_path)
    wait_for_some(tmp_path, one)
    other = start(tmp_path)
    finish(one)
    finish(other)
    assert len(stored(tmp_path)) == len(set(stored(tmp_path))) == RUNS
    assert check(tmp_path / "runs.db").damaged == {}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a file's size differ elsewhere")
def test_a_disk_that_fills_up_ends_the_campaign_and_keeps_what_is_there(tmp_path: Path) -> None:
    """A file that may not grow is to SQLite as a disk that is full."""
    limited = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        f"sys.argv = {command(tmp_path)[2:]!r}\n"
        "runpy.run_module('ccperf', run_name='__main__')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limited], capture_output=True, text=True, env=environment()
    )
    assert ended.returncode == 1, ended.stderr
    assert "runs.db: cannot be written" in ended.stderr
    assert "make room on its disk and give the same command again" in ended.stderr
    assert "what is stored is whole" in ended.stderr
    assert "Traceback" not in ended.stderr
    before = stored(tmp_path)
    assert 0 < len(before) < RUNS
    assert check(tmp_path / "runs.db").damaged == {}
    finish(start(tmp_path))
    assert len(stored(tmp_path)) == RUNS
