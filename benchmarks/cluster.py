"""What a run costs beside itself on a cluster, and what a second worker brings.

    .venv/bin/python -m benchmarks.cluster [RUNS]

The same runs are made here, one at a time, and on Dask's scheduler with one and with two workers on
this machine, each a process of its own, over TCP. The overhead a run is the difference of the
processor time of all processes between one worker and ours here, over the runs: what else the
machine does hardly shows in it. The speed-up is one of wall time and needs a quiet machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

from ccperf import campaign
from ccperf.campaign import Point
from ccperf.campaign.on_dask import Cluster
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.store import Store

NATIVE = backends.get("native")


def points(runs: int, stop_time: str) -> list[Point]:
    """So many different runs."""
    settings = {"rtts": "15ms", "qlen": "20p", "cc": "TcpCubic", "stop_time": stop_time}
    rates = (16_000_000 + i for i in range(runs))
    return [Point(dumbbell(rate=f"{rate}bps", **settings)) for rate in rates]


def processor_seconds() -> float:
    """Of this process and of all below it, so far."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return sum(time.user + time.system for time in times)


def seconds(wanted: list[Point], cluster: Cluster | None) -> tuple[float, float]:
    """Wall and processor time of a campaign, plan and storing included: medians of three."""
    walls, used = zip(*(once(wanted, cluster) for _ in range(3)), strict=True)
    return median(walls), median(used)


def once(wanted: list[Point], cluster: Cluster | None) -> tuple[float, float]:
    """Wall and processor time of one campaign."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.db", "a") as store:
        executor = cluster.executor if cluster else None
        started, used = time.perf_counter(), processor_seconds()
        report = campaign.run(wanted, store, NATIVE, jobs=1, executor=executor)
        assert report.ok, report.failures
        return time.perf_counter() - started, processor_seconds() - used


def main() -> None:
    """Print a table."""
    warm_up = points(40, "1s")  # a worker's first run imports what it needs
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for stop_time in ("1s", "15s"):
        wanted = points(runs if stop_time == "1s" else runs // 4, stop_time)
        _, here = seconds(wanted, None)
        with Cluster("dask", NATIVE, 1) as cluster:
            once(warm_up, cluster)
            wall, one = seconds(wanted, cluster)
        with Cluster("dask", NATIVE, 2) as cluster:
            once(warm_up, cluster)
            wall_of_two, _ = seconds(wanted, cluster)
        per_run = [1e3 * each / len(wanted) for each in (here, one, one - here)]
        print(
            f"{len(wanted)} runs of {stop_time}, processor time a run: here {per_run[0]:.1f} ms, "
            f"one worker {per_run[1]:.1f} ms, so overhead {per_run[2]:.1f} ms; wall: two workers "
            f"{wall / wall_of_two:.2f} times as fast as one"
        )


if __name__ == "__main__":
    main()
