"""What threads bring that share one run: ``python -m benchmarks.threads [ROUNDS]``.

Fat trees of 128 and of 1,024 hosts, web search over DCTCP, on one thread and on 2, 4, ... up to the
cores of this machine, in turns.  Seconds are of the clock, the least of all rounds, so the machine
should be idle; those of the processor say what sharing costs. Each run must have the tables of one
thread, and transfers that are acknowledged. ``--record`` writes `figures.json`.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np

from benchmarks import figures
from benchmarks.scenarios import web_search
from ccperf import _native
from ccperf.scenario import Scenario

Tables = dict[str, Any]

#: Ports of a switch, and simulated time.
TREES = {"128 hosts": (8, "40ms"), "1,024 hosts": (16, "20ms")}


def made(scenario: Scenario, threads: int) -> tuple[float, float, Tables]:
    """Seconds of the clock and of processors, and the tables."""
    lowered = scenario.lowered()
    began, used = time.perf_counter(), time.process_time()
    found: Tables | str
    if threads == 1:
        found = _native.Simulation(lowered, None).finish()
    else:
        found = _native.run_in_parts(lowered, threads, lambda _: None)
    took = time.perf_counter() - began, time.process_time() - used
    assert not isinstance(found, str), found
    assert np.count_nonzero(found["completions"]["finished"]) > 100
    return *took, found


def text(tables: Tables) -> str:
    """Tables as one text, in which NaN is equal to itself."""
    with np.printoptions(threshold=10**9, floatmode="unique"):
        return repr(sorted((name, sorted(table.items())) for name, table in tables.items()))


def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """By tree and number of threads: seconds, and how many times as fast as one thread."""
    cores = len(os.sched_getaffinity(0))
    counts = [1, *(2**i for i in range(1, 8) if 2**i <= cores)]
    values = {}
    for tree, (k, stop_time) in TREES.items():
        scenario = web_search(k, stop_time)
        all_took: dict[int, list[tuple[float, float]]] = {count: [] for count in counts}
        expected = ""
        for _ in range(rounds):
            for count in counts:
                wall, cpu, tables = made(scenario, count)
                expected = expected or text(tables)
                assert text(tables) == expected, f"{count} threads make other tables"
                all_took[count].append((wall, cpu))
        least = {
            count: [min(each) for each in zip(*took, strict=True)]
            for count, took in all_took.items()
        }
        values[tree] = {
            str(count): {
                "wall_s": round(wall, 3),
                "cpu_s": round(cpu, 3),
                "times": round(least[1][0] / wall, 2),
            }
            for count, (wall, cpu) in least.items()
        }
    return values


def main() -> None:
    """Print a line for each, and record it if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    values = measure(options.rounds)
    for tree, rows in values.items():
        for threads, row in rows.items():
            print(f"{tree}, {threads} threads: {row}")
    if options.record:
        figures.record("threads", f"by the clock, least of {options.rounds}", values)


if __name__ == "__main__":
    main()
