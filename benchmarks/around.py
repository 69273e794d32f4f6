"""What a campaign costs beside its simulations: ``python -m benchmarks.around [--record]``.

Planning, all points of the catalogue for four algorithms and ten seeds, and 100,000 seeds of one;
5,000 runs that are all stored; and of a short run what is not the engine's: its identity, lowering,
metrics and packing. CPU time with all that is started, and the most memory of a process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import figures
from benchmarks.four import ALGORITHMS
from ccperf import _native, campaign
from ccperf.algorithms.user_code.content import Contents
from ccperf.campaign.job import Job
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.recording import Recording
from ccperf.runs.result import provenance
from ccperf.scenario.canonical import Canonical
from ccperf.store.packing import packed

SHORT = "run aqm --cc cubic --k 1 --qdisc codel --jitter 10ms --stop-time 200ms --db short.db"
#: Says what a command took: a child's most memory begins with what its parent holds.
_PROGRAM = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], check=True, capture_output=True);"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
)
REPEATS, RUNS = 5, 40


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.around", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write figures.json")
    record = parser.parse_args().record
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = least(f"bench {ALGORITHMS} --seed 1..10 --dry-run", folder)
        long_plan = least(f"{SHORT} --seed 1..100000 --dry-run", folder)
        cost(f"{SHORT} --seed 1..5000", folder)
        again = least(f"{SHORT} --seed 1..5000", folder)
    beside = 1e3 * seconds_beside_the_engine()
    values = {
        "plan_s": round(plan[0], 2),
        "long_plan_s": round(long_plan[0], 2),
        "long_plan_mb": round(long_plan[1]),
        "again_s": round(again[0], 2),
        "again_mb": round(again[1]),
        "beside_ms": round(beside, 2),
    }
    print("\n".join(f"{name}: {value}" for name, value in values.items()))
    if record:
        figures.record("around", f"CPU time, least of {REPEATS}", values)


def cost(words: str, folder: Path) -> tuple[float, float]:
    """Seconds of CPU and MB that a command of ccperf takes."""
    ccperf = [sys.executable, "-m", "ccperf", *words.split()]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *ccperf], cwd=folder, check=True, capture_output=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def least(words: str, folder: Path) -> tuple[float, float]:
    return min(cost(words, folder) for _ in range(REPEATS))


def seconds_beside_the_engine() -> float:
    """What a run of one flow and a second takes without its simulation, as campaigns make it."""
    backend, contents = backends.get("native"), Contents()
    point = {"k": 1, "qdisc": "CoDelQueueDisc", "stop_time": "1s", "jitter": "10ms"}
    (repeated,) = campaign.repeats(
        catalogue.get("aqm"), "TcpNewReno", grid=[point], seeds=range(1, RUNS + 1)
    )
    best = float("inf")
    for _ in range(REPEATS):
        started, simulated = time.process_time(), 0.0
        for one in repeated.points():
            identity = one.identity(backend, contents)
            job = Job.of(one, identity, backend)
            scenario = Canonical(job.scenario, job.scenario_hash)
            lowered = scenario.lowered()
            before = time.process_time()
            tables = _native.Simulation(lowered).finish()
            simulated += time.process_time() - before
            recording = Recording(tables)
            packed(
                job.id,
                scenario,
                recording,
                compute(scenario, recording),
                provenance(scenario, backend, identity),
                parameters=job.parameters,
                text=job.scenario,
            )
        best = min(best, time.process_time() - started - simulated)
    return best / RUNS


if __name__ == "__main__":
    main()
