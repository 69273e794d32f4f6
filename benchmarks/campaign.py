"""How long the whole catalogue takes for all congestion controls, and would take on ns-3.

    .venv/bin/python -m benchmarks.campaign

Ours is timed: ``ccperf bench`` of every congestion control on all cores, metrics and databases
included, and then its figures and site. ns-3 runs a random sample, with the recording that
``--backend ns3`` makes, as many runs at a time as there are cores; its time for a run of an
experiment is taken as proportional to the run's packet-hops, which are the same on both and known
of every run.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.scenario import Scenario

SEED = 1


def hops(scenario: Scenario) -> int:
    """Packets over links, of all links."""
    tables = _native.Simulation(scenario.lowered()).finish()
    return int(np.sum(np.asarray(tables["links"]["tx_packets"])))


def scenarios(experiment: catalogue.Experiment) -> Iterator[Scenario]:
    """Every point of an experiment with every congestion control."""
    for cc in registry.algorithms("cc"):
        for point in experiment.grid():
            yield experiment.scenario(cc, **point)


def ours(ccs: list[str]) -> tuple[float, float]:
    """Wall time of ``ccperf bench`` in seconds: the runs, then figures and site."""
    command = [str(Path(sys.executable).with_name("ccperf")), "bench", ",".join(ccs)]
    with tempfile.TemporaryDirectory() as folder:
        times = [time.perf_counter()]
        for options in (["--no-site"], []):  # the second makes only what is missing
            subprocess.run([*command, *options], check=True, cwd=folder, capture_output=True)
            times.append(time.perf_counter())
    return times[1] - times[0], times[2] - times[1]


def seconds_on_ns3(scenario: Scenario) -> float:
    """Wall time of one run, while others run beside it."""
    start = time.perf_counter()
    backends.get("ns3").simulate(scenario)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=8, help="runs on ns-3 of each experiment")
    sample = parser.parse_args().sample
    cores = len(os.sched_getaffinity(0))
    ccs = list(registry.algorithms("cc"))
    draw = random.Random(SEED)
    backends.get("ns3").prepare(catalogue.get("ecn").scenario(ccs[0]))
    count, total = 0, 0.0
    for experiment in catalogue.REGISTRY.values():
        runs = list(scenarios(experiment))
        with ProcessPoolExecutor(cores) as pool:
            work = list(pool.map(hops, runs))
        chosen = draw.sample(range(len(runs)), min(sample, len(runs)))
        with ThreadPoolExecutor(cores) as pool:
            taken = sum(pool.map(seconds_on_ns3, [runs[i] for i in chosen]))
        pace = sum(work[i] for i in chosen) / taken
        seconds = sum(work) / pace / cores
        print(
            f"{experiment.name:16} {len(runs):4} runs {sum(work):14,} packet-hops; ns-3, from"
            f" {len(chosen)} runs: {pace:9,.0f} hops/s, {seconds / 60:6.1f} min on {cores} cores",
            flush=True,
        )
        count, total = count + len(runs), total + seconds
    runs_s, site_s = ours(ccs)
    print(
        f"{len(ccs)} congestion controls, {count} runs: ccperf bench {runs_s:.0f} s, figures and"
        f" site {site_s:.0f} s; the runs on ns-3, extrapolated, {total / 60:.0f} min,"
        f" {total / runs_s:.0f} times as long"
    )


if __name__ == "__main__":
    main()
