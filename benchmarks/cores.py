"""What the second core brings to a campaign: measured against two processes that share nothing.

    .venv/bin/python -m benchmarks.cores [ROUNDS]

The same runs are made by one campaign on two cores, and by two processes with half of them each, on
one core each, into databases of their own; both several times in turn, and medians are compared.
Planning counts, in the one campaign as in each of the two processes, which start the clock when
Python is there.
Wall times need two cores that nobody else uses. Processor times, of all processes, hardly feel
others: as long as no core idles, they say the same. The target is 95 %.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ccperf import campaign
from ccperf.campaign import Point
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.store import Store

NATIVE = backends.get("native")
EXPERIMENTS = ("aqm", "ecn", "competition", "loss_resilience", "random_walk")
SEEDS = range(1, 21)


def points(half: int | None = None) -> list[Point]:
    """All runs, or every other one."""
    every = [
        point
        for name in EXPERIMENTS
        for point in campaign.expand(catalogue.get(name), "TcpCubic", seeds=SEEDS)
    ]
    return every if half is None else every[half::2]


def processor_seconds() -> float:
    """Of this process and of all that have ended below it."""
    own, below = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime


def store_all(half: int | None, jobs: int) -> tuple[float, float]:
    """Plan and make runs into a database that is thrown away; wall and processor time in s."""
    used = processor_seconds()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.db", "a") as store:
        started = time.perf_counter()
        report = campaign.run(points(half), store, NATIVE, jobs=jobs)
        assert report.ok, report.failures
        return time.perf_counter() - started, processor_seconds() - used


def apart() -> tuple[float, float]:
    """The same in two processes: the wall time of the slower one, once both are there."""
    command = [sys.executable, "-m", "benchmarks.cores", "--half"]
    processes = [
        subprocess.Popen([*command, str(half)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for half in range(2)
    ]
    for process in processes:
        assert process.stdout
        process.stdout.readline()  # it is there
    for process in processes:
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.flush()
    times = [tuple(map(float, process.communicate()[0].split())) for process in processes]
    return max(wall for wall, _ in times), sum(used for _, used in times)


def main() -> None:
    """Print the medians, or be one of the two processes."""
    if "--half" in sys.argv:
        print("ready", flush=True)
        sys.stdin.readline()
        print(*store_all(int(sys.argv[-1]), jobs=1), flush=True)
        return
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    together, separate = [], []
    for _ in range(rounds):
        together.append(store_all(None, jobs=2))
        separate.append(apart())
    print(f"{len(points())} runs, medians of {rounds}")
    for what, i in (("wall time", 0), ("processor time", 1)):
        one, two = (statistics.median(times[i] for times in each) for each in (together, separate))
        print(
            f"{what}: one campaign on two cores {one:.2f} s, two processes apart {two:.2f} s, "
            f"{100 * two / one:.1f} % of what they reach"
        )


if __name__ == "__main__":
    main()
