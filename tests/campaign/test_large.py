"""A long campaign is killed, resumed, repeated and shown in memory that does not grow with it.

``CCPERF_CAMPAIGN_RUNS=100000 pytest --timeout 0`` makes it as long as a cluster's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ccperf.store import Store

RUNS = int(os.environ.get("CCPERF_CAMPAIGN_RUNS", "600"))
#: Of the process that plans, stores and shows; 100,000 runs held 11 GB by the slope of before.
MOST_MB = 150 if RUNS <= 5000 else 400
COMMAND = "run aqm --cc cubic --k 1 --qdisc codel --jitter 10ms --stop-time 100ms --db many.db"


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    with (folder / "output").open("wb") as output:
        command = [sys.executable, "-m", "ccperf", *words]
        return subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)


def cost(folder: Path, *words: str) -> tuple[float, float]:
    """MB that a command held at most, and seconds of CPU of it and its processes."""
    # A process of its own in between: a child's maximum begins with what its parent holds, and a
    # process that runs tests holds much.
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, sys.executable, "-m", "ccperf", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "output").write_text(done.stdout + done.stderr)
    memory, seconds = map(float, done.stderr.splitlines()[-1].split())
    return memory, seconds


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="maximum memory is in other units elsewhere")
def test_memory_does_not_grow_with_a_campaign(tmp_path: Path) -> None:
    words = [*COMMAND.split(), "--seed", f"1..{RUNS}"]
    process = started(tmp_path, *words)
    database = tmp_path / "many.db"
    while not database.exists() or len(stored(database)) < RUNS // 4:
        assert process.poll() is None, (tmp_path / "output").read_text()
        time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = stored(database)
    memory, _ = cost(tmp_path, *words)
    assert memory < MOST_MB
    assert before <= stored(database)
    assert len(stored(database)) == RUNS

    memory, seconds = cost(tmp_path, *words)
    said = (tmp_path / "output").read_text()
    assert f"0 runs made, {RUNS} in many.db before" in said
    assert f"and {RUNS - 200:,} runs more" in said
    assert memory < MOST_MB
    # Planning is all that is left: less than a short run costs.
    assert seconds < 2 + 3e-3 * RUNS

    shown = ["--db", "many.db"]
    for listing in (
        ["runs", *shown],
        ["runs", "--json", *shown],
        ["doctor", *shown],
        [*words, "--json"],
    ):
        memory, _ = cost(tmp_path, *listing)
        assert memory < MOST_MB


def stored(database: Path) -> set[str]:
    try:
        with Store(database, "r") as store:
            return set(store.ids())
    except Exception:  # not made yet
        return set()
