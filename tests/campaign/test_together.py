"""Several processes that make runs for one database: nothing is made twice, nothing is lost."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from ccperf import campaign
from ccperf.algorithms.user_code.content import Contents
from ccperf.campaign import Point
from ccperf.campaign.claims import Claims
from ccperf.store import Store
from recordings import ScriptedBackend, small_scenario

TESTS = Path(__file__).parents[1]
RUNS = 40

_CAMPAIGN = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from recordings import ScriptedBackend, small_scenario
from ccperf import campaign
from ccperf.store import Store
first, last, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
points = [
    campaign.Point(small_scenario(seed=seed), "aqm", {{"seed": str(seed)}})
    for seed in range(first, last)
]
backend = ScriptedBackend(seconds=0.1)
sys.stdin.readline()
with Store(path, "a") as store:
    report = campaign.run(points, store, backend, jobs=2)
made = len(backend.simulated), len(report.made_elsewhere), len(report.stored_before)
print(report.ok, len(report.run_ids), *made)
"""
_HOLDER = """
import sys
from pathlib import Path
from ccperf.campaign.claims import Claims
with Claims(Path(sys.argv[1])) as claims:
    for run_id in sys.argv[2:]:
        assert claims.take(run_id)
    print("taken", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "benchmark.db"


def started(script: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def begin(*processes: subprocess.Popen[str]) -> None:
    """Let them go at the same time, when all of them have loaded what they need."""
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()


def ends(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out.split()


def points() -> list[Point]:
    return [Point(small_scenario(seed=seed), "aqm", {"seed": str(seed)}) for seed in range(RUNS)]


def is_whole(path: Path, tmp_path: Path, runs: int = RUNS) -> None:
    """All runs are there with all that belongs to them, and nothing lies beside the database."""
    with Store(path, "r") as store:
        store.check()
        assert len(store.runs()) == len(store.ids()) == runs
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_who_finds_a_database_that_is_just_being_made_waits_a_moment(path: Path) -> None:
    """SQLite itself does not wait there, however long it is told to."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with closing(other):
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, other.execute, ["COMMIT"]).start()
        Store(path, "a").close()


def test_two_at_once_make_each_run_once(path: Path, tmp_path: Path) -> None:
    both = [started(_CAMPAIGN, 0, RUNS, path) for _ in range(2)]
    begin(*both)
    (ok, has, made, elsewhere, _), (ok_too, has_too, made_too, elsewhere_too, _) = map(ends, both)
    assert (ok, ok_too) == ("True", "True")
    assert int(has) == int(has_too) == RUNS
    # Both had their share, and nothing was made twice.
    assert int(made) + int(made_too) == RUNS
    assert 0 < int(made) < RUNS
    assert int(elsewhere) + int(elsewhere_too) > 0
    is_whole(path, tmp_path)


def test_two_with_other_runs_do_not_wait_for_each_other(path: Path, tmp_path: Path) -> None:
    both = [started(_CAMPAIGN, 0, 30, path), started(_CAMPAIGN, 30, 60, path)]
    begin(*both)
    assert [ends(each) for each in both] == [["True", "30", "30", "0", "0"]] * 2
    is_whole(path, tmp_path, 60)


def test_what_a_killed_one_was_making_the_other_makes(path: Path, tmp_path: Path) -> None:
    killed, other = (started(_CAMPAIGN, 0, RUNS, path) for _ in range(2))
    begin(killed, other)
    deadline = time.monotonic() + 60
    while stored(path) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    ok, has, made, elsewhere, before = ends(other)
    assert ok == "True"
    # It may have begun when the first one had already stored some.
    assert int(has) == int(made) + int(elsewhere) + int(before) == RUNS
    is_whole(path, tmp_path)


def stored(path: Path) -> int:
    try:
        with Store(path, "r") as store:
            return len(store.ids())
    except Exception:  # not there yet, or just being made
        return 0


def test_who_waits_says_so_and_goes_on_when_the_other_ends(path: Path, tmp_path: Path) -> None:
    wanted = points()[:6]
    backend = ScriptedBackend()
    run_ids = [point.identity(backend, Contents()).id for point in wanted]
    holder = started(_HOLDER, path, *run_ids[1:3])
    assert holder.stdout
    assert holder.stdout.readline() == "taken\n"
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        holder.kill()

    with Store(path, "a") as store:
        # One at a time, so that they begin in their order.
        report = campaign.run(wanted, store, backend, jobs=1, progress=campaign.Lines(say))
    holder.communicate()
    assert said == ["waiting for 2 runs that another process is making"]
    assert report.ok
    assert report.made == run_ids
    # What was not claimed came first.
    assert sorted(backend.simulated[-2:]) == [1, 2]
    is_whole(path, tmp_path, 6)


def test_without_locks_of_files_runs_are_made_all_the_same(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "lockf", refused)
    with Store(path, "a") as store:
        assert len(campaign.run(points()[:3], store, ScriptedBackend()).made) == 3
    is_whole(path, tmp_path, 3)


def test_the_last_one_takes_the_file_of_claims_away(path: Path) -> None:
    file = path.with_name("benchmark.db-claims")
    with Claims(path) as claims:
        assert not file.exists()
        assert claims.take("00000000000000ff")
        holder = started(_HOLDER, path, "00000000000000fe")
        assert holder.stdout
        assert holder.stdout.readline() == "taken\n"
        assert not claims.take("00000000000000fe")
    assert file.exists()
    holder.communicate("")
    assert not file.exists()
