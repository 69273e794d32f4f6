"""A campaign of 100,000 short runs: made, killed, resumed, repeated and shown, in how much memory?

The campaign is killed by SIGKILL when a third and two thirds of it are stored. Then it is made to
its end, asked for again, and listed. For each command: seconds, CPU seconds, and the largest memory
at once of the process and of all that it started.

    .venv/bin/python tools/large.py --runs 100000 --most 400
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: A run that takes some five milliseconds, and draws by its seed.
CAMPAIGN = [
    *("run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel", "--jitter", "10ms"),
    *("--stop-time", "200ms"),
]
LOOK_S = 0.1


def memory(process: int) -> int:
    """Resident bytes of a process and its descendants; shared pages count once for each of them."""
    try:
        status = Path(f"/proc/{process}/statm").read_text().split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    own = int(status[1]) * os.sysconf("SC_PAGE_SIZE")
    return own + sum(memory(int(child)) for child in children)


def stored(database: Path) -> int:
    """How many runs are there."""
    try:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)
        try:
            return int(connection.execute("SELECT count(*) FROM run").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return 0


def watch(words: list[str], database: Path, until: int | None = None) -> tuple[float, float, int]:
    """Run a command, or kill it when so many runs are stored: seconds, CPU seconds, most bytes."""
    started, most, looks = time.monotonic(), 0, 0
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    while True:
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
        if found:
            break
        most = max(most, memory(process.pid))
        looks += 1
        if until is not None and looks % 20 == 0 and stored(database) >= until:
            process.send_signal(signal.SIGKILL)
            until = None
            continue
        time.sleep(LOOK_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -signal.SIGKILL):
        raise AssertionError(f"`ccperf {' '.join(words)}` ended with {process.returncode}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=float, help="MB that no command may exceed")
    asked = parser.parse_args()
    over = False
    with tempfile.TemporaryDirectory(prefix="ccperf-large-") as folder:
        database = Path(folder) / "large.db"
        make = [*CAMPAIGN, "--seed", f"1..{asked.runs}", "--db", str(database)]
        make += ["--jobs", str(asked.jobs)]
        shown = ["--db", str(database)]
        for what, words, until in (
            ("made, killed at a third", make, asked.runs // 3),
            ("resumed, killed at two thirds", make, asked.runs * 2 // 3),
            ("resumed to its end", make, None),
            ("repeated", make, None),
            ("repeated, --json", [*make, "--json"], None),
            ("runs", ["runs", *shown], None),
            ("runs, --json", ["runs", "--json", *shown], None),
            ("doctor", ["doctor", *shown], None),
        ):
            seconds, cpu, most = watch(words, database, until)
            over |= asked.most is not None and most > asked.most * 1e6
            print(
                f"{what}: {seconds:.1f} s, {cpu:.1f} s of CPU, {most / 1e6:.0f} MB,"
                f" {stored(database)} runs, {database.stat().st_size / 1e6:.0f} MB on disk",
                flush=True,
            )
        if stored(database) != asked.runs:
            print("runs are missing")
            return 1
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
